"""The process that `Processes` starts: pieces come by its standard input, results leave by its output."""

import os
import sys
import threading
import time
from contextlib import suppress
from signal import SIGTERM
from typing import IO

import torch

from lqm.executors.executor import Do, opened, sentence_of
from lqm.executors.frames import read_frame, write_frame
from lqm.utils.cache import Packed
from lqm.utils.errors import StoppedError


def serve(pieces: IO[bytes], answers: IO[bytes]) -> None:
    """Do pieces until none comes any more."""
    first = read_frame(pieces)
    if first is None:
        return
    head, _ = first
    torch.set_num_threads(head["threads"])
    do: Do | None = None
    while message := read_frame(pieces):
        given, tensors = message
        try:
            do = do or opened(head["opener"], head["context"], None)
            for result in do(Packed(tensors, given["given"])):
                write_frame(answers, {"result": result.notes}, result.tensors)
        except StoppedError as error:
            write_frame(answers, {"stopped": str(error)})
            return
        except Exception as error:  # the process that asked reports it, and the other pieces go on
            write_frame(answers, {"failed": sentence_of(error)})
            continue
        write_frame(answers, {"done": True})


def _end_with(parent: int) -> None:
    """Save and stop when the process that asks is no longer there."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os.kill(os.getpid(), SIGTERM)


if __name__ == "__main__":
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing but answers goes to the standard output
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    with suppress(KeyboardInterrupt):
        serve(sys.stdin.buffer, own)

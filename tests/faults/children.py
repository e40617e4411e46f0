"""Processes to kill, each forked from a server that has imported torch and lqm once."""

import hashlib
import os
import signal
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from multiprocessing import get_context
from pathlib import Path

# What every child would import anew.
import torch._dynamo
import torch._inductor.compile_fx
import torch.utils.tensorboard

import lqm

COMMANDS = (lqm.condense, lqm.continual)

SERVER = get_context("forkserver")
SERVER.set_forkserver_preload([__name__])

KILLED = -signal.SIGKILL


@dataclass(frozen=True)
class Death:
    """SIGKILL at the n-th call of some functions of `os`: just before it does anything, or just after.

    Only renames to a path with `where` in it count, when that is given.
    """

    functions: tuple[str, ...]
    number: int
    after: bool = False
    where: str = ""

    def arm(self):
        count = 0

        def deadly(function):
            def call(*args):
                nonlocal count
                count += not self.where or self.where in str(args[1])
                if count == self.number and not self.after:
                    os.kill(os.getpid(), signal.SIGKILL)
                function(*args)
                if count == self.number:
                    os.kill(os.getpid(), signal.SIGKILL)

            return call

        for name in self.functions:
            setattr(os, name, deadly(getattr(os, name)))


def command_line(*words):
    """The `lqm` command, as the package installs it."""
    sys.argv = ["lqm", *words]
    (command,) = entry_points(group="console_scripts", name="lqm")
    command.load()()


def start(folder, function, *args, death=None, **options):
    """Call a function, which the child imports by its name; what it prints goes to `folder`/messages."""
    child = SERVER.Process(target=_live, args=(Path(folder), death, function, args, options), daemon=True)
    child.start()
    return child


def run_to_death(folder, death, function, *args, **options):
    """The same, until it dies as it was told."""
    child = start(folder, function, *args, death=death, **options)
    child.join(120)
    assert child.exitcode == KILLED, (Path(folder) / "messages").read_text()


def _live(folder, death, function, args, options):
    with (folder / "messages").open("w") as messages:
        os.dup2(messages.fileno(), 2)
    os.environ["LQM_CACHE"] = str(folder / "cache")
    torch.set_num_threads(1)
    if death:
        death.arm()
    function(*args, **options)


def digests(folder, pattern="data-*.safetensors"):
    """The SHA-256 of the tensors of each set in a folder."""
    paths = sorted(Path(folder).glob(pattern))
    assert paths
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]

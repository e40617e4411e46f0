"""From what went wrong to one sentence and an exit code."""

import errno
import os
import signal
import sys
from typing import NoReturn

from lqm.cli.signals import Stopped
from lqm.utils.errors import LqmError, StoppedError
from lqm.utils.log import write_line
from lqm.utils.memory import is_out_of_memory
from lqm.utils.stop_requests import what_is_kept
from lqm.utils.streams import settle_output

_NOT_WRITTEN = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EBADF)
_NO_MEMORY = (
    "there is not enough memory for this command; close other programs, or try a smaller source, network, "
    "real_batch, per_class or budget"
)


def fail(error: BaseException) -> NoReturn:
    """Print a sentence and leave; what is a fault of ours goes on its way."""
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(141)
    if isinstance(error, StoppedError):
        _leave(error, 128 + error.signal_number)
    if isinstance(error, LqmError):
        _leave(error, 1)
    if isinstance(error, Stopped):
        _leave(f"stopped by {signal.Signals(error.number).name}{what_is_kept()}", 128 + error.number)
    if isinstance(error, KeyboardInterrupt):
        _leave(f"stopped{what_is_kept()}", 130)
    if is_out_of_memory(error):
        _leave(_NO_MEMORY, 1)
    if isinstance(error, OSError):
        lost = f"the output can't be written ({error.strerror}); what was finished is kept"
        # An output without a buffer has dropped what it could not write, and takes the rest.
        dropped = error.filename is None and error.errno in _NOT_WRITTEN
        _leave(error if settle_output() and not dropped else lost, 1)
    raise error


def _leave(sentence: object, code: int) -> NoReturn:
    write_line(f"lqm: {sentence}", sys.stderr)
    sys.exit(code)

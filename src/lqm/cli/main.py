"""From what the user typed to a command, and from what went wrong to one sentence."""

import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import tyro

from lqm import __version__
from lqm.cli import COMMANDS
from lqm.utils.allocator import tune_allocator
from lqm.utils.errors import LqmError, StoppedError
from lqm.utils.names import choose, printable
from lqm.utils.streams import settle_output, steady_streams


def main() -> None:
    """Entry point: a mistake of the user's ends in one sentence and a non-zero exit, never in a traceback."""
    # Threads that wait for each other in a long busy loop starve when the machine has other work: beside two
    # other processes a step of DM took 9 times as long. GNU OpenMP reads this when torch is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    tune_allocator()
    steady_streams()
    try:
        _dispatch(sys.argv[1:])
        sys.stdout.flush()
    except StoppedError as error:
        _fail(error, 128 + error.signal_number)
    except LqmError as error:
        _fail(error, 1)
    except KeyboardInterrupt:
        _fail("stopped; what was finished is kept, and the same command goes on from there", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        lost = f"the output can't be written ({error.strerror}); what was finished is kept"
        _fail(error if settle_output() else lost, 1)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        _fail("there is not enough memory; try a smaller network, real_batch, per_class or budget", 1)


def _dispatch(words: list[str]) -> None:
    if words == ["--version"]:
        print(f"lqm {__version__}")
        return
    if words and not words[0].startswith("-"):
        choose(words[0], COMMANDS, "command")
    alone = not words or words[0].startswith("-")
    parsed = tyro.extras.subcommand_cli_from_dict(
        {name: _in_one_line(command) if alone else command for name, command in COMMANDS.items()},
        prog="lqm",
        description="Make a small dataset stand in for a large one.\n\nExample: lqm demo",
        args=words or ["--help"],
    )
    if parsed is not None:
        parsed()


def _in_one_line(command: Callable[..., Any]) -> Callable[..., None]:
    """A command for the list of all, which has a line for each."""

    def listed() -> None: ...

    listed.__doc__ = (command.__doc__ or "").partition("\n")[0]
    return listed


def _fail(message: object, code: int) -> NoReturn:
    print(f"lqm: {printable(str(message))}", file=sys.stderr)
    sys.exit(code)

"""From what the user typed to a command."""

import contextlib
import io
from collections.abc import Callable
from typing import Any

import tyro

from lqm import __version__
from lqm.cli.commands import COMMANDS
from lqm.cli.config import with_config
from lqm.utils.allocator import tune_allocator
from lqm.utils.errors import ConfigError
from lqm.utils.log import say
from lqm.utils.names import choose
from lqm.utils.terminal import visible

_DESCRIPTION = f"""lqm {__version__}: make a small dataset stand in for a large one.

Example: lqm demo

`lqm help COMMAND` shows the options of a command, `lqm --version` the version alone."""


def dispatch(words: list[str]) -> None:
    """Run the command that the words name."""
    tune_allocator()
    if words == ["--version"]:
        say(f"lqm {__version__}")
        return
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    if words and not words[0].startswith("-"):
        choose(words[0], COMMANDS, "command")
        words = with_config(words, COMMANDS[words[0]])
    shown = [visible(word) for word in words]
    command = _parse(words) if shown == words else _parse_unshown(words, shown)
    if command is not None:
        command()


def _parse(words: list[str]) -> Any:
    if words and (command := COMMANDS.get(words[0])):
        return tyro.cli(command, prog=f"lqm {words[0]}", args=words[1:])
    # A completion script knows the options of all commands, and help has a line for each command.
    whole = words[:1] == ["--tyro-print-completion"]
    return tyro.extras.subcommand_cli_from_dict(
        {name: command if whole else _in_one_line(command) for name, command in COMMANDS.items()},
        prog="lqm",
        description=_DESCRIPTION,
        args=words or ["--help"],
    )


def _parse_unshown(words: list[str], shown: list[str]) -> Any:
    """The same for words that no terminal may be given: what is wrong with them is told of their escapes."""
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return _parse(words)
    except SystemExit as stop:
        if not stop.code:
            raise
    _parse(shown)
    raise ConfigError(f"{' '.join(shown)} can't be used; leave out what is not a printable character")


def _in_one_line(command: Callable[..., Any]) -> Callable[..., None]:
    """A command for the list of all, which has a line for each."""

    def listed() -> None: ...

    listed.__doc__ = (command.__doc__ or "").partition("\n")[0]
    return listed

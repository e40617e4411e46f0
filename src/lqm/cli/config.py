"""`--config FILE`: options of a command out of a TOML file, or of the record of a run."""

import inspect
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from lqm.utils.errors import ConfigError
from lqm.utils.names import choose, shown_value
from lqm.utils.sentences import reason

_OPTION = "--config"
# Settings of the method may be a table of their own.
_TABLES = ("set", "settings")


def with_config(words: list[str], command: Callable[..., Any]) -> list[str]:
    """The words of a command, with the options of its `--config FILE` before them, so that words win.

    Raises:
        ConfigError: when the file can't be read, is of another command, or has a key that is no option.
    """
    name, *rest = words
    options = _Options.of(command)
    path, rest = _taken_out(rest)
    if path is None:
        return words
    if _OPTION[2:] not in options.known:
        raise ConfigError(f"`lqm {name}` takes no {_OPTION}; leave it out")
    given = options.given(rest)
    content = _read(Path(path).expanduser(), name, given)
    place = options.positional
    own = content.pop(place, None)
    positional = [str(own)] if own is not None and place not in given else []
    earlier = [word for key, value in content.items() for word in options.words(key, value, name)]
    return [name, *positional, *earlier, *rest]


def _taken_out(words: list[str]) -> tuple[str | None, list[str]]:
    """The file that the words name, and the other words."""
    for place, word in enumerate(words):
        if word == _OPTION and place + 1 < len(words):
            return words[place + 1], words[:place] + words[place + 2 :]
        if word.startswith(f"{_OPTION}="):
            return word.partition("=")[2], words[:place] + words[place + 1 :]
    return None, words


@dataclass(frozen=True)
class _Options:
    """What a command may be given.

    Attributes:
        positional: the name of what stands without an option before it.
        known: the options by name, and whether each is a flag.
        several: the options that are repeated to give several values.
    """

    positional: str
    known: Mapping[str, bool]
    several: tuple[str, ...]

    @classmethod
    def of(cls, command: Callable[..., Any]) -> "_Options":
        """Those of a function, or of the fields of a dataclass; those of its `output` are its own."""
        hints = get_type_hints(command.__init__ if inspect.isclass(command) else command, include_extras=True)
        names = [name for name in inspect.signature(command).parameters if name in hints]
        if "output" in names:
            hints |= get_type_hints(get_args(hints["output"])[0], include_extras=True)
            names = [
                *(name for name in names if name != "output"),
                *get_type_hints(get_args(hints["output"])[0]),
            ]
        positional = next((name for name in names if "Positional" in str(hints[name])), "")
        hidden = [name for name in names if "Suppress" in str(hints[name])]
        known = {
            name.rstrip("_"): _plain(hints[name]) is bool
            for name in names
            if name not in (positional, *hidden)
        }
        several = tuple(name.rstrip("_") for name in names if "UseAppendAction" in str(hints[name]))
        return cls(positional, known, several)

    def given(self, words: list[str]) -> set[str]:
        """The names of the options among words, and of what stands without one."""
        found, awaited = set(), False
        for word in words:
            if word.startswith("--"):
                key = word[2:].partition("=")[0].replace("-", "_")
                awaited = "=" not in word and not self.known.get(key, False)
                found.add(key)
            elif awaited:
                awaited = False
            else:
                found.add(self.positional)
        return found

    def words(self, key: str, value: object, command: str) -> Iterator[str]:
        """The words that say the same as a key of a file."""
        name = key.replace("-", "_")
        if name in _TABLES and isinstance(value, Mapping):
            for setting, each in value.items():
                yield from ("--set", f"{setting}={_text(each)}")
            return
        known = {each: flag for each, flag in self.known.items() if each != _OPTION[2:]}
        flag = choose(name, known, f"option of lqm {command}")
        option = f"--{name.replace('_', '-')}"
        if flag:
            if not isinstance(value, bool):
                raise ConfigError(f"{key} = {shown_value(value)} can't be used: it should be true or false")
            yield from [option] if value else []
        elif name in self.several:
            for each in value if isinstance(value, list) else [value]:
                yield from (option, _text(each))
        else:
            yield from (option, _text(value))


def _plain(hint: Any) -> Any:
    """A type without what is noted about it."""
    while hasattr(hint, "__metadata__"):
        hint = hint.__origin__
    return hint


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(_text, value)) if isinstance(value, list) else str(value)


def _read(path: Path, command: str, given: set[str]) -> dict[str, Any]:
    """The options in a file."""
    try:
        if path.suffix == ".json":
            from lqm.cli.recorded_options import recorded_options

            return recorded_options(path, command, given)
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"{path} can't be read ({error.strerror}); name a TOML file or a run.json"
        ) from None
    except ValueError as error:
        raise ConfigError(f"{path} is no TOML file: {reason(error)}") from None

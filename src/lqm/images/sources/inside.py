"""What lies in a folder that came from someone else.

A link that leads out of the folder, a pipe, a socket or a device is left out, counted and said, and never
opened. A link that stays inside is followed, but not a link to a folder below a class folder: it may lead to
itself. The path that the user typed may be a link.
"""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

from lqm.utils.errors import ConfigError
from lqm.utils.log import warn
from lqm.utils.sentences import counted, reason
from lqm.utils.staying import stays
from lqm.utils.terminal import shown

_SHOWN = 3


class Inside:
    """The regular files and the folders below `root`; at the end of a `with` it warns of what it left out."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real = os.path.realpath(root)
        self._left_out: dict[Path, None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._left_out:
            many = counted(len(self._left_out), "entry was", "entries were")
            first = names_shown([*self._left_out], self.root)
            warn(
                f"{many} left out of {self.root}, since these are no regular files or are links that lead "
                f"out of it: {first}; copy what they lead to into the folder if it belongs there"
            )

    def files(self, folder: Path) -> list[Path]:
        """The regular files in a folder, by name; hidden ones are passed over."""
        return self._listed(folder)[0]

    def folders(self, folder: Path) -> list[Path]:
        """The folders in a folder, by name; hidden ones are passed over."""
        return self._listed(folder)[1]

    def has_folder(self, path: Path) -> bool:
        """Whether there is such a folder, wherever below `root`."""
        return self._may_be_used(path) and path.is_dir()

    def has_file(self, path: Path) -> bool:
        """Whether there is such a regular file, wherever below `root`."""
        return self._may_be_used(path) and path.is_file()

    def below(self, folder: Path) -> list[Path]:
        """The regular files in a folder and in those below it, by name."""
        found: list[Path] = []
        waiting = [folder]
        while waiting:
            files, folders = self._listed(waiting.pop())
            found += files
            for each in folders:
                if each.is_symlink():
                    self._left_out[each] = None
                else:
                    waiting.append(each)
        return sorted(found)

    def _listed(self, folder: Path) -> tuple[list[Path], list[Path]]:
        files, folders = [], []
        with os.scandir(folder) as entries:
            for entry in entries:
                path = folder / entry.name
                if is_hidden(entry.name):
                    continue
                # A link that leads to itself makes the methods of an entry raise, and these of a path say no.
                kind = path if entry.is_symlink() else entry
                if kind is path and not self._stays(path):
                    self._left_out[path] = None
                elif kind.is_dir():
                    folders.append(path)
                elif kind.is_file():
                    files.append(path)
                else:
                    self._left_out[path] = None
        return sorted(files), sorted(folders)

    def _may_be_used(self, path: Path) -> bool:
        if not os.path.lexists(path):
            return False
        if self._stays(path) and (path.is_dir() or path.is_file()):
            return True
        self._left_out[path] = None
        return False

    def _stays(self, path: Path) -> bool:
        return stays(path, self._real)


def expanded(path: str | Path) -> Path:
    """A path that the user typed, with `~` put in, if there can be such a one."""
    try:
        whole = Path(path).expanduser()
        whole.resolve()
    except (RuntimeError, ValueError, TypeError) as error:
        raise ConfigError(f"'{shown(str(path))}' is no path that can be used ({reason(error)})") from error
    return whole


def is_hidden(name: str) -> bool:
    """Whether an entry of a folder is none of the data."""
    return name.startswith(".") or name == "__MACOSX"


def names_shown(paths: list[Path], root: Path) -> str:
    """The first few of these paths, as they are below `root`, and how many more there are."""
    names = [shown(str(path.relative_to(root))) for path in paths[:_SHOWN]]
    return ", ".join(names) + (f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else "")

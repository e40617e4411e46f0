"""Reading the files of our own: plain files of a bounded size, and JSON whose every field has its type.

A folder may come from a stranger, who can seal what he likes: what is read is checked before it is used.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from lqm.utils.errors import ArtifactError
from lqm.utils.files import read_whole
from lqm.utils.limits import require_memory
from lqm.utils.sentences import first_line
from lqm.utils.terminal import shown

# What a letter of JSON takes at most once it is parsed, as in `[{},{},...`.
_BYTES_A_LETTER = 32
# What is nested deeper than this, and a whole number beyond the range of float64, no version has written.
_DEEPEST, _LARGEST = 50, 10**300


def read_plain_file(
    path: Path, remedy: str, *, follow: bool = True, copies: int = 1, first: int | None = None
) -> bytes:
    """The content of a file, unless it is something else (a pipe, a device) or too large.

    Args:
        path: the file.
        remedy: what to do if it can't be read, for the sentence.
        follow: whether it may be a symbolic link.
        copies: see `read_whole`.
        first: see `read_whole`.

    Raises:
        FileNotFoundError: when there is none, or NotADirectoryError.
        ArtifactError: when it can't be read.
        DataError: when it is larger than the limit of memory.
    """
    if not follow and path.is_symlink():
        raise ArtifactError(f"{path} is a symbolic link and not a file of the folder; {remedy}")
    try:
        return read_whole(path, copies=copies, first=first)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArtifactError(f"{path} can't be read ({reason}); {remedy}") from error


def parse_json(content: bytes, path: Path, remedy: str) -> Any:
    """What a JSON file says; ArtifactError if it is none, or nested deeper than any version writes."""
    require_memory(_BYTES_A_LETTER * len(content), f"what {path} says")
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else first_line(error)
        raise ArtifactError(f"{path} is damaged: it can't be read as JSON ({reason}); {remedy}") from error
    level = [value]
    for _ in range(_DEEPEST):
        if any(isinstance(part, int) and abs(part) >= _LARGEST for part in level):
            raise ArtifactError(f"{path} has a number that no version of lqm writes; {remedy}")
        level = [
            part
            for whole in level
            if isinstance(whole, dict | list)
            for part in (whole.values() if isinstance(whole, dict) else whole)
        ]
        if not level:
            return value
    raise ArtifactError(f"{path} is nested too deeply, which no version of lqm writes; {remedy}")


def read_json(path: Path, remedy: str) -> Any:
    """The same, from the file; FileNotFoundError when there is none."""
    return parse_json(read_plain_file(path, remedy), path, remedy)


def require_fields(kind: TypeAdapter[Any], value: object, path: Path | str, remedy: str) -> None:
    """Refuse what is not of a type, by the name of the file and of the first field that is wrong."""
    try:
        kind.validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = shown(".".join(map(str, first["loc"])))
        field = f"its '{place}'" if place else "it"
        said = first["msg"].removeprefix("Value error, ")
        reason = said[0].lower() + said[1:]
        raise ArtifactError(
            f"{path} is damaged: {field} is not as lqm writes it ({reason}); {remedy}"
        ) from None

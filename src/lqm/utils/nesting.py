"""How deep and how large containers are that share their parts."""

from typing import Any

from lqm.utils.limits import require_memory

_DEEPEST = 32
_BYTES = 8


class NestedError(ValueError):
    """Containers that are nested too deeply, or hold themselves."""


def check_nesting(root: Any, what: str) -> None:
    """Refuse dictionaries, lists and tuples that are deep, endless, or too large to be looked through.

    A list that holds one other list twice, which holds a third one twice, and so on, takes little memory but
    endless time. So each part counts as often as it is met.

    Args:
        root: any value.
        what: what it is and of which file, for the sentence about its size.

    Raises:
        NestedError: when there are more than 32 containers inside each other.
        DataError: when references to all parts take more than the limit of memory.
    """
    level = {id(root): (root, 1)}
    total = 0
    for _ in range(_DEEPEST):
        below: dict[int, tuple[Any, int]] = {}
        for value, times in level.values():
            parts = _parts(value)
            total += times * len(parts)
            for part in parts:
                if isinstance(part, dict | list | tuple):
                    below[id(part)] = part, times + below.get(id(part), (None, 0))[1]
        require_memory(_BYTES * total, what)
        if not below:
            return
        level = below
    raise NestedError(f"more than {_DEEPEST} lists are inside each other")


def _parts(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()

"""The scales of a study's file: which of them is meant, and what the grids of each share."""

from collections.abc import Mapping
from typing import Any

from lqm.utils.errors import ConfigError
from lqm.utils.names import shown_value

_WORDS = ("title", "compare", "against", "paper_scores")


def read_scale(
    name: str, content: Mapping[str, Any], scale: str | None
) -> tuple[str, list[Mapping[str, Any]]]:
    """The name of a scale, empty where the file has none, and its grids, each with what all of them share.

    Raises:
        ConfigError: when there is no such scale, or what should be a scale or a grid is none.
    """
    scale, part = _part(name, content, scale)
    grids, shared = part["grid"], part.get("shared", {})
    if not isinstance(grids, list) or not grids or not all(isinstance(grid, Mapping) for grid in grids):
        raise ConfigError(f"study {name}: grid is {shown_value(grids)}; it should be one or more [[grid]]")
    if not isinstance(shared, Mapping):
        raise ConfigError(
            f"study {name}: shared is {shown_value(shared)}; it should be a table of what its grids have"
        )
    return scale, [_joined(shared, grid) for grid in grids]


def _part(name: str, content: Mapping[str, Any], scale: str | None) -> tuple[str, Mapping[str, Any]]:
    """The part of a file that has the grids of a scale: all of it, if it knows no scales."""
    own = ("grid", "shared") if "grid" in content else ()
    scales = [key for key in content if key not in (*_WORDS, *own)]
    for key in scales:
        if not isinstance(content[key], Mapping) or {*content[key]} - {"shared"} != {"grid"}:
            raise ConfigError(
                f"study {name}: '{key}' is none of {', '.join(_WORDS)}, and no scale; "
                f"a scale holds [[{key}.grid]], and [{key}.shared] for what its grids have in common"
            )
    if own:
        if scale is not None or scales:
            raise ConfigError(f"study {name} has no scales; leave the scale out")
        return "", content
    if not scales:
        raise ConfigError(f"study {name} has no [[grid]]; see docs/studies.md for what a study holds")
    scale = scale or scales[0]
    if scale not in scales:
        raise ConfigError(f"study {name} has no scale '{scale}'; it has {', '.join(scales)}")
    return scale, content[scale]


def _joined(shared: Mapping[str, Any], grid: Mapping[str, Any]) -> dict[str, Any]:
    """A grid with what it shares with others, where its own values win, key by key in tables."""
    tables = {
        name: _joined(shared[name], grid[name])
        for name in shared
        if isinstance(shared[name], Mapping) and isinstance(grid.get(name), Mapping)
    }
    return {**shared, **grid, **tables}

"""T in S* = argmin D(phi(T), phi(S)), for graphs: a name, a path or an object becomes a graph to condense."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lqm.graphs.sources.digits import digits_knn
from lqm.graphs.sources.found import Clean, Reading, clean, finish
from lqm.graphs.sources.npz import holds_graph, read_npz
from lqm.graphs.sources.planetoid import find_planetoid, read_planetoid
from lqm.graphs.sources.pyg import from_pyg, is_pyg
from lqm.graphs.sources.reddit import find_reddit, read_reddit
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.sources.synthetic import is_synthetic, make_synthetic, read_options
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.names import choose

GRAPHS: dict[str, Callable[[str, Reading], Clean]] = {
    "digits-knn": lambda _, reading: clean(digits_knn(reading), reading),
    "synthetic": lambda words, reading: make_synthetic(read_options(words), reading),
}

__all__ = ["GRAPHS", "GraphSource", "from_pyg", "is_graph", "load_graph"]

_KINDS = "a .npz with edge_index and y, or a folder of Planetoid, Reddit or OGB"


def load_graph(
    source: Any,
    *,
    features: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    show_progress: bool = True,
) -> GraphSource:
    """The graph called by a name, or that a path leads to, or that an object is.

    Args:
        source: a name in `GRAPHS`, for `synthetic` with options such as `synthetic:nodes=1000,classes=5`; or
            the path of a `.npz` or of a folder as Planetoid, Reddit or OGB come in; or the name of one of
            these in `data_dir`; or a PyG `Data`; or a source.
        features: what to make the features of, for a graph without: degree, spectral or one-hot.
        split: `published` or `random` (60/20/20 of each class); the first where there is one, if not given.
        data_dir: the folder where such names are looked for; the environment variable LQM_DATA if not given.
        show_progress: whether to show how far reading is.

    Raises:
        ConfigError: when there is no such source, or an option can't be used.
        DataError: when what is there can't be used.
    """
    given = {name: value for name, value in (("features", features), ("split", split)) if value is not None}
    if isinstance(source, GraphSource):
        if given:
            raise ConfigError(f"'{source.name}' is a source already; leave {', '.join(given)} out")
        return source
    if is_pyg(source):
        return from_pyg(source, **given)
    if not isinstance(source, str | Path):
        raise ConfigError(
            f"a {type(source).__name__} is no graph; give a name, a path, a GraphSource or a PyG Data"
        )
    try:
        if name := _name(source):
            if data_dir is not None:
                raise ConfigError(f"'{name}' is made and not read; leave data_dir out (--data-dir)")
            origin, reading = {"source": str(source)}, Reading(name, features, split, show_progress)
            cleaned = GRAPHS[name](str(source), reading)
        else:
            path, origin = _existing(source, data_dir)
            reading = Reading(_title(path), features, split, show_progress)
            cleaned = _layout(path)(reading)
    except OSError as error:
        raise DataError(f"{error.filename or source} can't be read: {error.strerror or error}") from error
    return replace(finish(cleaned, reading), origin={**origin, **given})


def is_graph(source: object, data_dir: str | Path | None = None) -> bool:
    """Whether `load_graph` is the one to ask for this source; told by no more than the names of things.

    Raises:
        DataError: when it is a `.npz` that can't be opened, and so might be a graph or images.
    """
    if isinstance(source, GraphSource) or is_pyg(source):
        return True
    if not isinstance(source, str | Path):
        return False
    if _name(source):
        return True
    try:
        path = _named(source, data_dir) or _place(source)
        if path is None:
            return False
        return holds_graph(path) if path.is_file() and path.suffix == ".npz" else _known(path) is not None
    except OSError:
        return False


def _name(source: str | Path) -> str | None:
    """The entry of the table that words ask for."""
    if isinstance(source, Path):
        return None
    return "synthetic" if is_synthetic(source) else source if source in GRAPHS else None


def _title(path: Path) -> str:
    return path.stem.removeprefix("ind.") if path.is_file() else path.name


def _place(source: str | Path) -> Path | None:
    """Where a path leads, if there is anything."""
    path = Path(source).expanduser()
    return path.resolve() if str(source) and path.exists() else None


def _named(source: str | Path, data_dir: str | Path | None) -> Path | None:
    """What is called by a word in the folder of data.

    A folder that was given goes before what is called so in the working directory, so that an origin leads to
    the same graph from everywhere; the one of the environment goes after it.
    """
    folder = data_dir or os.environ.get("LQM_DATA")
    if not folder or not isinstance(source, str) or not source or Path(source).expanduser().name != source:
        return None
    if not data_dir and _place(source):
        return None
    root = Path(folder).expanduser()
    places = (place / name for place in (root, root / "graphs") for name in (f"{source}.npz", source))
    return next((place.resolve() for place in places if place.exists()), None)


def _existing(source: str | Path, data_dir: str | Path | None) -> tuple[Path, dict[str, str]]:
    """Where a source lies, and the words that lead there: a name stays one, for its folder may move."""
    if path := _named(source, data_dir):
        folder = {"data_dir": str(Path(data_dir).expanduser().resolve())} if data_dir else {}
        return path, {"source": str(source), **folder}
    path = _place(source)
    if path is None:
        if isinstance(source, Path):
            raise DataError(f"there is no {source}; it should be {_KINDS}")
        try:
            choose(source, GRAPHS, "graph")
        except ConfigError as error:
            raise ConfigError(f"{error}, or the path of {_KINDS}") from None
    assert path is not None
    if data_dir is not None:
        raise ConfigError(
            f"{path} is a place of its own; leave data_dir out (--data-dir), which is for names"
        )
    return path, {"source": str(path)}


def _layout(path: Path) -> Callable[[Reading], Clean]:
    """What reads the graph that lies at a path."""
    if path.is_file() and path.suffix == ".npz":
        return lambda reading: clean(read_npz(path), reading)
    layout = _known(path)
    if layout is None:
        raise DataError(f"{path} can't be read as a graph; it should be {_KINDS}")
    return layout


def _known(path: Path) -> Callable[[Reading], Clean] | None:
    """What reads a folder, or a file of Planetoid."""
    if graphs := find_planetoid(path):
        return lambda reading: clean(read_planetoid(graphs), reading)
    if folder := find_reddit(path):
        return lambda reading: clean(read_reddit(folder), reading)
    if (path / "raw" / "edge.csv.gz").is_file():
        from lqm.graphs.sources.ogb import read_ogb

        return lambda reading: read_ogb(path, reading)
    return None

"""T in S* = argmin D(phi(T), phi(S)), for graphs: a name, a path or an object becomes a graph to condense."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lqm.graphs.sources.cleaning import CleanGraph, ReadOptions, as_source, clean
from lqm.graphs.sources.digits import digits_knn
from lqm.graphs.sources.npz import holds_graph, read_npz
from lqm.graphs.sources.planetoid import find_planetoid, read_planetoid
from lqm.graphs.sources.pyg import from_pyg, is_pyg
from lqm.graphs.sources.reddit import find_reddit, read_reddit
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.sources.synthetic import make_synthetic, read_options
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.given import GivenData
from lqm.utils.names import choose

if TYPE_CHECKING:
    from torch_geometric.data import Data, Dataset

GRAPHS: dict[str, Callable[[str, ReadOptions], CleanGraph]] = {
    "digits-knn": lambda _, options: clean(digits_knn(options), options),
    "synthetic": lambda spec, options: make_synthetic(read_options(spec), options),
}

__all__ = ["GRAPHS", "GraphSource", "from_pyg", "is_graph", "load_graph"]

_KINDS = "a .npz with edge_index and y, or a folder of Planetoid, Reddit or OGB"


def load_graph(
    source: "str | Path | GraphSource | Data | Dataset | GivenData",
    *,
    features: str | None = None,
    split: str | None = None,
    normalise_features: bool = False,
    data_dir: str | Path | None = None,
    validation: bool = False,
    show_progress: bool = True,
) -> GraphSource:
    """The graph of a name, a path or an object.

    Args:
        source: a name in `GRAPHS`, for `synthetic` with options such as `synthetic:nodes=1000,classes=5`; or
            the path of a `.npz` or of a folder as Planetoid, Reddit or OGB come in; or the name of one of
            these in `data_dir`; or a PyG `Data`, or a dataset of one; or a source.
        features: how to make features for a graph without: degree, spectral or one-hot.
        split: `published` or `random` (60/20/20 of each class); the first where there is one, if not given.
        normalise_features: whether to divide the features of each node by the sum of their absolute values.
        data_dir: the folder where such names are looked for; the environment variable LQM_DATA if not given.
        validation: whether to put the validation nodes in place of the test nodes, so that settings can be
            chosen by them; see `GraphSource.for_validation`.
        show_progress: whether to show a progress bar.

    Raises:
        ConfigError: when there is no such source, or an option can't be used.
        DataError: when what is there can't be used.
    """
    asked = {"features": features, "split": split, "normalise_features": normalise_features}
    given: dict[str, Any] = {
        name: value for name, value in asked.items() if value is not None and value is not False
    }
    if isinstance(source, GraphSource):
        if given:
            raise ConfigError(f"'{source.name}' is a source already; leave {', '.join(given)} out")
        whole = source
    elif isinstance(source, GivenData):
        whole = from_pyg(source.records, class_names=source.class_names, **given)
    elif is_pyg(source):
        whole = from_pyg(source, **given)
    else:
        whole = _read(source, given, data_dir, show_progress)
    return whole.for_validation() if validation else whole


def _read(
    source: object, given: dict[str, Any], data_dir: str | Path | None, show_progress: bool
) -> GraphSource:
    if not isinstance(source, str | Path):
        raise ConfigError(
            f"a {type(source).__name__} is no graph; give a name, a path, a GraphSource or a PyG Data"
        )
    try:
        if name := _name(source):
            if data_dir is not None:
                raise ConfigError(f"'{name}' is made and not read; leave data_dir out (--data-dir)")
            origin, options = {"source": str(source)}, ReadOptions(name, show_progress=show_progress, **given)
            cleaned = GRAPHS[name](str(source), options)
        else:
            path, origin = _existing(source, data_dir)
            title = path.stem.removeprefix("ind.") if path.is_file() else path.resolve().name
            options = ReadOptions(title, show_progress=show_progress, **given)
            read = _reader(path)
            if read is None:
                raise DataError(f"{path} can't be read as a graph; it should be {_KINDS}")
            cleaned = read(options)
    except OSError as error:
        raise DataError(f"{error.filename or source} can't be read: {error.strerror or error}") from error
    return replace(as_source(cleaned, options), origin={**origin, **given})


def is_graph(source: object, data_dir: str | Path | None = None) -> bool:
    """Whether `load_graph` reads this source, by the names of files and arrays alone.

    Raises:
        DataError: when it is a `.npz` that can't be opened, and so might be a graph or images.
    """
    if not isinstance(source, str | Path):
        records = source.records if isinstance(source, GivenData) else source
        return isinstance(records, GraphSource) or is_pyg(records)
    if _name(source):
        return True
    try:
        path = _in_data_dir(source, data_dir) or _typed(source)
        if path is None:
            return False
        return holds_graph(path) if path.is_file() and path.suffix == ".npz" else _reader(path) is not None
    except OSError:
        return False


def _name(source: str | Path) -> str | None:
    """The key in `GRAPHS` of a source that is made and not read."""
    if isinstance(source, Path):
        return None
    return "synthetic" if source.startswith("synthetic:") else source if source in GRAPHS else None


def _typed(source: str | Path) -> Path | None:
    """The path as it was given, by which messages name it."""
    path = Path(source).expanduser()
    return path if str(source) and path.exists() else None


def _in_data_dir(source: str | Path, data_dir: str | Path | None) -> Path | None:
    """The file or folder of that name in the folder of data.

    A `data_dir` that was given takes precedence over the working directory, so that an origin leads to the
    same graph from everywhere; that of the environment does not.
    """
    folder = data_dir or os.environ.get("LQM_DATA")
    if not folder or not isinstance(source, str) or not source or Path(source).expanduser().name != source:
        return None
    if not data_dir and _typed(source):
        return None
    root = Path(folder).expanduser()
    places = (place / name for place in (root, root / "graphs") for name in (f"{source}.npz", source))
    return next((place.resolve() for place in places if place.exists()), None)


def _existing(source: str | Path, data_dir: str | Path | None) -> tuple[Path, dict[str, str]]:
    """The path of a source, and its origin: a name stays a name, since its folder may move."""
    if path := _in_data_dir(source, data_dir):
        folder = {"data_dir": str(Path(data_dir).expanduser().resolve())} if data_dir else {}
        return path, {"source": str(source), **folder}
    path = _typed(source)
    if path is None:
        if isinstance(source, Path):
            raise DataError(f"there is no {source}; it should be {_KINDS}")
        try:
            choose(source, GRAPHS, "graph")
        except ConfigError as error:
            raise ConfigError(f"{error}, or the path of {_KINDS}") from None
    assert path is not None
    if data_dir is not None:
        raise ConfigError(f"{path} is a path; leave data_dir out (--data-dir), which is for names")
    return path, {"source": str(path.resolve())}


def _reader(path: Path) -> Callable[[ReadOptions], CleanGraph] | None:
    if path.is_file() and path.suffix == ".npz":
        return lambda options: clean(read_npz(path, masks=options.split != "random"), options)
    root = path if path.is_dir() else path.parent
    if graphs := find_planetoid(path):
        return lambda options: clean(read_planetoid(graphs, root), options)
    if folder := find_reddit(path):
        return lambda options: clean(read_reddit(folder, root), options)
    if (path / "raw" / "edge.csv.gz").is_file():
        from lqm.graphs.sources.ogb import read_ogb

        return lambda options: read_ogb(path, options)
    return None

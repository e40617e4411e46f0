"""T in S* = argmin D(phi(T), phi(S)): a name or a path becomes labelled images."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lqm.images.augment import OPERATIONS
from lqm.images.sources.dataset import from_dataset
from lqm.images.sources.digits import digits
from lqm.images.sources.folder import list_folder, read_listing
from lqm.images.sources.found import Found, Reading, finish
from lqm.images.sources.inside import Inside, expanded
from lqm.images.sources.labelled import Images
from lqm.images.sources.named import cifar10, cifar100, mnist, tinyimagenet
from lqm.images.sources.npz import read_npz
from lqm.images.sources.source import ImageSource, pick
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.names import choose

SOURCES: dict[str, Callable[[Reading], ImageSource]] = {
    "digits": digits,
    "mnist": mnist,
    "cifar10": cifar10,
    "cifar100": cifar100,
    "tinyimagenet": tinyimagenet,
}

__all__ = ["SOURCES", "ImageSource", "Images", "from_dataset", "load_source", "pick"]

_KINDS = "a folder of class folders, a .npz, a .parquet or a folder with train*.parquet"


def load_source(
    source: str | Path | ImageSource,
    *,
    data_dir: str | Path | None = None,
    size: int | None = None,
    test_fraction: float | None = None,
    augmentation: str | Sequence[str] | None = None,
    validation: bool = False,
    show_progress: bool = True,
) -> ImageSource:
    """The source called by a name, or that a path leads to, or the source itself.

    Args:
        source: a name in `SOURCES`, else the path of a folder of class folders (or of `train` and `test` with
            such), of a `.npz`, of a `.parquet`, or of a folder with Parquet files; or a source.
        data_dir: the folder where the named sets lie; the environment variable LQM_DATA if not given.
        size: scale the shorter side of each image to this, and cut out the centre square.
        test_fraction: the share of each class to hold out where there is no test set, 0.2 if not given.
        augmentation: the operations (or the one) that leave an image's label right, if not the source's own.
        validation: whether to leave the test images out, and to hold a fifth of the training images out in
            their place, by which settings can be chosen; see `ImageSource.for_validation`.
        show_progress: whether to show how far reading is.

    Raises:
        ConfigError: when there is no such source, or an option can't be used.
        DataError: when what is there can't be used.
    """
    if augmentation is not None and not isinstance(augmentation, Sequence):
        raise ConfigError(f"augmentation is {augmentation!r}; it should be a list of {', '.join(OPERATIONS)}")
    options: dict[str, Any] = {
        "data_dir": None if data_dir is None else str(expanded(data_dir).resolve()),
        "size": size,
        "test_fraction": test_fraction,
        "augmentation": [augmentation] if isinstance(augmentation, str) else augmentation and [*augmentation],
    }
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(source, ImageSource):
        if given:
            raise ConfigError(f"'{source.name}' is a source already; leave {', '.join(given)} out")
        return source.for_validation() if validation else source
    if not isinstance(source, str | Path):
        raise ConfigError(
            f"a {type(source).__name__} is no source; give a name, a path or an lqm.ImageSource, which a "
            "torch dataset becomes by lqm.from_dataset"
        )
    for operation in given.get("augmentation", ()):
        choose(operation, dict.fromkeys(OPERATIONS), "augmentation")
    place = None if data_dir is None else Path(data_dir)
    try:
        loaded = _load(source, Reading(str(source), place, size, test_fraction, show_progress))
    except OSError as error:
        raise DataError(f"{error.filename or source} can't be read: {error.strerror or error}") from error
    typed = source if isinstance(source, str) and source in SOURCES else str(expanded(source).resolve())
    whole = replace(
        loaded,
        augmentation=tuple(given.get("augmentation", loaded.augmentation)),
        origin={"source": typed, **given},
    )
    return whole.for_validation() if validation else whole


def _load(source: str | Path, reading: Reading) -> ImageSource:
    if isinstance(source, str) and source in SOURCES:
        return SOURCES[source](reading)
    path = _existing(source)
    if reading.data_dir:
        raise ConfigError(f"{path} is a place of its own; leave data_dir out, which is for named sources")
    reading = replace(reading, name=path.resolve().name if path.is_dir() else path.stem)
    return finish(_read(path, reading), reading)


def _existing(source: str | Path) -> Path:
    path = expanded(source)
    if path.exists() and str(source):
        return path
    if isinstance(source, Path):
        raise DataError(f"there is no {source}; it should be {_KINDS}")
    try:
        choose(source, SOURCES, "source")
    except ConfigError as error:
        raise ConfigError(f"{error}, or the path of {_KINDS}") from None
    return path


def _read(path: Path, reading: Reading) -> Found:
    if path.suffix == ".npz" and path.is_file():
        return read_npz(path)
    if not path.is_dir() and not (path.is_file() and path.suffix == ".parquet"):
        raise DataError(f"{path} can't be read as images; it should be {_KINDS}")
    from lqm.images.sources.parquet import parquet_parts, read_parquet

    if path.is_file():
        return read_parquet([path], [], reading)
    with Inside(path) as inside:
        parts = parquet_parts(inside)
        listing = None if parts else list_folder(inside)
    if parts:
        return read_parquet(*parts, reading)
    assert listing
    return read_listing(listing, reading)

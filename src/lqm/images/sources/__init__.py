"""T in S* = argmin D(phi(T), phi(S)): a name or a path becomes labelled images."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from lqm.images.augment import OPERATIONS
from lqm.images.sources.dataset import from_dataset
from lqm.images.sources.digits import digits
from lqm.images.sources.folder import list_folder, read_listing
from lqm.images.sources.found import Found, Reading, finish
from lqm.images.sources.frame import is_frame
from lqm.images.sources.handed import as_given, read_given
from lqm.images.sources.idx_sets import IDX_SETS, MNIST, idx_source
from lqm.images.sources.inside import Inside, expanded
from lqm.images.sources.labelled import Images
from lqm.images.sources.named import cifar10, cifar100, idx_set, mnist, tinyimagenet
from lqm.images.sources.npz import read_npz
from lqm.images.sources.parquet_parts import parquet_parts
from lqm.images.sources.source import ImageSource, pick, picked
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.given import GivenData
from lqm.utils.names import choose

if TYPE_CHECKING:
    from torch.utils.data import Dataset

    from lqm.utils.given import Array, Frame, HubDataset, HubSplits, Labels

    ImageData: TypeAlias = Dataset[object] | HubDataset | HubSplits | Frame
    ImageSourceLike: TypeAlias = (
        str | Path | ImageSource | GivenData | Array | tuple[Array, Labels] | ImageData
    )

SOURCES: dict[str, Callable[[Reading], ImageSource]] = {
    "digits": digits,
    "mnist": mnist,
    **{name: idx_set(known) for name, known in IDX_SETS.items() if known is not MNIST},
    "cifar10": cifar10,
    "cifar100": cifar100,
    "tinyimagenet": tinyimagenet,
}

__all__ = ["SOURCES", "ImageSource", "Images", "from_dataset", "load_source", "pick", "picked"]

_KINDS = "a folder of class folders, a .npz, a .parquet or a folder with train*.parquet or idx files"


def load_source(
    source: "ImageSourceLike",
    y: "Labels | None" = None,
    *,
    test: "ImageSourceLike | tuple[Array, Labels] | None" = None,
    class_names: Sequence[str] | None = None,
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
            such), of a `.npz`, of a `.parquet`, or of a folder with Parquet or idx files; or images as an
            array [N, H, W], [N, C, H, W] or [N, H, W, C] of uint8 or of floats in [0, 1], a dataset of torch
            or of Hugging Face, or a pandas frame with the paths of images; or a source.
        y: the labels of an array, whole numbers or texts.
        test: what to evaluate by, in the same form, of an array `(X_test, y_test)`; without it a share of
            each class is held out.
        class_names: the names of the classes, of which labels are the numbers.
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
    handed = {"y": y, "test": test, "class_names": class_names}
    if isinstance(source, str | Path | ImageSource) and any(value is not None for value in handed.values()):
        more = ", ".join(name for name, value in handed.items() if value is not None)
        raise ConfigError(f"'{getattr(source, 'name', source)}' has all of its own; leave {more} out")
    if isinstance(source, ImageSource):
        if given:
            raise ConfigError(f"'{source.name}' is a source already; leave {', '.join(given)} out")
        return source.for_validation() if validation else source
    for operation in given.get("augmentation", ()):
        choose(operation, dict.fromkeys(OPERATIONS), "augmentation")
    if not isinstance(source, str | Path):
        whole = _handed(as_given(source, y, test, class_names), given, show_progress)
        return whole.for_validation() if validation else whole
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


def _handed(data: GivenData, given: dict[str, Any], show_progress: bool) -> ImageSource:
    """A source out of data that are handed over, which has no place to be found again."""
    if "data_dir" in given:
        raise ConfigError("data_dir is for named sources; leave it out")
    name = "arrays" if data.labels is not None else "frame" if is_frame(data.records) else "dataset"
    reading = Reading(name, None, given.get("size"), given.get("test_fraction"), show_progress)
    return finish(
        read_given(data, reading), reading, augmentation=tuple(given.get("augmentation", OPERATIONS))
    )


def _load(source: str | Path, reading: Reading) -> ImageSource:
    if isinstance(source, str) and source in SOURCES:
        return SOURCES[source](reading)
    path = _existing(source)
    if reading.data_dir:
        raise ConfigError(f"{path} is a place of its own; leave data_dir out, which is for named sources")
    reading = replace(reading, name=path.resolve().name if path.is_dir() else path.stem)
    if path.is_dir() and (source_of_files := idx_source(path, reading)):
        return source_of_files
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
        return read_npz(path, reading)
    if not path.is_dir() and not (path.is_file() and path.suffix == ".parquet"):
        raise DataError(f"{path} can't be read as images; it should be {_KINDS}")
    parts: tuple[list[Path], list[Path]] | None = ([path], [])
    if path.is_dir():
        with Inside(path) as inside:
            parts = parquet_parts(inside)
            listing = None if parts else list_folder(inside)
    if not parts:
        assert listing
        return read_listing(listing, reading)
    from lqm.images.sources.parquet import read_parquet

    return read_parquet(*parts, reading)

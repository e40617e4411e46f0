"""Images that are handed over in Python: arrays, datasets, and frames of paths."""

from collections.abc import Sequence

from torch import Tensor
from torch.utils.data import Dataset, TensorDataset

from lqm.images.sources.classes import as_array, numbered
from lqm.images.sources.convert import Array, images_of
from lqm.images.sources.dataset import read_dataset
from lqm.images.sources.found import Found, Reading
from lqm.images.sources.frame import is_frame, read_frame
from lqm.images.sources.hub import is_hub, read_hub
from lqm.images.sources.labelled import Images
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.given import GivenData
from lqm.utils.log import warn
from lqm.utils.names import shown_value

# Whole numbers up to less than this, where 255 is white, would make an image that is nearly black.
_DARK = 64


def as_given(
    source: object, y: object = None, test: object = None, class_names: Sequence[str] | None = None
) -> GivenData:
    """Data of a program, with labels and test set apart from the records where they come together.

    Raises:
        ConfigError: when it is nothing that images or rows could be read of, or labels are missing.
    """
    if isinstance(source, GivenData):
        return source
    records, labels = _pair(source) if y is None else (source, y)
    tested = None if test is None else _pair(test)
    if labels is not None:
        if _is_items(records):
            raise ConfigError(
                f"a {type(records).__name__} has labels of its own, which come with its items; leave y out"
            )
        if tested is not None and tested[1] is None:
            raise ConfigError("the test set has no labels; give it as test=(X_test, y_test)")
        return GivenData(records, labels, tested, class_names)
    if is_array(records):
        raise ConfigError("X has no labels; give them as y, as in lqm.condense(X, y)")
    if not (_is_items(records) or is_frame(records) or (isinstance(records, list) and records)):
        raise ConfigError(
            f"{shown_value(records)} is no source; give a name, a path, arrays as X and y, a dataset of "
            "torch or of Hugging Face, a pandas frame with paths and labels, or a graph of PyG"
        )
    return GivenData(records, None, tested and tested[0], class_names)


def is_array(value: object) -> bool:
    """Whether something is an array or a tensor."""
    known = hasattr(value, "__array__") and hasattr(value, "shape")
    return isinstance(value, Tensor) or (known and not is_frame(value))


def read_given(given: GivenData, reading: Reading) -> Found:
    """The images of data that are handed over.

    Raises:
        DataError: when they can't be used.
    """
    if given.labels is not None:
        return _read_arrays(given, reading)
    if is_frame(given.records):
        return read_frame(given, reading)
    if is_hub(given.records):
        return read_hub(given, reading)
    return read_dataset(given.records, given.test, reading, given.class_names)


def _pair(source: object) -> tuple[object, object]:
    """Records and labels, if something is a pair of them; else itself, and no labels."""
    parts = source.tensors if isinstance(source, TensorDataset) else source
    if isinstance(parts, tuple) and len(parts) == 2 and (is_array(parts[0]) or is_frame(parts[0])):
        return parts
    return source, None


def _is_items(source: object) -> bool:
    """Whether something is a dataset, whose items are images with their labels."""
    return isinstance(source, Dataset) or is_hub(source)


def _read_arrays(given: GivenData, reading: Reading) -> Found:
    parts = {"X": (given.records, given.labels)}
    if isinstance(given.test, tuple):
        parts["the test X"] = given.test
    images = [_images(records, part) for part, (records, _) in parts.items()]
    numbers, names = numbered(
        [labels for _, labels in parts.values()], f"'{reading.name}'", given.class_names
    )
    for part, own, labels in zip(parts, images, numbers, strict=True):
        if len(own) != len(labels):
            raise DataError(f"{part} has {len(own):,} images and {len(labels):,} labels; give as many")
    labelled = [Images(*pair) for pair in zip(images, numbers, strict=True)]
    return Found(labelled[0], labelled[1] if len(labelled) == 2 else None, names)


def _images(records: object, what: str) -> Tensor:
    array = as_array(records, what)
    if array.ndim not in (3, 4):
        raise DataError(
            f"{what} has shape {list(array.shape)}; images should be [N, H, W], [N, C, H, W] or "
            "[N, H, W, C], and features of rows [N, F]"
        )
    if array.ndim == 4 and _is_channels(array, 1) and _is_channels(array, 3):
        raise DataError(
            f"{what} has shape {list(array.shape)}, in which both the second and the last number could be "
            "that of the channels; give images of 8x8 pixels or more as [N, C, H, W]"
        )
    images = images_of(array, what)
    if array.dtype.kind == "f" and not images.is_floating_point() and int(images.max()) < _DARK:
        most = int(images.max())
        warn(
            f"{what} goes up to {most} of 255, which is nearly black; if {most} is white, divide it by {most}"
        )
    return images


def _is_channels(array: Array, axis: int) -> bool:
    return array.shape[axis] in range(1, 5)

"""Images and labels of others, brought to the scale, shape and classes of the source that they stand for."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import torch
from pydantic import Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.images.imports.layouts import Given
from lqm.images.sources import ImageSource
from lqm.images.sources.convert import eight_bits_or_floats, labels_of
from lqm.utils.archives import Array
from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory
from lqm.utils.log import warn
from lqm.utils.npz import listed
from lqm.utils.pixels import pixels

# Half of what tells one level of an 8-bit image from the next: what rounding leaves beyond [0, 1].
_ROUNDING = 0.5 / 255
_COPIES = 6

Rate = Annotated[float, Field(gt=0, le=1e6, description="a number above 0, such as 0.02")]
Factor = Annotated[int, Field(ge=1, le=64, description="a whole number from 1 to 64")]


@dataclass(frozen=True, config={"extra": "forbid"})
class ImportSettings:
    """What files don't say of their images.

    Attributes:
        normalised: the images are as networks see them: less the source's mean by its deviation, or whitened.
        zca: networks see the images whitened, by the source's training images.
        clip: bring pixels that lie outside [0, 1] into it.
        soft: the labels are rows of shares or logits.
        rate: the learning rate that belongs to the images.
        mosaic: each image is so many by so many smaller ones.
    """

    normalised: bool = False
    zca: bool = False
    clip: bool = False
    soft: bool = False
    rate: Rate | None = None
    mosaic: Factor = 1


def fitted(given: Given, source: ImageSource, settings: ImportSettings) -> CondensedImages:
    """The condensed set of given images and labels; its manifest says how to use it and nothing else.

    Raises:
        DataError: for what does not fit the source, with what would.
    """
    prepared = source.whitened() if settings.zca else source
    images = _pixels(given, prepared, settings)
    numbers = _numbers(given.class_names, source, given.place)
    labels, soft = _labels(given, len(images), source.class_names, settings, numbers)
    if settings.mosaic > min(images.shape[2:]):
        raise DataError(
            f"images of {images.shape[3]}x{images.shape[2]} can't be mosaics of {settings.mosaic} x "
            f"{settings.mosaic}; give a smaller mosaic"
        )
    rate = given.rate if settings.rate is None else settings.rate
    if rate is not None and not 0 < rate <= 1e6:
        raise DataError(f"the learning rate of {given.place} is {rate:g}; give one above 0 by --rate")
    manifest: dict[str, Any] = {"preprocessing": prepared.preprocessing}
    manifest |= {"mosaic": settings.mosaic} if settings.mosaic > 1 else {}
    made = CondensedImages(images, labels, source.class_names, manifest, whitening=prepared.whitening)
    return made if rate is None and soft is None else made.taught_by(rate, soft)


def _pixels(given: Given, source: ImageSource, settings: ImportSettings) -> Tensor:
    """Pixels in [0, 1], [N, C, H, W]."""
    array, place = _by_channels(given, source), f"the images of {given.place}"
    require_memory(_COPIES * 4 * array.size, place)
    floats = array.dtype.kind == "f"
    if settings.normalised and not floats:
        raise DataError(f"{place} are {array.dtype}, and normalised ones are floats; leave --normalised out")
    if not floats or (not settings.normalised and _counts_to_255(array)):
        return pixels(torch.from_numpy(np.ascontiguousarray(eight_bits_or_floats(array, place))))
    shown = torch.from_numpy(array.astype(np.float32))
    return _within(source.denormalised(shown) if settings.normalised else shown, place, settings)


def _counts_to_255(array: Array) -> bool:
    """Whether floats are levels of 8 bits."""
    return bool(1 < array.max() <= 255 and array.min() >= 0 and (array % 1 == 0).all())


def _by_channels(given: Given, source: ImageSource) -> Array:
    array, (channels, height, width) = given.images, source.shape
    if array.shape[1:] == (height, width) and channels == 1:
        array = array[:, None]
    elif array.shape[1:] == (height, width, channels):
        array = array.transpose(0, 3, 1, 2)
    if array.shape[1:] != source.shape or not len(array):
        raise DataError(
            f"the images of {given.place} have shape {list(array.shape)}, and those of '{source.name}' "
            f"are [N, {channels}, {height}, {width}]; name the source that they stand for, with its --size"
        )
    return array


def _within(images: Tensor, place: str, settings: ImportSettings) -> Tensor:
    if not images.isfinite().all():
        raise DataError(f"{place} hold NaN or infinite numbers; replace them")
    outside = ((images < -_ROUNDING) | (images > 1 + _ROUNDING)).double().mean().item()
    if outside and not settings.clip:
        other = "" if settings.normalised else "--normalised if they are as networks see them, or "
        raise DataError(
            f"{100 * outside:.3g} % of the pixels of {place} are outside [0, 1], from {images.min():.3g} to "
            f"{images.max():.3g}; give {other}--clip to cut them, which changes the set"
        )
    if outside:
        warn(f"{100 * outside:.3g} % of the pixels were outside [0, 1] and are cut, which changes the set")
    return images.clamp(0, 1)


def _numbers(names: Sequence[str] | None, source: ImageSource, place: str) -> list[int] | None:
    """The source's class number of each class of a file, if the file names its classes."""
    if names is None or tuple(names) == source.class_names:
        return None
    known = {name: number for number, name in enumerate(source.class_names)}
    counted = {str(number): number for number in range(len(source.class_names))}
    for table in (known, counted):
        if len(set(names)) == len(names) and all(name in table for name in names):
            return [table[name] for name in names]
    other = sorted({*names} - known.keys()) or names
    raise DataError(
        f"{place} has the classes {listed(other)}, which '{source.name}' has not: its classes are "
        f"{', '.join(source.class_names[:10])}{', ...' if len(source.class_names) > 10 else ''}"
    )


def _labels(
    given: Given,
    count: int,
    class_names: Sequence[str],
    settings: ImportSettings,
    numbers: list[int] | None,
) -> tuple[Tensor, Tensor | None]:
    """Class numbers [N] of the source, and shares of all classes [N, classes] if the labels are soft."""
    classes, place = len(class_names), f"the labels of {given.place}"
    rows = given.labels if settings.soft else given.soft_labels
    soft = None if rows is None else _shares(rows, count, classes, place)
    if settings.soft:
        assert soft is not None
        labels = soft.argmax(dim=1)
    elif given.labels.ndim == 2 and given.labels.shape[1] > 1:
        raise DataError(f"{place} have shape {list(given.labels.shape)}, a row an image; give --labels soft")
    else:
        labels = labels_of(given.labels, count, place)
    most = classes if numbers is None else len(numbers)
    if labels.max() >= most:
        raise DataError(
            f"{place} go up to {labels.max()}; with {most} classes they should be 0 to {most - 1}"
        )
    if numbers is not None:
        if soft is not None and len(numbers) != classes:
            raise DataError(
                f"{place} are soft and of {len(numbers)} classes; they should be of all {classes}"
            )
        labels = torch.tensor(numbers)[labels]
        soft = None if soft is None else soft[:, torch.tensor(numbers).argsort()]
    missing = [class_names[number] for number in (labels.bincount(minlength=classes) == 0).nonzero()]
    if missing and soft is None:
        raise DataError(
            f"{given.place} has no image of {listed(missing)}; it should have one of each class, "
            f"of which there are {classes}"
        )
    return labels, soft


def _shares(rows: Array, count: int, classes: int, place: str) -> Tensor:
    """Rows of shares as they are, and others as logits, through softmax."""
    if rows.shape != (count, classes) or rows.dtype.kind not in "fiu":
        raise DataError(
            f"soft {place.removeprefix('the ')} are {rows.dtype} of shape {list(rows.shape)}; they should be "
            f"floats of shape [{count}, {classes}], a row an image"
        )
    whole = torch.from_numpy(rows.astype(np.float64))
    if not whole.isfinite().all():
        raise DataError(f"{place} hold NaN or infinite numbers; replace them")
    shares = whole.min() >= 0 and ((whole.sum(dim=1) - 1).abs() < 1e-3).all()
    return (whole if shares else whole.softmax(dim=1)).float()

"""From what a reader found to a source: squares of one size, and a test set."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import torch
from pydantic import Field

from lqm.images.augment import OPERATIONS
from lqm.images.sources.labelled import Images
from lqm.images.sources.overlap import compare_parts
from lqm.images.sources.resize import square
from lqm.images.sources.source import ImageSource
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.limits import CLASS_BYTES, max_pixels, require_memory
from lqm.utils.settings import check

_DEFAULT_TEST_FRACTION = 0.2
_Side = Annotated[int, Field(ge=8, description="a whole number of at least 8 pixels")]
_Fraction = Annotated[float, Field(gt=0, lt=1, description="above 0 and below 1, such as 0.2")]


@dataclass(frozen=True)
class Reading:
    """How a set is to be read.

    Attributes:
        data_dir: the folder where the named sets lie.
        size: the side of the squares that all images become; as they are if there is none.
        test_fraction: the share of each class to hold out, for a set without a test set of its own.
    """

    name: str
    data_dir: Path | None = None
    size: int | None = None
    test_fraction: float | None = None
    show_progress: bool = True

    def __post_init__(self) -> None:
        check("size", self.size, _Side | None)
        if self.size and self.size**2 > max_pixels():
            raise ConfigError(
                f"size is {self.size}, above {math.isqrt(max_pixels()):,}, the largest side that the limit "
                "of memory allows; choose a smaller one, or raise the limit by --max-memory"
            )
        check("test_fraction", self.test_fraction, _Fraction | None)


@dataclass(frozen=True, eq=False)
class Found:
    """What a reader found: training images, the test set if there is one, and the names of the classes."""

    train: Images
    test: Images | None
    class_names: tuple[str, ...]


def finish(
    found: Found,
    reading: Reading,
    *,
    augmentation: tuple[str, ...] = OPERATIONS,
    recipes: str = "own",
    published: tuple[tuple[float, ...], tuple[float, ...]] | None = None,
) -> ImageSource:
    """Bring all images to the size asked for, and hold a test set out if there is none."""
    name = reading.name
    found = ranked(found, name)
    classes = len(found.class_names)
    require_memory(CLASS_BYTES * classes, f"{classes:,} classes of '{name}'")
    if classes < 2:
        raise DataError(f"'{name}' has only one class, '{found.class_names[0]}'; it should have two or more")
    if found.test is None:
        train, test = _split(found.train, reading.test_fraction, found.class_names, name)
    elif reading.test_fraction is None:
        train, test = found.train, found.test
    else:
        raise ConfigError(f"'{name}' has a test set of its own; leave test_fraction out")
    channels = train.images.shape[1]
    if published and channels != len(published[0]):
        raise DataError(
            f"the images of '{name}' have {channels} channels; "
            f"the published set has {len(published[0])}, so give its path instead of its name"
        )
    source = ImageSource(
        name=name,
        train=Images(square(train.images, reading.size, name), train.labels),
        test=Images(square(test.images, reading.size, name), test.labels),
        class_names=found.class_names,
        augmentation=augmentation,
        recipes=recipes,
        published=published,
    )
    return replace(source, notes=compare_parts(source))


def ranked(found: Found, name: str) -> Found:
    """Class numbers from 0 on in place of labels that are ids: the rank of each among those for training.

    It takes memory and time by the number of images, however large the ids are.
    """
    ids = found.train.labels.unique()
    if int(ids[-1]) == len(ids) - 1:
        return found
    if found.test and not (known := torch.isin(found.test.labels, ids)).all():
        raise DataError(
            f"the test images of '{name}' have the label {found.test.labels[~known][0]}, which no training "
            "image has; add training images of it, or leave its test images out"
        )
    train, test = (
        part and Images(part.images, torch.searchsorted(ids, part.labels))
        for part in (found.train, found.test)
    )
    assert train
    return Found(train, test, found.class_names)


def _split(
    images: Images, fraction: float | None, class_names: tuple[str, ...], name: str
) -> tuple[Images, Images]:
    """The same share of each class, drawn once and for all; both parts get one of each class at least."""
    counts = images.labels.bincount(minlength=len(class_names)).tolist()
    for class_name, count in zip(class_names, counts, strict=True):
        if count < 2:
            raise DataError(
                f"class '{class_name}' of '{name}' has {count} image, so none can be held out "
                "for testing; add images to it, or leave the class out"
            )
    return images.hold_out(len(class_names), fraction or _DEFAULT_TEST_FRACTION, "test split")

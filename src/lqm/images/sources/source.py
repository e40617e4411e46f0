"""T: labelled images to condense, and those to evaluate by."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import torch
from torch import Tensor

from lqm.condensed.channels import Channels
from lqm.condensed.whitening import Whitening, require_whitenable
from lqm.images.augment import OPERATIONS
from lqm.images.sources.labelled import Images, require_images, size_of
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.log import warn
from lqm.utils.names import choose
from lqm.utils.pixels import pixels
from lqm.utils.sentences import counted
from lqm.utils.stored_arrays import Part, Records

_FOR_VALIDATION = 0.2

OPERATIONS_WITHOUT_FLIP = tuple(name for name in OPERATIONS if name != "flip")


@dataclass(frozen=True, eq=False)
class ImageSource:
    """A training set to condense and a test set to evaluate by.

    Attributes:
        augmentation: the operations that leave an image's label right (a mirrored 2 is no 2).
        recipes: the name of the file of recipes that suit this source.
        published: mean and deviation of the channels that the field normalises by; else they are measured.
        origin: what `load_source` needs to find it again, if it came from there.
        notes: what a user should know of it, such as test images that are training images too.
        scored_on: `test`, or `validation` where training images are held out as `test`; see `for_validation`.
        zca: whether networks see the images whitened; see `whitened`.
        fitted: the whitening, if it is not to be fitted to the training images.
    """

    name: str
    train: Images = field(repr=False)
    test: Images = field(repr=False)
    class_names: tuple[str, ...]
    augmentation: tuple[str, ...] = OPERATIONS
    recipes: str = "own"
    published: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    origin: Mapping[str, Any] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    scored_on: Literal["test", "validation"] = "test"
    zca: bool = field(default=False, repr=False)
    fitted: Whitening | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for part, images in (("training", self.train), ("test", self.test)):
            require_images(images, len(self.class_names), f"the {part} images of '{self.name}'")
        if self.train.images.shape[1:] != self.test.images.shape[1:]:
            raise DataError(
                f"'{self.name}' has training images of {size_of(self.train)} and test images of "
                f"{size_of(self.test)}; bring them to one size"
            )
        if not self.augmentation or isinstance(self.augmentation, str):
            raise ConfigError(
                f"the augmentation of '{self.name}' is {self.augmentation!r}; "
                f"it should be a tuple of one or more of {', '.join(OPERATIONS)}"
            )
        for operation in self.augmentation:
            choose(operation, dict.fromkeys(OPERATIONS), "augmentation")
        counts = self.train.labels.bincount(minlength=len(self.class_names))
        if (counts == 0).any():
            class_name = self.class_names[int(counts.argmin())]
            raise DataError(f"class '{class_name}' of '{self.name}' has no training image; leave it out")

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of an image."""
        channels, height, width = self.train.images.shape[1:]
        return channels, height, width

    @cached_property
    def by_class(self) -> list[Part]:
        """The training images of each class, as they are stored; none is copied until it is asked for."""
        places = self.train.places_by_class(len(self.class_names))
        return [Part(self.train.images, members) for members in places]

    @property
    def mean(self) -> Tensor:
        """Mean of each channel, [C]: the published one, or that of the training images."""
        return self._channels.mean

    @property
    def std(self) -> Tensor:
        """Standard deviation of each channel, [C]; 1 for a constant one."""
        return self._channels.std

    @cached_property
    def _channels(self) -> Channels:
        if self.published:
            mean, std = self.published
            return Channels(torch.tensor(mean), torch.tensor(std))
        return Channels.of(self.train.images)

    @cached_property
    def whitening(self) -> Whitening | None:
        """What whitens the images, if they are to be whitened; fitted when it is first asked for."""
        return (self.fitted or Whitening.of(self.train.images)) if self.zca else None

    def normalised(self, images: Tensor) -> Tensor:
        """Images, as they are stored, as networks see them: less the mean by the deviation, or whitened."""
        return (self.whitening or self._channels).apply(pixels(images))

    def denormalised(self, images: Tensor) -> Tensor:
        """The pixels of normalised images, which may lie beyond [0, 1]."""
        return (self.whitening or self._channels).undo(images)

    def clipped(self, images: Tensor) -> Tensor:
        """Normalised images with their pixels brought into [0, 1]."""
        return (self.whitening or self._channels).clip(images)

    @property
    def preprocessing(self) -> dict[str, Any]:
        """What `normalised` does, for the manifest."""
        return (self.whitening or self._channels).record

    def whitened(self, whitening: Whitening | None = None) -> "ImageSource":
        """The same source whose images networks see whitened: as given, or as fits its training images.

        Raises:
            DataError: when the images are too large for it.
        """
        if whitening is not None:
            return replace(self, zca=True, fitted=whitening)
        require_whitenable(self.shape)
        return self if self.zca else self._whitened

    @cached_property
    def _whitened(self) -> "ImageSource":
        return replace(self, zca=True)

    @property
    def identity(self) -> dict[str, str | list[str]]:
        """What decides a score: the data and the augmentation, whatever they are called."""
        return {"fingerprint": self.fingerprint, "augmentation": list(self.augmentation)}

    @property
    def record(self) -> dict[str, str | bool | list[str]]:
        """What tells this source from another, for the manifest."""
        if self.scored_on == "validation":
            return {"name": f"{self.name} (validation)", "validation": True, **self.identity}
        return {"name": self.name, **self.identity}

    def for_validation(self) -> "ImageSource":
        """The same source to choose settings by: held-out training images in place of the test images.

        They are a fifth of each class, the same in every run; the other four fifths are condensed.

        Raises:
            DataError: when no class has two training images.
        """
        if self.scored_on == "validation":
            return self
        train, held_out = self.train.hold_out(len(self.class_names), _FOR_VALIDATION, "validation split")
        if not len(held_out.labels):
            raise DataError(
                f"every class of '{self.name}' has one training image, so none can be held out for "
                "validation; add images"
            )
        notes: tuple[str, ...] = ()
        if whole := int((self.train.labels.bincount() == 1).sum()):
            notes = (counted(whole, "class has", "classes have") + " one image and none for validation",)
            warn(notes[0])
        return replace(self, train=train, test=held_out, notes=notes, scored_on="validation")

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all images, labels and class names."""
        digest = hashlib.sha256("\0".join(self.class_names).encode("utf-8", "surrogatepass"))
        for images in (self.train, self.test):
            images.add_to(digest)
        return digest.hexdigest()


def pick(images: Records, count: int, generator: torch.Generator) -> Tensor:
    """`count` of the images, drawn without replacement."""
    return images[picked(images, count, generator)]


def picked(images: Records, count: int, generator: torch.Generator) -> Tensor:
    """The places of `count` of the images, drawn without replacement."""
    return torch.randperm(len(images), generator=generator)[:count]

"""T: labelled images to condense, and those to evaluate by."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import torch
from torch import Tensor

from lqm.engine.randomness import generator
from lqm.images.augment import OPERATIONS
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.log import warn
from lqm.utils.names import choose
from lqm.utils.pixels import pixels
from lqm.utils.sentences import counted

_FOR_VALIDATION = 0.2

OPERATIONS_WITHOUT_FLIP = tuple(name for name in OPERATIONS if name != "flip")


@dataclass(frozen=True, eq=False)
class Images:
    """Labelled images in main memory: [N, C, H, W], and class numbers, [N].

    Pixels are uint8, or float32 in [0, 1]; `pixels` gives the latter for either.

    Attributes:
        soft_labels: the shares of all classes that networks are to answer, [N, classes], if they are not to
            answer the class.
        learning_rate: that networks are to learn them at, if they have one of their own.
    """

    images: Tensor = field(repr=False)
    labels: Tensor = field(repr=False)
    soft_labels: Tensor | None = field(default=None, repr=False)
    learning_rate: float | None = None

    def __post_init__(self) -> None:
        images, labels = (torch.as_tensor(part).detach().cpu() for part in (self.images, self.labels))
        integers = not (labels.is_floating_point() or labels.is_complex() or labels.dtype == torch.bool)
        object.__setattr__(self, "images", images.float() if images.is_floating_point() else images)
        object.__setattr__(self, "labels", labels.long() if integers else labels)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of images and labels."""
        digest = hashlib.sha256()
        self.add_to(digest)
        return digest.hexdigest()

    def add_to(self, digest: "hashlib._Hash") -> None:
        """Let images and labels go into a hash."""
        for tensor in (self.images, self.labels, self.soft_labels):
            if tensor is None:
                continue
            digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
            digest.update(tensor.contiguous().numpy().data)
        if self.learning_rate is not None:
            digest.update(repr(self.learning_rate).encode())

    def places_by_class(self, classes: int) -> tuple[Tensor, ...]:
        """The places of the images of each class, in order; in time by the number of images."""
        order = self.labels.argsort(stable=True)
        parts: tuple[Tensor, ...] = order.split(self.labels.bincount(minlength=classes).tolist())
        return parts

    def of_class(self, label: int) -> Tensor:
        """The images of one class, as they are stored, [n, C, H, W]."""
        return self.images[self.labels == label]

    def hold_out(self, classes: int, share: float, purpose: str) -> tuple["Images", "Images"]:
        """What stays, and the share of each class that is held out, the same in every run.

        Of a class of two images or more both parts get at least one; a class of one image stays whole.
        """
        draws = generator(0, purpose)
        chosen = torch.zeros(len(self.labels), dtype=torch.bool)
        for members in self.places_by_class(classes):
            count = min(max(math.floor(share * len(members) + 0.5), 1), len(members) - 1)
            chosen[members[torch.randperm(len(members), generator=draws)[:count]]] = True
        stays, goes = (Images(self.images[part], self.labels[part]) for part in (~chosen, chosen))
        return stays, goes


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

    def __post_init__(self) -> None:
        for part, images in (("training", self.train), ("test", self.test)):
            _check(images, len(self.class_names), f"the {part} images of '{self.name}'")
        if self.train.images.shape[1:] != self.test.images.shape[1:]:
            raise DataError(
                f"'{self.name}' has training images of {_size(self.train)} and test images of "
                f"{_size(self.test)}; bring them to one size"
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
    def by_class(self) -> list[Tensor]:
        """The training images of each class, as they are stored."""
        places = self.train.places_by_class(len(self.class_names))
        return [self.train.images[members] for members in places]

    @property
    def mean(self) -> Tensor:
        """Mean of each channel, [C]: the published one, or that of the training images."""
        return self._channels[0]

    @property
    def std(self) -> Tensor:
        """Standard deviation of each channel, [C]; 1 for a constant one."""
        return self._channels[1]

    @cached_property
    def _channels(self) -> tuple[Tensor, Tensor]:
        if self.published:
            mean, std = self.published
            return torch.tensor(mean), torch.tensor(std)
        return _measured(self.train.images)

    def normalised(self, images: Tensor) -> Tensor:
        """Images as networks see them: pixels in [0, 1], less the mean, by the standard deviation."""
        mean, std = (part.view(-1, 1, 1).to(images.device) for part in (self.mean, self.std))
        return (pixels(images) - mean) / std

    @property
    def preprocessing(self) -> dict[str, list[float]]:
        """What `normalised` does, for the manifest."""
        return {"mean": self.mean.tolist(), "std": self.std.tolist()}

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


def pick(images: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """`count` of the images, drawn without replacement."""
    return images[torch.randperm(len(images), generator=generator)[:count].to(images.device)]


def _check(labelled: Images, classes: int, what: str) -> None:
    images, labels = labelled.images, labelled.labels
    if images.ndim != 4 or len(images) == 0 or images.dtype not in (torch.float32, torch.uint8):
        raise DataError(
            f"{what} have shape {list(images.shape)} and type {images.dtype}; "
            "they should be floats or uint8 of shape [N, C, H, W] with N > 0"
        )
    if labels.shape != images.shape[:1] or labels.dtype != torch.int64:
        raise DataError(
            f"{what} come with labels of shape {list(labels.shape)} and type {labels.dtype}; "
            f"they should be whole numbers of shape [{len(images)}]"
        )
    if images.shape[2] != images.shape[3] or images.shape[2] < 8:
        raise DataError(f"{what} are of {_size(labelled)}; they should be square, at least 8x8")
    if images.is_floating_point() and not (images.min() >= 0 and images.max() <= 1):
        raise DataError(
            f"{what} have pixels outside [0, 1] or NaN; divide pixels up to 255 by 255, and replace NaN"
        )
    if labels.min() < 0 or labels.max() >= classes:
        raise DataError(
            f"{what} have labels from {labels.min()} to {labels.max()}; "
            f"with {classes} class names they should be 0 to {classes - 1}"
        )


def _measured(images: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each channel, [C]; from the counts of the 256 values of uint8 pixels."""
    if images.is_floating_point():
        constant = images.amax(dim=(0, 2, 3)) == images.amin(dim=(0, 2, 3))
        std = images.std(dim=(0, 2, 3), correction=0).masked_fill(constant, 1.0)
        return images.mean(dim=(0, 2, 3)), std
    channels = [channel.flatten() for channel in images.unbind(dim=1)]
    shares = torch.stack([c.bincount(minlength=256).double() / len(c) for c in channels])
    values = torch.arange(256) / 255.0
    mean = (shares * values).sum(dim=1)
    std = ((values - mean[:, None]).square() * shares).sum(dim=1).sqrt()
    return mean.float(), std.masked_fill(shares.amax(dim=1) == 1, 1.0).float()


def _size(images: Images) -> str:
    return "x".join(str(n) for n in reversed(images.images.shape[1:]))

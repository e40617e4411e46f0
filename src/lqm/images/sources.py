"""T: pictures to condense."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import torch
from sklearn.datasets import load_digits
from torch import Tensor

from lqm.errors import ConfigError, DataError
from lqm.images.augment import OPERATIONS
from lqm.names import choose


@dataclass(frozen=True, eq=False)
class Pictures:
    """Labelled pictures: pixels in [0, 1], [N, C, H, W], float32 in main memory; class numbers, [N]."""

    images: Tensor = field(repr=False)
    labels: Tensor = field(repr=False)

    def __post_init__(self) -> None:
        images, labels = (torch.as_tensor(part).detach().cpu() for part in (self.images, self.labels))
        integers = not (labels.is_floating_point() or labels.is_complex() or labels.dtype == torch.bool)
        object.__setattr__(self, "images", images.float() if images.is_floating_point() else images)
        object.__setattr__(self, "labels", labels.long() if integers else labels)

    def of_class(self, label: int) -> Tensor:
        """The pictures of one class, [n, C, H, W]."""
        return self.images[self.labels == label]


@dataclass(frozen=True, eq=False)
class ImageSource:
    """A training set to condense and a test set to judge by.

    Attributes:
        augmentation: the operations that leave a picture's label right (a mirrored 2 is no 2).
        recipe: the name of the settings that suit this source, if there are any.
    """

    name: str
    train: Pictures = field(repr=False)
    test: Pictures = field(repr=False)
    class_names: tuple[str, ...]
    augmentation: tuple[str, ...] = OPERATIONS
    recipe: str | None = None

    def __post_init__(self) -> None:
        for part, pictures in (("training", self.train), ("test", self.test)):
            _check(pictures, len(self.class_names), f"the {part} pictures of '{self.name}'")
        if self.train.images.shape[1:] != self.test.images.shape[1:]:
            raise DataError(
                f"'{self.name}' has training pictures of {_size(self.train)} and test pictures of "
                f"{_size(self.test)}; bring them to one size"
            )
        if not self.augmentation or isinstance(self.augmentation, str):
            raise ConfigError(
                f"the augmentation of '{self.name}' is {self.augmentation!r}; "
                f"it should be a tuple of one or more of {', '.join(OPERATIONS)}"
            )
        for operation in self.augmentation:
            choose(operation, dict.fromkeys(OPERATIONS), "augmentation")
        for label, class_name in enumerate(self.class_names):
            if not (self.train.labels == label).any():
                raise DataError(
                    f"class '{class_name}' of '{self.name}' has no training picture; leave it out"
                )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of a picture."""
        channels, height, width = self.train.images.shape[1:]
        return channels, height, width

    @cached_property
    def mean(self) -> Tensor:
        """Mean of each channel over the training pictures, [C]."""
        return self.train.images.mean(dim=(0, 2, 3))

    @cached_property
    def std(self) -> Tensor:
        """Standard deviation of each channel over the training pictures, [C]; 1 for a constant one."""
        images = self.train.images
        constant = images.amax(dim=(0, 2, 3)) == images.amin(dim=(0, 2, 3))
        return images.std(dim=(0, 2, 3), correction=0).masked_fill(constant, 1.0)

    def normalised(self, images: Tensor) -> Tensor:
        """Pixels in [0, 1] as networks see them: less the mean, by the standard deviation."""
        return (images - self.mean.view(-1, 1, 1).to(images)) / self.std.view(-1, 1, 1).to(images)

    @property
    def preprocessing(self) -> dict[str, list[float]]:
        """What `normalised` does, for the manifest."""
        return {"mean": self.mean.tolist(), "std": self.std.tolist()}

    @property
    def record(self) -> dict[str, str | list[str]]:
        """What tells this source from another, for the manifest."""
        return {"name": self.name, "fingerprint": self.fingerprint, "augmentation": list(self.augmentation)}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all pictures, labels and class names."""
        digest = hashlib.sha256("\0".join(self.class_names).encode())
        for tensor in (self.train.images, self.train.labels, self.test.images, self.test.labels):
            digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
            digest.update(tensor.contiguous().numpy().tobytes())
        return digest.hexdigest()


def pick(pictures: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """`count` of the pictures, drawn without replacement."""
    return pictures[torch.randperm(len(pictures), generator=generator)[:count].to(pictures.device)]


def load_source(source: "str | ImageSource") -> ImageSource:
    """The source called by a name, or the source itself.

    Raises:
        ConfigError: when there is no such source.
    """
    return choose(source, SOURCES, "source")() if isinstance(source, str) else source


def digits() -> ImageSource:
    """The 1,797 handwritten digits of scikit-learn, 8x8, every fifth of each class held out for testing."""
    bunch = load_digits()
    labels = torch.tensor(bunch.target, dtype=torch.int64)
    images = torch.tensor(bunch.images, dtype=torch.float32).unsqueeze(1) / 16
    held_out = torch.zeros(len(labels), dtype=torch.bool)
    for label in range(10):
        held_out[(labels == label).nonzero().flatten()[4::5]] = True
    return ImageSource(
        name="digits",
        train=Pictures(images[~held_out], labels[~held_out]),
        test=Pictures(images[held_out], labels[held_out]),
        class_names=tuple(str(name) for name in bunch.target_names),
        augmentation=tuple(name for name in OPERATIONS if name != "flip"),
        recipe="digits",
    )


SOURCES: dict[str, Callable[[], ImageSource]] = {"digits": digits}


def _check(pictures: Pictures, classes: int, what: str) -> None:
    images, labels = pictures.images, pictures.labels
    if images.ndim != 4 or len(images) == 0 or not images.is_floating_point():
        raise DataError(
            f"{what} have shape {list(images.shape)} and type {images.dtype}; "
            "they should be floats of shape [N, C, H, W] with N > 0"
        )
    if labels.shape != images.shape[:1] or labels.dtype != torch.int64:
        raise DataError(
            f"{what} come with labels of shape {list(labels.shape)} and type {labels.dtype}; "
            f"they should be whole numbers of shape [{len(images)}]"
        )
    if images.shape[2] != images.shape[3] or images.shape[2] < 8:
        raise DataError(f"{what} are of {_size(pictures)}; they should be square, at least 8x8")
    if not bool(torch.isfinite(images).all()) or images.min() < 0 or images.max() > 1:
        raise DataError(f"{what} have pixels outside [0, 1]; divide uint8 pixels by 255 and replace NaN")
    if labels.min() < 0 or labels.max() >= classes:
        raise DataError(
            f"{what} have labels from {labels.min()} to {labels.max()}; "
            f"with {classes} class names they should be 0 to {classes - 1}"
        )


def _size(pictures: Pictures) -> str:
    return "x".join(str(n) for n in reversed(pictures.images.shape[1:]))

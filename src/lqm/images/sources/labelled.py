"""Labelled images, in memory or in a file."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from lqm.methods.splits import class_places, held_out
from lqm.utils.errors import DataError
from lqm.utils.stored_arrays import LazyArray, Records, chunks, subset


@dataclass(frozen=True, eq=False)
class Images:
    """Labelled images: [N, C, H, W], and class numbers in memory, [N].

    Pixels are uint8, or float32 in [0, 1]; `pixels` gives the latter for either. Images that are too many for
    the memory are a `LazyArray`, of which some are read at a time.

    Attributes:
        soft_labels: the shares of all classes that networks are to answer, [N, classes], if they are not to
            answer the class.
        learning_rate: that networks are to learn them at, if they have one of their own.
    """

    images: Records = field(repr=False)
    labels: Tensor = field(repr=False)
    soft_labels: Tensor | None = field(default=None, repr=False)
    learning_rate: float | None = None

    def __post_init__(self) -> None:
        labels = torch.as_tensor(self.labels).detach().cpu()
        integers = not (labels.is_floating_point() or labels.is_complex() or labels.dtype == torch.bool)
        if not isinstance(self.images, LazyArray):
            images = torch.as_tensor(self.images).detach().cpu()
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
        for records in (self.images, self.labels, self.soft_labels):
            if records is None:
                continue
            digest.update(f"{records.dtype}{tuple(records.shape)}".encode())
            for part in chunks(records):
                digest.update(part.contiguous().numpy().data)
        if self.learning_rate is not None:
            digest.update(repr(self.learning_rate).encode())

    def places_by_class(self, classes: int) -> tuple[Tensor, ...]:
        """The places of the images of each class, in order."""
        return class_places(self.labels, classes)

    def of_class(self, label: int) -> Records:
        """The images of one class, as they are stored, [n, C, H, W]."""
        return subset(self.images, self.labels == label)

    def hold_out(self, classes: int, share: float, purpose: str) -> tuple["Images", "Images"]:
        """What stays, and the share of each class that is held out, the same in every run.

        Of a class of two images or more both parts get at least one; a class of one image stays whole.
        """
        chosen = held_out(self.labels, classes, share, purpose)
        stays, goes = (Images(subset(self.images, part), self.labels[part]) for part in (~chosen, chosen))
        return stays, goes


def require_images(labelled: Images, classes: int, what: str) -> None:
    """Refuse what is no set of labelled images of so many classes; `what` names it.

    Raises:
        DataError: with what it should be.
    """
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
        raise DataError(f"{what} are of {size_of(labelled)}; they should be square, at least 8x8")
    if images.is_floating_point() and not all(0 <= end <= 1 for end in value_range(images)):
        raise DataError(
            f"{what} have pixels outside [0, 1] or NaN; divide pixels up to 255 by 255, and replace NaN"
        )
    if labels.min() < 0 or labels.max() >= classes:
        raise DataError(
            f"{what} have labels from {labels.min()} to {labels.max()}; "
            f"with {classes} class names they should be 0 to {classes - 1}"
        )


def value_range(images: Records) -> tuple[float, float]:
    """The smallest and the largest value of pixels; NaN if one is NaN."""
    ends = torch.stack([torch.stack([*part.aminmax()]) for part in chunks(images)])
    return ends[:, 0].min().item(), ends[:, 1].max().item()


def size_of(images: Images) -> str:
    """Width, height and channels, such as 32x32x3."""
    return "x".join(str(n) for n in reversed(images.images.shape[1:]))

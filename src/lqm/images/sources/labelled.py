"""Labelled images in main memory."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from lqm.methods.splits import class_places, held_out
from lqm.utils.errors import DataError


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
        """The places of the images of each class, in order."""
        return class_places(self.labels, classes)

    def of_class(self, label: int) -> Tensor:
        """The images of one class, as they are stored, [n, C, H, W]."""
        return self.images[self.labels == label]

    def hold_out(self, classes: int, share: float, purpose: str) -> tuple["Images", "Images"]:
        """What stays, and the share of each class that is held out, the same in every run.

        Of a class of two images or more both parts get at least one; a class of one image stays whole.
        """
        chosen = held_out(self.labels, classes, share, purpose)
        stays, goes = (Images(self.images[part], self.labels[part]) for part in (~chosen, chosen))
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
    if images.is_floating_point() and not (images.min() >= 0 and images.max() <= 1):
        raise DataError(
            f"{what} have pixels outside [0, 1] or NaN; divide pixels up to 255 by 255, and replace NaN"
        )
    if labels.min() < 0 or labels.max() >= classes:
        raise DataError(
            f"{what} have labels from {labels.min()} to {labels.max()}; "
            f"with {classes} class names they should be 0 to {classes - 1}"
        )


def size_of(images: Images) -> str:
    """Width, height and channels, such as 32x32x3."""
    return "x".join(str(n) for n in reversed(images.images.shape[1:]))

"""A replay memory for continual learners: a class is condensed when it is new, and rehearsed ever after.

`CondensedMemory` has the shape of Avalanche's exemplar buffers (`max_size`, `buffer`, `update`, `post_adapt`,
`update_from_dataset`, `resize`) and needs nothing of Avalanche: it takes plain datasets and arrays too.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset, TensorDataset

from lqm.api.rehearsal import METHODS, ClassCondenser, by_worth
from lqm.api.types import DistanceLike
from lqm.condensed.channels import Channels
from lqm.images.augment import OPERATIONS
from lqm.images.sources.items import labelled_items
from lqm.images.sources.labelled import Images, require_images
from lqm.utils.errors import ArtifactError, ConfigError
from lqm.utils.log import warn
from lqm.utils.names import choose
from lqm.utils.paths import as_path
from lqm.utils.pixels import pixels
from lqm.utils.settings import Count, check
from lqm.utils.tensors import TensorFile, save_tensors


class Rehearsed(TensorDataset):
    """Images and labels to rehearse; `targets` are the labels, as datasets of vision have them."""

    @property
    def targets(self) -> Tensor:
        """Class numbers, [N]."""
        return self.tensors[1]


class CondensedMemory:
    """At most `max_size` synthetic images, shared equally among the classes that have come.

    Each new class is condensed once, into its share. Its real images are not kept: when further classes come,
    or the memory is made smaller, a class gives images up, and what is left of it is chosen by herding on
    pixels among its synthetic images. A share that grows again is not filled up. If the number of classes is
    known, `total_classes` gives every class its final share at once, and nothing is condensed that will be
    given up. A class that has no more real images than its share is kept as it is.

    Attributes:
        max_size: the most images that are kept.
        total_classes: how many classes will come, if that is known.
    """

    def __init__(
        self,
        max_size: int,
        *,
        total_classes: int | None = None,
        method: str = "dm",
        distance: DistanceLike | None = None,
        settings: Mapping[str, object] | None = None,
        augmentation: Sequence[str] = OPERATIONS,
        normalised_by: tuple[Sequence[float], Sequence[float]] | None = None,
        wrap: Callable[[Rehearsed], Dataset[Any]] | None = None,
        seed: int = 0,
        device: str = "auto",
        show_progress: bool = False,
    ) -> None:
        """A memory that is empty.

        Args:
            max_size: the most images to keep.
            total_classes: how many classes will come, if that is known.
            method: of condensing, one of `lqm.replay.METHODS`.
            distance: a name or an object, as for `lqm.condense`; `lqm` by default, if the method takes one.
            settings: of the method, as for `lqm.condense`, such as `{"steps": 100}`.
            augmentation: the operations that leave an image's label right.
            normalised_by: mean and standard deviation of each channel, if the datasets are normalised so;
                `buffer` is then normalised alike. Else pixels are in [0, 1], or uint8.
            wrap: what makes of the kept images the dataset that a framework wants, such as Avalanche's own.
            seed: everything random follows from it and from the classes.
            device: where to condense.
            show_progress: whether to show the steps of condensing.

        Raises:
            ConfigError: when an option can't be used.
        """
        check("max_size", max_size, Count)
        check("total_classes", total_classes, Count | None)
        choose(method, dict.fromkeys(METHODS), "method of a memory")
        self.max_size, self.total_classes = max_size, total_classes
        self._channels: Channels | None = None
        if normalised_by:
            mean, std = (torch.tensor([*part]) for part in normalised_by)
            self._channels = Channels(mean, std)
        self._condense = ClassCondenser(
            method, distance, settings, tuple(augmentation), self._channels, seed, device, show_progress
        )
        self._wrap = wrap
        # Of each class, in the order in which they came, its images, those first that are kept longest.
        self._kept: dict[int, Tensor] = {}

    def __len__(self) -> int:
        return sum(map(len, self._kept.values()))

    def __repr__(self) -> str:
        return f"CondensedMemory({len(self)} of at most {self.max_size} images, {len(self._kept)} classes)"

    @property
    def seen_classes(self) -> tuple[int, ...]:
        """The classes that have come, in their order."""
        return tuple(self._kept)

    @property
    def buffer(self) -> Dataset[Any]:
        """What is kept: pairs of an image, normalised as the datasets were, and its class."""
        labels = torch.tensor([label for label, own in self._kept.items() for _ in own], dtype=torch.int64)
        images = torch.cat([*self._kept.values()]) if self._kept else torch.zeros(0, 1, 8, 8)
        kept = Rehearsed(self._channels.apply(images) if self._channels else images, labels)
        return self._wrap(kept) if self._wrap else kept

    def update(self, strategy: object, **kwargs: object) -> None:
        """Condense what is new after an experience.

        Args:
            strategy: whatever has `.experience.dataset`, as Avalanche's strategies do; or a dataset, or a
                pair of images and labels.
            kwargs: of Avalanche's callbacks; not used.
        """
        experience = getattr(strategy, "experience", None)
        self.update_from_dataset(strategy if experience is None else experience.dataset)

    def post_adapt(self, agent: object, exp: Any) -> None:
        """The same, as later versions of Avalanche call it."""
        self.update_from_dataset(exp.dataset, agent)

    def update_from_dataset(self, dataset: object, strategy: object = None) -> None:
        """Condense the classes of a dataset that have not come before.

        Args:
            dataset: a map-style dataset whose items begin with an image [C, H, W] and a label, or a pair of
                images [N, C, H, W] and labels.
            strategy: not used.

        Raises:
            LqmError: when the dataset can't be used, or there is not one image for each class.
        """
        images, labels = labelled_items(dataset)
        if self._channels:
            images = self._channels.undo(images.float()).clamp(0, 1)
        require_images(Images(images, labels), int(labels.max()) + 1, "the images of this experience")
        known = [label for label in labels.unique().tolist() if label in self._kept]
        if known:
            warn(f"images of classes {known} come again; the memory keeps those of their first experience")
        new = {label: images[labels == label] for label in labels.unique().tolist() if label not in known}
        shares = self._shares([*self._kept, *new])
        large = {label: own for label, own in new.items() if len(own) > shares[label]}
        condensed = self._condense(large, max((shares[label] for label in large), default=0))
        for label, own in new.items():
            self._kept[label] = by_worth(condensed.get(label, pixels(own)))
        self._shrink(shares)

    def resize(self, strategy: object, new_size: int) -> None:
        """Change the most images to keep; see the class for what is given up."""
        check("new_size", new_size, Count)
        before, self.max_size = self.max_size, new_size
        try:
            shares = self._shares([*self._kept])
        except ConfigError:
            self.max_size = before
            raise
        self._shrink(shares)

    def state_dict(self) -> dict[str, Tensor]:
        """All that the memory keeps, as tensors; the options are those of its constructor."""
        return {
            **{f"class {label}": own for label, own in self._kept.items()},
            "classes": torch.tensor([*self._kept], dtype=torch.int64),
            "max_size": torch.tensor(self.max_size),
        }

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Keep what a `state_dict` has, in place of what is kept now.

        Raises:
            ArtifactError: when it is none.
        """
        try:
            classes, size = state["classes"].tolist(), int(state["max_size"])
            kept = {label: state[f"class {label}"].float() for label in classes}
        except (KeyError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            raise ArtifactError(
                f"this is no state of a memory ({error}); give what state_dict gave"
            ) from error
        if size < 1 or any(own.ndim != 4 for own in kept.values()) or sum(map(len, kept.values())) > size:
            raise ArtifactError("this state of a memory is damaged; give what state_dict gave")
        self._kept, self.max_size = kept, size

    def save(self, path: str | Path) -> None:
        """Write `state_dict` to a safetensors file."""
        save_tensors(as_path(path, "path"), self.state_dict())

    def load(self, path: str | Path) -> None:
        """Keep what `save` has written.

        Raises:
            ArtifactError: when it can't be read, or is the file of something else.
        """
        self.load_state_dict(TensorFile(as_path(path, "path"), "give a file that save wrote").tensors())

    def _shares(self, classes: Sequence[int]) -> dict[int, int]:
        """How many images each class may keep; the first ones get what is left over."""
        count = max(len(classes), self.total_classes or 0)
        if count > self.max_size:
            raise ConfigError(
                f"max_size = {self.max_size} is less than one image for each of {count} classes; "
                f"make it {count} or more"
            )
        least, more = divmod(self.max_size, count) if count else (0, 0)
        return {label: least + (place < more) for place, label in enumerate(classes)}

    def _shrink(self, shares: Mapping[int, int]) -> None:
        self._kept = {label: own[: shares[label]] for label, own in self._kept.items()}

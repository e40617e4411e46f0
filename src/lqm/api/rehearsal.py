"""Condensing the classes of one experience, for a memory that is rehearsed later."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from lqm.api.condense import condense
from lqm.api.types import DistanceLike
from lqm.condensed.channels import Channels
from lqm.engine.randomness import derive, generator
from lqm.images.sources import Images, ImageSource
from lqm.methods.rules import herding

# Those that give as many images as are asked for, with a class each: no mosaics, no rates or soft labels.
METHODS = (
    *("dm", "datadam", "cafe", "cafe-dsa", "dc", "dsa", "dcc", "dsac"),
    *("random", "herding", "k-centre", "k-means"),
)


@dataclass(frozen=True)
class ClassCondenser:
    """How classes are condensed; see `lqm.replay.CondensedMemory`."""

    method: str
    distance: DistanceLike | None
    settings: Mapping[str, object] | None
    augmentation: tuple[str, ...]
    channels: Channels | None
    seed: int
    device: str
    show_progress: bool

    def __call__(self, real: Mapping[int, Tensor], count: int) -> dict[int, Tensor]:
        """`count` images of each class, [count, C, H, W], of its real ones, with pixels in [0, 1]."""
        if not real:
            return {}
        places = torch.arange(len(real)).repeat_interleave(torch.tensor([*map(len, real.values())]))
        train = Images(torch.cat([*real.values()]), places)
        by = None
        if self.channels is not None:
            by = tuple(self.channels.mean.tolist()), tuple(self.channels.std.tolist())
        # Nothing is scored here; a source has test images all the same.
        source = ImageSource(
            "experience",
            train,
            train,
            tuple(map(str, real)),
            augmentation=self.augmentation,
            published=by,
        )
        made = condense(
            source,
            per_class=count,
            method=self.method,
            distance=self.distance,
            settings=self.settings,
            seed=derive(self.seed, "memory of classes " + ", ".join(map(str, real))),
            device=self.device,
            show_progress=self.show_progress,
        )
        return {label: made.images[made.labels == place] for place, label in enumerate(real)}


def by_worth(images: Tensor) -> Tensor:
    """Images of a class in the order of herding: the first ones of them have a mean near to that of all."""
    return images[herding(images.flatten(1), len(images), generator(0, "unused"))]

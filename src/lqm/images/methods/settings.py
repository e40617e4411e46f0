"""Settings that several methods have."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator
from pydantic.dataclasses import dataclass

from lqm.images.networks import check_spec
from lqm.utils.effects import Unless
from lqm.utils.settings import Count, Positive, Share

NetworkSpec = Annotated[str, AfterValidator(check_spec)]
Init = Literal["random", "noise", "herding", "k-centre", "k-means"]
Update = Literal["summed", "per-class"]
Clip = Literal["each-update", "end"]


@dataclass(frozen=True, config={"extra": "forbid"})
class MatchingSettings:
    """What every method that learns images by matching is told.

    Attributes:
        steps: updates of the synthetic set.
        learning_rate: of the images, in normalised pixels.
        real_batch: real images of each class in a step.
        init: the real images, or the noise, that the synthetic ones are at first.
        init_steps: training of the network by whose features an init other than random is chosen.
        network: such as `convnet:width=64:depth=2`.
        clip: whether images are clipped to legal pixels after each update, or only in the result.
    """

    steps: Count = 20_000
    learning_rate: Positive = 1.0
    momentum: Share = 0.5
    real_batch: Count = 256
    init: Init = "random"
    init_steps: Annotated[Count, Unless("init", "random", "noise")] = 200
    network: NetworkSpec = "convnet"
    clip: Clip = "each-update"

    def operations(self, allowed: Sequence[str]) -> list[str]:
        """The augmentation of images while they are matched, out of the operations that keep a label."""
        return [*allowed]

    def images_per_step(self, classes: int, records: int, *, live: bool) -> float:
        """Images that go through a network in a step; those with gradients count three times.

        Args:
            classes: how many classes there are.
            records: synthetic records of each class.
            live: whether real images are looked at, not a sketch of them.
        """
        return classes * ((self.real_batch if live else 0) + 3 * records)


@dataclass(frozen=True, config={"extra": "forbid"})
class MosaicSettings(MatchingSettings):
    """What the methods are told that learn mosaics under color, crop and cutout.

    Attributes:
        mosaic: images in a row and in a column of each synthetic one.
        operations_at_once: `several`: each class gets all operations together, as published; `one`: a single
            operation, drawn for each class and step.
    """

    mosaic: Count = 2
    operations_at_once: Literal["several", "one"] = "several"

    def operations(self, allowed: Sequence[str]) -> list[str]:
        """Color, crop and cutout."""
        return [name for name in ("color", "crop", "cutout") if name in allowed]

"""Settings that several methods have."""

from typing import Annotated, Literal

from pydantic import AfterValidator
from pydantic.dataclasses import dataclass

from lqm.images.networks import check_spec
from lqm.utils.settings import Count, Positive, Share

NetworkSpec = Annotated[str, AfterValidator(check_spec)]
Start = Literal["random", "noise", "herding", "k-centre", "k-means"]


@dataclass(frozen=True, config={"extra": "forbid"})
class MatchingSettings:
    """What every method that matches real and synthetic images is told.

    Attributes:
        steps: updates of the synthetic set.
        learning_rate: of the images, in normalised pixels.
        real_batch: real images of each class in a step.
        start: the real images, or the noise, that the synthetic ones are at first.
        start_steps: training of the network by whose features a start other than random is chosen.
        network: such as `convnet:width=64:depth=2`.
        reuse: steps that a view of the real images serves, on average; 1 as in the papers.
        window: views that a step draws from, the latest ones.
    """

    steps: Count = 20_000
    learning_rate: Positive = 1.0
    momentum: Share = 0.5
    real_batch: Count = 256
    start: Start = "random"
    start_steps: Count = 200
    network: NetworkSpec = "convnet"
    reuse: Count = 1
    window: Count = 1

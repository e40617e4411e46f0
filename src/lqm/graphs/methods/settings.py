"""Settings of the methods that match nodes."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from lqm.graphs.encoders import Activation
from lqm.utils.settings import Count, Positive

Hops = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, config={"extra": "forbid"})
class CaTSettings:
    """Liu et al. 2023, "CaT: balanced continual graph learning with graph condensation"; as its code.

    Attributes:
        steps: random encoders, one a step.
        learning_rate: Adam's, of the features.
        hops: how often the real nodes hear their neighbours, once and for all.
        width: of the encoder.
        depth: layers of the encoder.
        updates: of the synthetic nodes by each encoder; with more than one, each encoder has an Adam anew.
        real_batch: real nodes of each class in a step; 0 for all of them.
        reuse: steps that an encoder serves, on average; 1 as in the paper.
        window: encoders that a step draws from, the latest ones.
        start: the real nodes, or the noise, that the synthetic ones are at first.
    """

    steps: Count = 3_000
    learning_rate: Positive = 1e-3
    hops: Hops = 1
    width: Count = 512
    depth: Count = 1
    activation: Activation = "relu"
    updates: Count = 1
    real_batch: Annotated[int, Field(ge=0)] = 0
    start: Literal["random", "noise", "herding", "k-centre", "k-means"] = "random"
    reuse: Count = 1
    window: Count = 1


@dataclass(frozen=True, config={"extra": "forbid"})
class PUMASettings(CaTSettings):
    """Liu et al. 2024, "PUMA: efficient continual graph learning for node classification"; as its code."""

    steps: Count = 100
    width: Count = 4_096
    updates: Count = 10

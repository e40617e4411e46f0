"""DM: distribution matching with a fresh random network at every step."""

from collections.abc import Sequence
from typing import Literal

import torch
from pydantic.dataclasses import dataclass
from torch import Tensor

from lqm.engine import Metrics
from lqm.engine.randomness import generator
from lqm.images.methods.matching import Matching
from lqm.images.methods.settings import MatchingSettings
from lqm.images.networks import Network, embed_in_chunks


@dataclass(frozen=True, config={"extra": "forbid"})
class DMSettings(MatchingSettings):
    """Zhao & Bilen 2023, "Dataset condensation with distribution matching"; defaults are the paper's.

    Attributes:
        stepping: one update for the sum over all classes, or one after each class (which needs less memory).
    """

    stepping: Literal["summed", "one-by-one"] = "summed"


class DM(Matching):
    """At each step, match every class's features under one fresh random network and one shared transform.

    S <- clip(S - learning_rate * gradient of sum over classes of D(phi(A(T_c)), phi(A(S_c))))
    """

    Settings = DMSettings
    settings: DMSettings

    def update(self, i: int) -> Metrics:
        """One update of all synthetic pictures, or one for each class."""
        network = self.fresh_network("network", i).requires_grad_(False)
        draws = generator(self.seed, "batch", i)
        every = range(self.classes)
        turns = [every] if self.settings.stepping == "summed" else [[label] for label in every]
        losses = []
        for classes in turns:
            losses.append(self.losses(network, classes, draws))
            self.descend(losses[-1], classes)
        return {"loss": torch.cat(losses).mean().item()}

    def losses(self, network: Network, classes: Sequence[int], draws: torch.Generator) -> Tensor:
        """Loss of each of these classes."""
        real, sizes, synthetic = self.batches(classes, draws)
        features = embed_in_chunks(network, real)
        return self.compare(self.distance, features, network.embed(synthetic), sizes, draws)

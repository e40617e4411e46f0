"""DataDAM: matching where the network looks, beside what it finds."""

from typing import Literal

import torch
import torch.nn.functional as F  # noqa: N812
from pydantic.dataclasses import dataclass
from torch import Tensor, nn

from lqm.distances.mean import Mean
from lqm.engine import Metrics
from lqm.engine.randomness import generator
from lqm.errors import ConfigError
from lqm.images.methods.matching import Matching
from lqm.images.methods.settings import Count, MatchingSettings, NotNegative, Positive
from lqm.images.networks import Network, chunks

_ACTIVATIONS = (nn.ReLU, nn.LeakyReLU, nn.Sigmoid, nn.SiLU)


@dataclass(frozen=True, config={"extra": "forbid"})
class DataDAMSettings(MatchingSettings):
    """Sajedi et al. 2023, "DataDAM: efficient dataset distillation with attention matching"; as the paper.

    Attributes:
        power: p in the attention; the paper's 4 (its code takes 1).
        attention: how attention maps are compared: by their mean as in the paper, or by the run's distance.
        attention_weight: of each layer's attention.
        embedding_weight: of the latent features, relative to attention_weight (the paper's task balance).
    """

    steps: Count = 8_000
    real_batch: Count = 64
    power: Positive = 4.0
    attention: Literal["mean", "distance"] = "mean"
    attention_weight: Positive = 100.0
    embedding_weight: NotNegative = 0.01


class DataDAM(Matching):
    """At each step, match attention maps and latent features under one fresh random network.

    loss of class c = w * (sum over layers l of D_a(a_l(T_c), a_l(S_c)) + balance * D(phi(T_c), phi(S_c)))
    with a_l = the sum over channels of |activation|^p, divided by its norm, of all layers but the last.
    """

    Settings = DataDAMSettings
    settings: DataDAMSettings

    def step(self, i: int) -> Metrics:
        """One update of all synthetic pictures."""
        network = self.fresh_network("network", i).requires_grad_(False)
        draws = generator(self.seed, "batch", i)
        classes = range(self.classes)
        real, sizes, synthetic = self.batches(classes, draws)
        with torch.no_grad():
            parts = [
                attention_and_features(network, part, self.settings.power) for part in chunks(network, real)
            ]
        *real_maps, real_features = (torch.cat(layer) for layer in zip(*parts, strict=True))
        *maps, features = attention_and_features(network, synthetic, self.settings.power)
        if not maps:
            raise ConfigError(
                f"network '{self.settings.network}' has no attention maps to match (it needs two layers of "
                "convolution and activation); choose another, such as convnet"
            )
        by = Mean() if self.settings.attention == "mean" else self.distance
        attention = sum(
            (self.compare(by, t, s, sizes, draws) for t, s in zip(real_maps, maps, strict=True)),
            start=torch.zeros(self.classes, device=self.device),
        )
        embedding = self.compare(self.distance, real_features, features, sizes, draws)
        losses = self.settings.attention_weight * (attention + self.settings.embedding_weight * embedding)
        self.descend(losses, classes)
        return {"loss": losses.mean().item(), "attention": attention.mean().item()}


def attention_and_features(network: Network, images: Tensor, power: float) -> list[Tensor]:
    """Attention maps of all activation layers but the last, [B, H * W] each, then the latent features."""
    seen: list[Tensor] = []
    hooks = [
        layer.register_forward_hook(lambda layer, given, found: seen.append(found))
        for layer in network.modules()
        if isinstance(layer, _ACTIVATIONS)
    ]
    features = network.embed(images)
    for hook in hooks:
        hook.remove()
    maps = [found.abs().pow(power).sum(dim=1).flatten(1) for found in seen[:-1] if found.ndim == 4]
    return [*(F.normalize(flat, dim=1) for flat in maps), features]

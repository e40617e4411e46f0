"""DataDAM: matching where the network looks, beside what it finds."""

from collections.abc import Sequence
from typing import Literal

import torch
import torch.nn.functional as F  # noqa: N812
from pydantic.dataclasses import dataclass
from torch import Tensor, nn

from lqm.distances.mean import Mean
from lqm.errors import ConfigError
from lqm.images.methods.dm import DM, DMSettings
from lqm.images.networks import Network, chunks
from lqm.settings import Count, NotNegative, Positive

_ACTIVATIONS = (nn.ReLU, nn.LeakyReLU, nn.PReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Tanh)


@dataclass(frozen=True, config={"extra": "forbid"})
class DataDAMSettings(DMSettings):
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


class DataDAM(DM):
    """DM, with attention maps beside the latent features.

    loss of class c = w * (sum over layers l of D_a(a_l(T_c), a_l(S_c)) + balance * D(phi(T_c), phi(S_c)))
    with a_l = the sum over channels of |activation|^p, divided by its norm, of all layers but the last.
    """

    Settings = DataDAMSettings
    settings: DataDAMSettings

    def check(self, network: Network) -> None:
        """Refuse a network without two convolutional layers whose activations are modules."""
        with torch.no_grad():
            layers = self._look(network.eval(), torch.zeros(1, *self.source.shape, device=self.device))
        if len(layers) < 2:
            raise ConfigError(
                "this network has no attention maps to match: it needs two layers of convolution and "
                "activation, the latter as modules such as nn.ReLU; choose another, such as convnet"
            )

    def losses(self, network: Network, classes: Sequence[int], draws: torch.Generator) -> Tensor:
        """Loss of each of these classes."""
        real, sizes, synthetic = self.batches(classes, draws)
        with torch.no_grad():
            parts = [self._look(network, part) for part in chunks(network, real)]
        *real_maps, real_features = (torch.cat(layer) for layer in zip(*parts, strict=True))
        *maps, features = self._look(network, synthetic)
        by = Mean() if self.settings.attention == "mean" else self.distance
        attention = torch.zeros(len(classes), device=self.device)
        for theirs, own in zip(real_maps, maps, strict=True):
            attention = attention + self.compare(by, theirs, own, sizes, draws)
        embedding = self.compare(self.distance, real_features, features, sizes, draws)
        return self.settings.attention_weight * (attention + self.settings.embedding_weight * embedding)

    def _look(self, network: Network, images: Tensor) -> list[Tensor]:
        return attention_and_features(network, images, self.settings.power)


def attention_and_features(network: Network, images: Tensor, power: float) -> list[Tensor]:
    """Attention maps of all activation layers but the last, [B, H * W] each, then the latent features."""
    seen: list[Tensor] = []
    hooks = [
        layer.register_forward_hook(lambda layer, given, found: seen.append(found))
        for layer in network.modules()
        if isinstance(layer, _ACTIVATIONS)
    ]
    try:
        features = network.embed(images)
    finally:
        for hook in hooks:
            hook.remove()
    maps = [found.abs().pow(power).sum(dim=1).flatten(1) for found in seen[:-1] if found.ndim == 4]
    return [*(F.normalize(flat, dim=1) for flat in maps), features]

"""DataDAM: matching where the network looks, beside what it finds."""

import weakref
from functools import cache
from typing import Literal

import torch
import torch.nn.functional as F  # noqa: N812
from pydantic.dataclasses import dataclass
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from lqm.distances import Distance
from lqm.distances.mean import Mean
from lqm.images.methods.dm import DM, DMSettings
from lqm.images.methods.views import View, losses_of
from lqm.images.networks import Look, Network
from lqm.images.networks.sight import Found
from lqm.utils.errors import ConfigError
from lqm.utils.settings import Count, NotNegative, Positive

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
    view_settings = (*DM.view_settings, "power")

    @property
    def look(self) -> Look:
        """Attention maps beside the latent features."""
        return Attention.of(self.settings.power)

    def check(self, network: Network) -> None:
        """Refuse a network without two convolutional layers whose activations are modules."""
        with torch.no_grad():
            found = self.look(network.eval())(torch.zeros(1, *self.source.shape, device=self.device))
        if len(found) < 2:
            raise ConfigError(
                "this network has no attention maps to match: it needs two layers of convolution and "
                "activation, the latter as modules such as nn.ReLU; choose another, such as convnet"
            )

    def distances(self, parts: int) -> list[Distance]:
        """The maps by their mean or by the run's distance, the latent features by the latter."""
        by = Mean() if self.settings.attention == "mean" else self.distance
        return [by] * (parts - 1) + [self.distance]

    def losses(self, view: View, turn: int) -> Tensor:
        """The loss of each class of a turn, [C]."""
        found = view.sight(self.own.records(self.turns[turn], view.records))
        *attention, embedding = losses_of(self.distances(len(found)), view.targets[turn], found, self.records)
        whole = torch.stack(attention).sum(dim=0) + self.settings.embedding_weight * embedding
        return self.settings.attention_weight * whole


class Attention(nn.Module):
    """Attention maps of all activation layers but the last, [B, H * W] each, then the latent features."""

    def __init__(self, network: Network, power: float) -> None:
        super().__init__()
        self.network, self._power = network, power
        self._seen: list[Tensor] = []
        seen = self._seen
        hooks = [
            layer.register_forward_hook(lambda layer, given, found: seen.append(found))
            for layer in network.modules()
            if isinstance(layer, _ACTIVATIONS)
        ]
        # The network may outlive this: one of the user's own may be the same at every step.
        weakref.finalize(self, _remove, hooks)

    @staticmethod
    @cache
    def of(power: float) -> Look:
        """The look with this power; the same object for the same power."""
        return lambda network: Attention(network, power)

    def forward(self, images: Tensor) -> Found:
        """Images [B, C, H, W] to maps and features."""
        self._seen.clear()
        features = self.network.embed(images)
        seen = [found for found in self._seen[:-1] if found.ndim == 4]
        self._seen.clear()
        maps = [found.abs().pow(self._power).sum(dim=1).flatten(1) for found in seen]
        return (*(F.normalize(flat, dim=1) for flat in maps), features)


def _remove(hooks: list[RemovableHandle]) -> None:
    for hook in hooks:
        hook.remove()

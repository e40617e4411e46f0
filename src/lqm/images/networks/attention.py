"""The attention maps of DataDAM beside the latent features."""

import weakref
from functools import cache

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from lqm.images.networks.encoder import Readout, Readouts
from lqm.images.networks.network import Network

_ACTIVATIONS = (nn.ReLU, nn.LeakyReLU, nn.PReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Tanh)


class Attention(nn.Module):
    """Attention maps of all activation layers but the last, [B, H * W] each, then the latent features.

    a_l = the sum over channels of |activation|^p, divided by its norm (Sajedi et al. 2023)
    """

    def __init__(self, network: Network, power: float) -> None:
        super().__init__()
        self.network, self._power = network, power
        outputs = self._outputs = list[Tensor]()
        hooks = [
            layer.register_forward_hook(lambda layer, inputs, output: outputs.append(output))
            for layer in network.modules()
            if isinstance(layer, _ACTIVATIONS)
        ]
        # The network may outlive this: one of the user's own may be the same at every step.
        weakref.finalize(self, _remove, hooks)

    @staticmethod
    @cache
    def of(power: float) -> Readout:
        """The readout with this power; the same object for the same power."""
        return lambda network: Attention(network, power)

    def forward(self, images: Tensor) -> Readouts:
        """Images [B, C, H, W] to maps and features."""
        self._outputs.clear()
        features = self.network.embed(images)
        spatial = [output for output in self._outputs[:-1] if output.ndim == 4]
        self._outputs.clear()
        maps = [output.abs().pow(self._power).sum(dim=1).flatten(1) for output in spatial]
        return (*(F.normalize(flat, dim=1) for flat in maps), features)


def _remove(hooks: list[RemovableHandle]) -> None:
    for hook in hooks:
        hook.remove()

"""The attention maps of DataDAM beside the latent features."""

from functools import cache

import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.images.networks.activations import Activations
from lqm.images.networks.encoder import Readout, Readouts
from lqm.methods.networks import Network


class Attention(Activations):
    """Attention maps of all activation layers but the last, [B, H * W] each, then the latent features.

    a_l = the sum over channels of |activation|^p, divided by its norm (Sajedi et al. 2023)
    """

    def __init__(self, network: Network, power: float) -> None:
        super().__init__(network)
        self._power = power

    @staticmethod
    @cache
    def of(power: float) -> Readout:
        """The readout with this power; the same object for the same power."""
        return lambda network: Attention(network, power)

    def forward(self, images: Tensor) -> Readouts:
        """Images [B, C, H, W] to maps and features."""
        outputs, features = self.recorded(images)
        spatial = [output for output in outputs[:-1] if output.ndim == 4]
        maps = [output.abs().pow(self._power).sum(dim=1).flatten(1) for output in spatial]
        return (*(F.normalize(flat, dim=1) for flat in maps), features)

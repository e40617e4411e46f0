"""What the activation layers of a network give, beside the latent features."""

import weakref

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from lqm.images.networks.encoder import Readouts
from lqm.methods.networks import Network

_ACTIVATIONS = (nn.ReLU, nn.LeakyReLU, nn.PReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Tanh)


class Activations(nn.Module):
    """A network whose activation layers, such as nn.ReLU, are recorded."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        outputs = self._outputs = list[Tensor]()
        hooks = [
            layer.register_forward_hook(lambda layer, inputs, output: outputs.append(output))
            for layer in network.modules()
            if isinstance(layer, _ACTIVATIONS)
        ]
        # The network may outlive this: one of the user's own may be the same at every step.
        weakref.finalize(self, _remove, hooks)

    def recorded(self, images: Tensor) -> tuple[list[Tensor], Tensor]:
        """Images [B, C, H, W] to what each activation layer gives, in order, and the latent features."""
        self._outputs.clear()
        features = self.network.embed(images)
        outputs = list(self._outputs)
        self._outputs.clear()
        return outputs, features


class LayerMaps(Activations):
    """The maps of all activation layers, flattened to [B, C * H * W], then the latent features."""

    def forward(self, images: Tensor) -> Readouts:
        """Images [B, C, H, W] to maps and features."""
        outputs, features = self.recorded(images)
        return (*(output.flatten(1) for output in outputs if output.ndim == 4), features)


def _remove(hooks: list[RemovableHandle]) -> None:
    for hook in hooks:
        hook.remove()

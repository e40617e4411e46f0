"""Steps towards flat minima: adaptive SAM with the surrogate gap, around any optimiser."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lqm.images.networks import Network

_TINY = 1e-12


@dataclass(frozen=True)
class FlatGradients:
    """Gradients that lead to where the loss is low all around (Kwon et al. 2021, Zhuang et al. 2022).

    With g the gradient at the weights w, and all weights as one vector:

        e  = rho * w^2 g / || |w| g ||          the step up, elementwise, by the size of each weight
        g2 = gradient at w + e
        v  = g - (g . g2) / ||g2||^2 * g2       what of g is orthogonal to g2
        the optimiser gets g2 - alpha * v, at w

    Attributes:
        rho: length of the step up.
        alpha: weight of the surrogate gap; with 0 this is adaptive SAM.
    """

    rho: float
    alpha: float

    def replace(self, network: Network, loss: Callable[[], Tensor]) -> None:
        """Put these in place of the gradients that the parameters of a network have.

        Args:
            network: whose weights and running statistics are the same afterwards.
            loss: computes the loss at the weights as they are, on the batch that the gradients are of.
        """
        parameters = [weight for weight in network.parameters() if weight.grad is not None]
        first = [weight.grad for weight in parameters if weight.grad is not None]
        changed = [*parameters, *network.buffers()]
        kept = [tensor.detach().clone() for tensor in changed]
        with torch.no_grad():
            uphill = [weight.abs() * slope for weight, slope in zip(parameters, first, strict=True)]
            share = self.rho / (_dot(uphill, uphill).sqrt() + _TINY)
            for weight, own in zip(parameters, uphill, strict=True):
                weight.add_(share * weight.abs() * own)
        second = torch.autograd.grad(loss(), parameters)
        with torch.no_grad():
            for tensor, before in zip(changed, kept, strict=True):
                tensor.copy_(before)
            along = _dot(first, second) / (_dot(second, second) + _TINY**2)
            for weight, here, there in zip(parameters, first, second, strict=True):
                weight.grad = there - self.alpha * (here - along * there)


def _dot(one: Sequence[Tensor], other: Sequence[Tensor]) -> Tensor:
    return torch.stack([(a * b).sum() for a, b in zip(one, other, strict=True)]).sum()

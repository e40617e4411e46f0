"""phi in S* = argmin D(phi(T), phi(S)), of tables: fresh random networks."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lqm.methods.encoders import Encoders
from lqm.methods.networks import Network
from lqm.tabular.problem import TableProblem

# Rows whose latent features are found at a time.
_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class Encoder:
    """The latent features of a network, and its logits nowhere."""

    network: Network

    @property
    def metrics(self) -> dict[str, float]:
        """A random network has nothing to log."""
        return {}

    def readouts(self, rows: Tensor) -> tuple[Tensor, ...]:
        """The latent features, with gradients."""
        return (self.network.embed(rows),)

    @torch.no_grad()
    def encode(self, rows: Tensor) -> tuple[Tensor, ...]:
        """The same without gradients, for any number of rows."""
        return (torch.cat([self.network.embed(part) for part in rows.split(_AT_ONCE)]),)


class FreshEncoders(Encoders):
    """A fresh random network for each step."""

    def __init__(self, problem: TableProblem, spec: str) -> None:
        self._problem, self._spec = problem, spec

    def at(self, n: int) -> Encoder:
        """Encoder number n."""
        return self._encoder("network", n)

    def stored(self, n: int) -> dict[str, Tensor]:
        """The weights of encoder n of a sketch."""
        return self._encoder("sketch", n).network.state_dict()

    def loaded(self, weights: dict[str, Tensor]) -> Encoder:
        """The encoder of a sketch's weights."""
        encoder = self._encoder("sketch", 0)
        encoder.network.load_state_dict(weights)
        return encoder

    def _encoder(self, purpose: str, n: int) -> Encoder:
        return Encoder(self._problem.fresh_network(self._spec, purpose, n).requires_grad_(False))

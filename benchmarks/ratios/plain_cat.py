"""CaT with quantiles as the field writes it: dense, one task, one class at a time, `torch.quantile`."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from lqm.distances.levels import cramer_von_mises_levels


class PlainCaT:
    """Condenses the classes of one task; the propagated features are dense, and computed once.

    Args:
        propagated: features of the task's training nodes, [N, F].
        labels: their classes, [N].
        first: what the synthetic nodes are at first, class after class, [M, F].
        counts: synthetic nodes of each class.
        weights: those of encoder i; a fresh layer's if not given.
    """

    def __init__(
        self,
        propagated: Tensor,
        labels: Tensor,
        first: Tensor,
        counts: Sequence[int],
        *,
        width: int = 512,
        weights: Callable[[int], Tensor] | None = None,
    ) -> None:
        self.propagated, self.labels, self.counts, self.weights = propagated, labels, counts, weights
        self.layer = nn.Linear(propagated.shape[1], width, bias=False).requires_grad_(False)
        self.features = nn.Parameter(first.clone())
        self.classes = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
        self.optimizer = torch.optim.Adam([self.features], lr=1e-3)

    def step(self, i: int) -> float:
        """One update by encoder i; gives its loss."""
        layer = self.layer
        nn.init.xavier_uniform_(layer.weight)
        if self.weights:
            layer.weight.data = self.weights(i).T
        with torch.no_grad():
            real = F.normalize(torch.relu(layer(self.propagated)), dim=1)
        synthetic = F.normalize(torch.relu(layer(self.features)), dim=1)
        loss = torch.zeros(())
        for label, count in enumerate(self.counts):
            sample = real[self.labels == label]
            loss = loss + (
                (hazen(sample, count) - synthetic[self.classes == label].sort(dim=0).values).square().sum()
                / count
            )
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def hazen(sample: Tensor, count: int) -> Tensor:
    """Hazen's quantiles by torch's: level q stands at n q - 1/2, which torch calls (n q - 1/2) / (n - 1)."""
    n = len(sample)
    levels = torch.tensor(cramer_von_mises_levels(count).levels, dtype=torch.float64)
    positions = ((n * levels - 0.5) / max(n - 1, 1)).clamp(0, 1)
    return torch.quantile(sample, positions.to(sample.dtype), dim=0)

"""Column quantiles of the real side, at the shape of CIFAR-10 under the field's network."""

from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.ratios.timing import Work
from lqm.distances.levels import cramer_von_mises_levels
from lqm.distances.quantiles import column_quantiles

_LEVELS = cramer_von_mises_levels(10).levels


def _plain() -> Callable[[], object]:
    sample, levels = _sample(), torch.tensor(_LEVELS, dtype=torch.float32)
    return lambda: torch.quantile(sample, levels, dim=1)


def _ours() -> Callable[[], object]:
    sample = _sample()
    return lambda: column_quantiles(sample, _LEVELS)


def _sample() -> Tensor:
    return torch.randn(10, 256, 2048).relu()


WORK = Work("10 quantiles of 10 classes x 256 x 2048", "torch.quantile", _plain, _ours, rounds=15, at_least=8)

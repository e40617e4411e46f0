"""Column quantiles of the real side, at the shape of CIFAR-10 under the field's network."""

import torch

from benchmarks.timing import Comparison, interleaved
from lqm.distances.levels import cramer_von_mises_levels
from lqm.distances.quantiles import column_quantiles


def measure() -> Comparison:
    sample = torch.randn(10, 256, 2048).relu()
    levels = cramer_von_mises_levels(10).levels
    as_tensor = torch.tensor(levels, dtype=torch.float32)
    plain, ours = interleaved(
        lambda: torch.quantile(sample, as_tensor, dim=1), lambda: column_quantiles(sample, levels), rounds=9
    )
    work = "10 quantiles of 10 classes x 256 x 2048"
    return Comparison(work, "torch.quantile", plain, ours, at_least=8)

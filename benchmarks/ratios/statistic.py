"""The two-sample Cramer-von Mises statistic of 2,048 features."""

from collections.abc import Callable

import torch
from scipy.stats import cramervonmises_2samp
from torch import Tensor

from benchmarks.ratios.timing import Work
from lqm.evaluation.diagnostics import cramer_von_mises

# Ours takes milliseconds, in which a process that has waited is not yet awake.
_TIMES = 4


def _plain() -> Callable[[], object]:
    real, synthetic = (sample.numpy() for sample in _samples())
    return lambda: [
        cramervonmises_2samp(real[:, j], synthetic[:, j]) for _ in range(_TIMES) for j in range(2048)
    ]


def _ours() -> Callable[[], object]:
    real, synthetic = _samples()
    return lambda: [cramer_von_mises(real, synthetic) for _ in range(_TIMES)]


def _samples() -> tuple[Tensor, Tensor]:
    return torch.randn(256, 2048), torch.randn(10, 2048)


WORK = Work(
    f"{_TIMES} times Cramer-von Mises of 2048 features, 256 against 10",
    "a loop over SciPy",
    _plain,
    _ours,
    rounds=5,
    at_least=50,
)

"""The two-sample Cramer-von Mises statistic of 2,048 features."""

import torch
from scipy.stats import cramervonmises_2samp

from benchmarks.timing import Comparison, interleaved
from lqm.diagnostics import cramer_von_mises


def measure() -> Comparison:
    real, synthetic = torch.randn(256, 2048), torch.randn(10, 2048)

    def scipy_loop() -> None:
        for feature in range(2048):
            cramervonmises_2samp(real[:, feature].numpy(), synthetic[:, feature].numpy())

    plain, ours = interleaved(scipy_loop, lambda: cramer_von_mises(real, synthetic), rounds=3)
    work = "Cramer-von Mises of 2048 features, 256 against 10"
    return Comparison(work, "a loop over SciPy", plain, ours, at_least=50)

"""Sets of real rows that a condensed set is compared with."""

from collections.abc import Callable, Sequence

import torch

from lqm.evaluation.scores import for_each_network
from lqm.tabular.choosing import chosen_rows
from lqm.tabular.sources import Rows, TableSource

BASELINES = ("random", "herding", "full")
MORE_BASELINES = ("k-centre", "k-means")


def baseline(name: str, source: TableSource, counts: Sequence[int], seed: int) -> Callable[[int], Rows]:
    """The standardised rows that network j is trained on: other random ones for each, else the same."""
    if name == "full":
        return lambda j: source.standardised_train
    labels = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    return for_each_network(name, lambda j: Rows(chosen_rows(name, source, counts, seed, j), labels))

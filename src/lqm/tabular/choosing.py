"""Real rows that stand for their class: coresets, baselines, and the first rows of a synthetic set."""

from collections.abc import Sequence

import torch
from torch import Tensor

from lqm.engine.randomness import generator
from lqm.methods.rules import RULES
from lqm.tabular.sources import TableSource


def chosen_rows(rule: str, source: TableSource, counts: Sequence[int], seed: int, index: int = 0) -> Tensor:
    """Distinct standardised training rows of each class, [sum of counts, F]: at random or by one of `RULES`.

    The rules look at the standardised features themselves.
    """
    chosen = []
    for label, (rows, count) in enumerate(zip(source.by_class, counts, strict=True)):
        draws = generator(seed, f"rows of class {label}", index)
        if rule == "random":
            places = torch.randperm(len(rows), generator=draws)[:count]
        else:
            places = RULES[rule](rows, count, draws)
        chosen.append(rows[places])
    return torch.cat(chosen)

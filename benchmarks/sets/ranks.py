"""How well few images rank configurations as all images do, from the lines of `benchmarks.sets.proxy`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchmarks.sets.proxy import SETS
from lqm.evaluation.markdown import markdown
from lqm.evaluation.spread import in_points
from lqm.utils.errors import DataError
from lqm.utils.sentences import counted

Numbers = NDArray[np.float64]
Statistic = Callable[[Numbers, Numbers], Numbers]
_RESAMPLES = 2000
_HEADER = (
    "trained on",
    "images",
    "seconds to make",
    "seconds to train all",
    "mean test accuracy %",
    "Spearman",
    "Kendall",
    "Spearman, better half",
    "regret, points",
)


@dataclass(frozen=True)
class Ranking:
    """Configurations by one training set, and by all training images.

    Attributes:
        by_set: accuracy of each configuration on validation images, after training on the set.
        by_full: accuracy of each on test images, after training on all.
    """

    by_set: Numbers
    by_full: Numbers

    @property
    def regret(self) -> float:
        """Test accuracy, after training on all images, of what the set picks, less that of the best."""
        return float(self.by_full[self.by_set.argmax()] - self.by_full.max())

    def of_better_half(self) -> "Ranking":
        """The half of the configurations that all images rank highest, among which a person has to choose."""
        chosen = np.argsort(-self.by_full, kind="stable")[: (len(self.by_full) + 1) // 2]
        return Ranking(self.by_set[chosen], self.by_full[chosen])

    def interval(self, statistic: Statistic) -> tuple[float, float]:
        """The 95 % percentile interval of the bootstrap over configurations, from a fixed seed."""
        draws, count = np.random.default_rng(0), len(self.by_set)
        chosen = draws.integers(count, size=(_RESAMPLES, count))
        found = statistic(self.by_set[chosen], self.by_full[chosen])
        low, high = np.nanpercentile(found, [2.5, 97.5])
        return float(low), float(high)


def complete(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines of configurations that all sets have with the first seed, and of seeds that have all these.

    Raises:
        DataError: when there is none.
    """
    found = {(line["seed"], line["set"], line["configuration"]) for line in lines}
    first = min(line["seed"] for line in lines)
    configurations = {number for _, _, number in found if {(first, name, number) for name in SETS} <= found}
    if not configurations:
        raise DataError("no configuration has a line for every set; measure on")
    seeds = {
        seed for seed, _, _ in found if {(seed, *pair) for pair in product(SETS, configurations)} <= found
    }
    return [line for line in lines if line["seed"] in seeds and line["configuration"] in configurations]


def means(lines: Sequence[dict[str, Any]], name: str, part: str) -> Numbers:
    """The accuracy of each configuration on a part of the data, as the mean over seeds."""
    numbers = sorted({line["configuration"] for line in lines})
    return np.array(
        [
            np.mean([line[part] for line in lines if (line["set"], line["configuration"]) == (name, number)])
            for number in numbers
        ]
    )


def table(lines: Sequence[dict[str, Any]]) -> str:
    """A row for each training set, as Markdown, and a line of what it is made of."""
    lines = complete(lines)
    seeds = {line["seed"] for line in lines}
    truth = means(lines, "full", "test")
    rows = [_row(name, lines, len(seeds), truth) for name in SETS]
    return (
        f"{markdown(_HEADER, rows)}\n\n"
        f"{len(truth)} configurations, {counted(len(seeds), 'seed', 'seeds')}; on all images the best "
        f"configuration has {100 * truth.max():.1f} % of the test images right, the median one "
        f"{100 * np.median(truth):.1f} %, "
        f"the worst {100 * truth.min():.1f} %. {_paid_back(lines, len(truth) * len(seeds))}"
    )


def _paid_back(lines: Sequence[dict[str, Any]], count: int) -> str:
    """After how many configurations condensing has taken less time than training on all images would have."""
    each = {
        name: sum(line["processor_seconds"] for line in lines if line["set"] == name) / count
        for name in ("condensed", "full")
    }
    made = {line["seed"]: line["set_seconds"] for line in lines if line["set"] == "condensed"}
    saved = each["full"] - each["condensed"]
    if saved <= 0:
        return "Training on the condensed set takes no less time than training on all images."
    return (
        f"The condensed set saves {saved:.1f} s a configuration, and has paid for itself after "
        f"{ceil(sum(made.values()) / len(made) / saved)} of them."
    )


def _row(name: str, lines: Sequence[dict[str, Any]], seeds: int, truth: Numbers) -> tuple[str, ...]:
    own = [line for line in lines if line["set"] == name]
    ranking = Ranking(means(lines, name, "validation"), truth)
    made = sum({line["seed"]: line["set_seconds"] for line in own}.values()) / seeds
    return (
        name,
        f"{own[0]['images']:,}",
        f"{made:.0f}",
        f"{sum(line['processor_seconds'] for line in own) / seeds:.0f}",
        f"{100 * means(lines, name, 'test').mean():.1f}",
        _shown(ranking, spearman),
        _shown(ranking, kendall),
        _shown(ranking.of_better_half(), spearman),
        in_points(ranking.regret),
    )


def _shown(ranking: Ranking, statistic: Statistic) -> str:
    low, high = ranking.interval(statistic)
    return f"{statistic(ranking.by_set, ranking.by_full):.2f} ({low:.2f} to {high:.2f})"


def spearman(one: Numbers, other: Numbers) -> Numbers:
    """The correlation of ranks along the last axis; NaN where one side is constant."""
    one, other = (rankdata(each, axis=-1) for each in (one, other))
    return _cosine(one - one.mean(axis=-1, keepdims=True), other - other.mean(axis=-1, keepdims=True))


def kendall(one: Numbers, other: Numbers) -> Numbers:
    """Tau-b along the last axis: pairs in the same order less those in the other, by all that are untied."""
    one, other = (np.sign(each[..., :, None] - each[..., None, :]) for each in (one, other))
    return _cosine(one.reshape(*one.shape[:-2], -1), other.reshape(*other.shape[:-2], -1))


def _cosine(one: Numbers, other: Numbers) -> Numbers:
    with np.errstate(invalid="ignore"):
        found: Numbers = (one * other).sum(-1) / np.sqrt((one**2).sum(-1) * (other**2).sum(-1))
    return found

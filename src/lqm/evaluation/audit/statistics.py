"""The statistics of an audit: areas and rates of attacks with their intervals, and likelihood ratios."""

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, sqrt

import torch
import torch.nn.functional as F  # noqa: N812
from scipy.optimize import brentq
from scipy.stats import beta, hypergeom, norm, rankdata
from torch import Tensor

from lqm.engine.randomness import generator

_LEVEL = 0.95
_END = 1e-12
_RESAMPLES = 1000
# A share of the variance below which the scores of shadow networks are all the same.
_NO_SPREAD = 1e-6


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float

    def shown(self, format: Callable[[float], str]) -> str:
        """The number and its interval.

        Example:
            >>> Estimate(0.5, 0.41, 0.59).shown("{:.2f}".format)
            '0.50 [0.41, 0.59]'
        """
        return f"{format(self.value)} [{format(self.low)}, {format(self.high)}]"


def share(successes: int, trials: int) -> Estimate:
    """A share with its exact interval (Clopper & Pearson 1934).

    Example:
        >>> share(10, 10).shown("{:.3f}".format)
        '1.000 [0.692, 1.000]'
    """
    tail = (1 - _LEVEL) / 2
    low = beta.ppf(tail, successes, trials - successes + 1) if successes else 0.0
    high = beta.ppf(1 - tail, successes + 1, trials - successes) if successes < trials else 1.0
    return Estimate(successes / trials, float(low), float(high))


def is_more_often(successes: int, trials: int, others: int, other_trials: int) -> bool:
    """Whether a share is above another one beyond chance (Fisher's exact test, one-sided at 2.5 %).

    Example:
        >>> is_more_often(1, 100, 0, 100), is_more_often(10, 100, 0, 100)
        (False, True)
    """
    chance = hypergeom.sf(successes - 1, trials + other_trials, successes + others, trials)
    return bool(chance <= (1 - _LEVEL) / 2)


def area(members: Tensor, others: Tensor) -> Estimate:
    """The area under the ROC curve: how often a member scores higher than another record, ties for half.

    The interval is Newcombe's (2006, method 5), which solves |t - area| = z * s(t) for t, with the standard
    error s of Hanley & McNeil (1982). Unlike DeLong's and the bootstrap's it has a width at areas 0 and 1.

    Shapes: members [n], others [m]: scores.
    """
    n, m = len(members), len(others)
    ranks = rankdata(torch.cat([members, others]).double().numpy())[:n]
    value = float((ranks.sum() - n * (n + 1) / 2) / (n * m))
    z = float(norm.ppf((1 + _LEVEL) / 2))

    def error(t: float) -> float:
        more = ((n + m) / 2 - 1) * ((1 - t) / (2 - t) + t / (1 + t))
        return sqrt(max(t * (1 - t) * (1 + more), 0.0) / (n * m))

    # At the ends the error is 0, so that 0 and 1 solve the equation too; the other solution is meant.
    low = brentq(lambda t: value - t - z * error(t), 0.0, value - _END) if value > _END else 0.0
    high = brentq(lambda t: t - value - z * error(t), value + _END, 1.0) if value < 1 - _END else 1.0
    return Estimate(value, float(low), float(high))


def rate_at(members: Tensor, others: Tensor, false_rate: float) -> Estimate | None:
    """The share of members above the lowest threshold that at most `false_rate` of the others exceed.

    None where there are too few others for one of them to be above it. The interval is the wider of the exact
    one for the threshold as it is, and one in which the threshold is an estimate too: whatever the scores
    are, the false positive rates at the others' own scores are spaced as by a Dirichlet distribution of ones
    (the Bayesian bootstrap, Rubin 1981), also beyond the highest of them, where no resample reaches. Between
    these points the curve is taken for straight.
    """
    n, m = len(members), len(others)
    allowed = floor(false_rate * m + 1e-9)
    if not allowed:
        return None
    falling, rising = others.double().sort(descending=True).values, members.double().sort().values
    found = int((rising > falling[allowed]).sum())
    draws = generator(0, "threshold")
    spaces = torch.empty(_RESAMPLES, m + 1, dtype=torch.float64).exponential_(generator=draws)
    false = F.pad(spaces.cumsum(dim=1) / spaces.sum(dim=1, keepdim=True), (1, 0))
    true = F.pad(1 - torch.searchsorted(rising, falling, right=True).double() / n, (1, 1))
    true[-1] = 1
    place = (false < false_rate).sum(dim=1, keepdim=True) - 1
    before, after = (false.gather(1, place + step)[:, 0] for step in (0, 1))
    place = place[:, 0]
    above = torch.lerp(true[place], true[place + 1], (false_rate - before) / (after - before))
    counts = torch.binomial(torch.full_like(above, n), above, generator=draws)
    low, high = _middle(counts / n)
    exact = share(found, n)
    return Estimate(exact.value, min(exact.low, low), max(exact.high, high))


def mean(values: Tensor, draws: torch.Generator) -> Estimate:
    """A mean with the percentile interval of 1,000 bootstrap resamples, [n] to one number."""
    chosen = torch.randint(len(values), (_RESAMPLES, len(values)), generator=draws)
    resampled = values.double()[chosen].mean(dim=1)
    return Estimate(float(values.double().mean()), *_middle(resampled))


def _middle(values: Tensor) -> tuple[float, float]:
    """The bounds of the middle 95 %."""
    tail = (1 - _LEVEL) / 2
    low, high = torch.quantile(values, torch.tensor([tail, 1 - tail], dtype=torch.float64)).tolist()
    return low, high


def log_ratio(target: Tensor, shadows: Tensor, inside: Tensor) -> Tensor:
    """How much likelier a score is if the record was a member (Carlini et al. 2022, LiRA, online), as a log.

    log N(s; mean_in, v_in) - log N(s; mean_out, v_out), with means of each record and, as they advise for few
    shadow networks, one variance of all records for each side.

    Shapes: target [n]; shadows and inside (which records each was made of) [shadows, n]; every record is in
    some and not in others.
    """
    sides = []
    for chosen in (inside, ~inside):
        counts = chosen.sum(dim=0)
        means = torch.where(chosen, shadows, 0.0).sum(dim=0) / counts
        squares = torch.where(chosen, (shadows - means).square(), 0.0).sum()
        freedom = (counts - 1).sum().clamp_min(1)
        variance = (squares / freedom).clamp_min(_NO_SPREAD * shadows.var().clamp_min(_NO_SPREAD))
        sides.append(-(target - means).square() / (2 * variance) - variance.log() / 2)
    return sides[0] - sides[1]

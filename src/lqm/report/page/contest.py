"""Which of several sets is best, in a sentence that says no more than a two-sided sign test does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from lqm.evaluation.cases import Case, alike
from lqm.evaluation.significance import FEWEST_SIGNS, LEVEL, sign_test
from lqm.evaluation.standing import Bar


@dataclass(frozen=True)
class Rival:
    """What is compared: a set, or runs that differ by their seed alone.

    Attributes:
        each: the value under each network of the set, or of each condensation seed.
        condensations: how many sets are compared that differ by their seed alone, this one among them.
    """

    name: str
    mean: float
    each: dict[int, float]
    condensations: int


@dataclass(frozen=True)
class Contest:
    """The best of several and the next best, and what their values are paired by.

    Attributes:
        of_methods: whether both were condensed by several seeds, so that more than two sets are compared.
    """

    best: Rival
    next_best: Rival
    of_methods: bool

    def sentence(self, claim: str, better: str) -> str:
        """The claim that the best is `better`, if the sign test bears it; else that this is not clear."""
        sign = 1 if self.best.mean > self.next_best.mean else -1
        paired = self.best.each.keys() & self.next_best.each.keys()
        differences = [sign * (self.best.each[key] - self.next_best.each[key]) for key in paired]
        so = f"{sum(each > 0 for each in differences)} of {len(paired)}"
        among = f"for {so} condensation seeds" if self.of_methods else f"under {so} networks"
        if sign_test(differences) <= LEVEL:
            return f"{claim} ({better} {among}{self._about()})"
        few = f"; fewer than {FEWEST_SIGNS} are too few to tell" if len(paired) < FEWEST_SIGNS else ""
        best, other = self.best.name, self.next_best.name
        return f"{best} and {other} can't be told apart ({best} is {better} {among}{few})"

    def _about(self) -> str:
        """What a sentence about two sets is not to be taken for: one about their methods."""
        if self.of_methods:
            return ""
        single = self.best.condensations == self.next_best.condensations == 1
        return "; one condensation of each" if single else "; these two sets alone, of more condensations"


def contest(
    bars: Mapping[int, Bar],
    cases: Sequence[Case],
    mean: Callable[[Bar], float],
    by_network: Callable[[Bar], Sequence[float]],
    *,
    lowest: bool = False,
) -> Contest | None:
    """The two best of some sets, by the number of their case; None where fewer than two have values.

    Where all methods have several condensation seeds in common, methods are compared, by seed; else set by
    set, by network: number j begins as the same for every set.
    """
    if len(bars) < 2:
        return None
    numbers = [*bars]
    groups: dict[str, dict[int, Bar]] = {}
    sizes: dict[str, int] = {}
    for label, places in alike([cases[number] for number in numbers]).items():
        own = [numbers[place] for place in places]
        groups[label] = {int(cases[number].manifest["seed"]): bars[number] for number in own}
        sizes |= {bars[number].name: len(own) for number in own}
    common = set.intersection(*({*runs} for runs in groups.values()))
    of_methods = len(groups) > 1 and len(common) > 1
    if of_methods:
        seeds = {label: {seed: mean(runs[seed]) for seed in common} for label, runs in groups.items()}
        rivals = [Rival(label, fmean(each.values()), each, len(each)) for label, each in seeds.items()]
    else:
        networks = {bar.name: (bar, dict(enumerate(by_network(bar)))) for bar in bars.values()}
        rivals = [Rival(name, mean(bar), each, sizes[name]) for name, (bar, each) in networks.items() if each]
    if len(rivals) < 2:
        return None
    best, next_best = sorted(rivals, key=lambda rival: rival.mean, reverse=not lowest)[:2]
    return Contest(best, next_best, of_methods)

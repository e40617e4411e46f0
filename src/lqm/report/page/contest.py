"""Which of several sets is best, in a sentence that says no more than a test at 5 % does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from lqm.evaluation.cases import Case, alike
from lqm.evaluation.paired import Paired, p_in_words
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
        lowest: whether the lowest value is best, as of a statistic; else values are accuracies.
    """

    best: Rival
    next_best: Rival
    of_methods: bool
    lowest: bool

    def sentence(self, claim: str, better: str) -> str:
        """The claim that the best is `better`, if a test bears it; else that this is not clear.

        Of methods, pairs by seed bear it if the t interval of their difference leaves out 0; of two sets,
        networks by a sign test.
        """
        sign = -1 if self.lowest else 1
        paired = sorted(self.best.each.keys() & self.next_best.each.keys())
        differences = tuple(sign * (self.best.each[key] - self.next_best.each[key]) for key in paired)
        so = f"{sum(each > 0 for each in differences)} of {len(paired)}"
        if self.of_methods:
            found = Paired(differences)
            clear, among = found.verdict == "better", f"{better} for {so} condensation seeds"
            more = f": p {p_in_words(found.p, '= ')}" if self.lowest else f": {found}"
        else:
            clear, among = sign_test(differences) <= LEVEL, f"{better} under {so} networks"
            few = f"; fewer than {FEWEST_SIGNS} are too few to tell" if len(paired) < FEWEST_SIGNS else ""
            more = self._about() if clear else few
        if clear:
            return f"{claim} ({among}{more})"
        best, other = self.best.name, self.next_best.name
        return f"{best} and {other} can't be told apart ({best} is {among}{more})"

    def _about(self) -> str:
        """What a sentence about two sets is not to be taken for: one about their methods."""
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
    return Contest(best, next_best, of_methods, lowest)

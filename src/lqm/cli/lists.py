"""Several values of one option, such as `1,10,50` and `0..4`, and the runs that they ask for."""

from itertools import product
from typing import NamedTuple

from lqm.utils.numbers import whole_numbers


class Run(NamedTuple):
    """One of the runs that a command asks for; what was not given is None."""

    per_class: int | None
    budget: str | None
    seed: int

    @property
    def name(self) -> str:
        """A folder's name for it.

        Example:
            >>> Run(10, None, 3).name, Run(None, "0.5%", 0).name, Run(None, None, 1).name
            ('10-seed-3', '0.5-percent-seed-0', 'seed-1')
        """
        size = "" if self.per_class is None else f"{self.per_class}-"
        share = "" if self.budget is None else f"{self.budget.replace('%', '-percent')}-"
        return f"{size}{share}seed-{self.seed}"

    @property
    def size(self) -> tuple[int, bool, float]:
        """Larger for a larger set; numbers of nodes come after shares, which can't be compared with them."""
        budget = self.budget or "0"
        return self.per_class or 0, not budget.endswith("%"), float(budget.rstrip("%"))


def runs_of(per_class: str | None, budget: str | None, seed: str) -> list[Run]:
    """Every combination of the values of `--per-class`, `--budget` and `--seed`.

    Raises:
        ConfigError: for the first value that can't be used.

    Example:
        >>> [run.name for run in runs_of("1,10", None, "0..1")]
        ['1-seed-0', '1-seed-1', '10-seed-0', '10-seed-1']
    """
    sizes = [None] if per_class is None else whole_numbers("--per-class", per_class, least=1)
    shares = [None] if budget is None else budgets(budget)
    return [Run(*values) for values in product(sizes, shares, whole_numbers("--seed", seed))]


def budgets(text: str) -> list[str]:
    """The budgets of a list such as `40,5%`, each of them once.

    Raises:
        ConfigError: for the first that is none.

    Example:
        >>> budgets("1%, 5%,40")
        ['1%', '5%', '40']
    """
    from lqm.graphs.budget import parse_budget

    words = [word.strip() for word in text.split(",")]
    for word in words:
        parse_budget(word, 1)
    return list(dict.fromkeys(words))

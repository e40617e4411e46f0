"""Several values of one option, such as `1,10,50` and `0..4`, and the runs that they ask for."""

from itertools import product
from typing import Annotated, NamedTuple

from lqm.utils.errors import ConfigError

_LARGEST = 10**18
_MOST = 1000


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


def whole_numbers(option: str, text: str, *, least: int | None = None) -> list[int]:
    """The numbers of a list such as `0,3,5` or `0..4`, which includes 4; each of them once.

    Raises:
        ConfigError: naming the option.

    Example:
        >>> whole_numbers("--seed", "7"), whole_numbers("--seed", "0,3..5,3")
        ([7], [0, 3, 4, 5])
        >>> whole_numbers("-s", "x")
        Traceback (most recent call last):
        lqm.utils.errors.ConfigError: -s x can't be used: give whole numbers, such as 3 or 1,10,50 or 1..4
    """
    from pydantic import Field, TypeAdapter, ValidationError

    numbers: list[int] = []
    low = -_LARGEST if least is None else least
    kind = TypeAdapter(list[Annotated[int, Field(ge=low, le=_LARGEST)]])
    for piece in text.split(","):
        try:
            ends = kind.validate_python(piece.split(".."))
        except ValidationError:
            ends = []
        if len(ends) not in (1, 2) or ends[-1] < ends[0]:
            right = "" if least is None else f" from {least} on"
            raise ConfigError(
                f"{option} {text} can't be used: give whole numbers{right}, such as 3 or 1,10,50 or 1..4"
            )
        if ends[-1] - ends[0] >= _MOST:
            raise ConfigError(f"{option} {text} can't be used: give at most {_MOST:,} values at a time")
        numbers += range(ends[0], ends[-1] + 1)
    return list(dict.fromkeys(numbers))


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

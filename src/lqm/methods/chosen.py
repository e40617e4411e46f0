"""Methods that choose real records and learn nothing."""

from collections.abc import Callable

from torch import Tensor

from lqm.condensed import CondensedSet
from lqm.engine import Metrics


class Chosen:
    """A method whose result is chosen at once; its one step does nothing.

    Args:
        choose: gives the set.
    """

    def __init__(self, choose: Callable[[], CondensedSet]) -> None:
        self._choose = choose

    def step(self, i: int) -> Metrics:
        """Nothing is learned."""
        return {}

    def state(self) -> dict[str, Tensor]:
        """Nothing is kept."""
        return {}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Nothing is kept."""

    def result(self) -> CondensedSet:
        """The chosen set."""
        return self._choose()

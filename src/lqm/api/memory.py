"""How much memory a call may take, and what is said where there is not enough."""

from collections.abc import Callable
from functools import wraps
from typing import Protocol, TypeVar

from lqm.utils.limits import limited_to
from lqm.utils.memory import memory_for


class Bounded(Protocol):
    """A request that may have a limit of its own."""

    @property
    def max_memory(self) -> str | int | None:
        """Such as 4GB; None for the usual one."""
        ...


R = TypeVar("R", bound=Bounded)
T = TypeVar("T")


def within_memory(what: str, remedy: str) -> Callable[[Callable[[R], T]], Callable[[R], T]]:
    """Let a function of a request keep to the request's limit.

    Args:
        what: what there may be too little memory for.
        remedy: what would need less.
    """

    def bound(function: Callable[[R], T]) -> Callable[[R], T]:
        @wraps(function)
        def call(request: R) -> T:
            with limited_to(request.max_memory, work=True), memory_for(what, remedy):
                return function(request)

        return call

    return bound

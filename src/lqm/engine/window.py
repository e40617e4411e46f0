"""Looks at the real data that several steps share."""

from collections.abc import Callable
from typing import Generic, TypeVar

import torch

from lqm.engine.randomness import generator

T = TypeVar("T")


class Window(Generic[T]):
    """The latest few of a sequence of views; a new one enters every `reuse` steps, each step draws one.

    On average a view serves `reuse` steps, however many the window holds. With a reuse and a size of 1 every
    step has a view of its own.

    Args:
        make: view number n; made again, alike, if it is missing after a run was taken up again.
        reuse: steps from one new view to the next.
        size: views to draw from.
        seed: of the draws.
    """

    def __init__(self, make: Callable[[int], T], *, reuse: int, size: int, seed: int) -> None:
        self._make, self._reuse, self._size, self._seed = make, reuse, size, seed
        self.views: dict[int, T] = {}

    def at(self, step: int) -> T:
        """The view for a step."""
        newest = step // self._reuse
        oldest = max(0, newest - self._size + 1)
        self.views = {number: view for number, view in self.views.items() if oldest <= number <= newest}
        drawn = oldest
        if newest > oldest:
            draws = generator(self._seed, "window", step)
            drawn += int(torch.randint(newest - oldest + 1, (), generator=draws))
        for number in (newest, drawn):
            if number not in self.views:
                self.views[number] = self._make(number)
        return self.views[drawn]

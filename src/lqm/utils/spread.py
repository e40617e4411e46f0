"""Mean and ± of a number that was found several times."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """A number that each of several networks, runs or repeats found."""

    each: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over all of them."""
        return math.fsum(self.each) / len(self.each)

    @property
    def deviation(self) -> float | None:
        """Sample standard deviation (with n - 1); None for a single value."""
        if len(self.each) == 1:
            return None
        return math.sqrt(math.fsum((x - self.mean) ** 2 for x in self.each) / (len(self.each) - 1))

    def shown(self, digits: int, factor: float = 1.0) -> str:
        """Mean and deviation, each times a factor; a single value has no deviation.

        Example:
            >>> Spread((0.2, 0.3)).shown(3), Spread((0.25,)).shown(3)
            ('0.250 ± 0.071', '0.250')
        """
        beyond = "" if self.deviation is None else f" ± {factor * self.deviation:.{digits}f}"
        return f"{factor * self.mean:.{digits}f}{beyond}"

    def percent(self) -> str:
        """Mean and deviation in percent, as in `80.0 ± 10.0`."""
        return self.shown(1, 100)


def in_points(difference: float) -> str:
    """A difference of two shares in points of a percent, with its sign.

    Example:
        >>> in_points(-0.0342), in_points(-0.0001)
        ('−3.4', '+0.0')
    """
    return f"{round(100 * difference, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")

"""Mean and ± of accuracies, as all that is evaluated shows them."""

from lqm.utils.spread import Spread, in_points

__all__ = ["Spread", "in_points"]

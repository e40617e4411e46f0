"""What a sketch keeps of a sample: enough for every distance that looks at one feature at a time."""

from torch import Tensor

from lqm.distances.distance import Distance, Needs
from lqm.distances.levels import cramer_von_mises_levels
from lqm.distances.quantiles import column_quantiles, sorted_columns


def quantile_grid(sample: Tensor, size: int) -> Tensor:
    """At most `size` records whose columns stand for those of a sample, each column in ascending order.

    A sample of no more records is kept whole, so that every quantile of the grid is one of the sample. Of a
    larger one the grid has Hazen's quantiles at (2j-1) / (2 size). Then the quantile at any level between two
    of these lies between the same two values of the grid, whether it is taken of the sample or of the grid;
    and k quantiles at (2i-1) / (2k) are exact if size / k is an odd number.

    Shapes: sample [..., n, F]; result [..., min(n, size), F].
    """
    if sample.shape[-2] <= size:
        return sorted_columns(sample).transpose(-2, -1)
    return column_quantiles(sample, cramer_von_mises_levels(size).levels)


def needs(distance: Distance) -> Needs:
    """What a distance needs of the real side: the records, the grid, or the mean as one record."""
    needed: Needs = getattr(distance, "needs", "records")
    return needed

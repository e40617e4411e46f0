"""The speed that the docs promise; a whole minute of work."""

import pytest

from benchmarks import cat_step, dm_step, quantiles, statistic

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "measure",
    [
        quantiles.measure,
        statistic.measure,
        dm_step.measure_on_digits,
        dm_step.measure_at_cifar_shapes,
        cat_step.measure_task,
        cat_step.measure_stream,
        cat_step.measure_sharing,
    ],
)
def test_the_limit_is_met(measure):
    comparison = measure()
    assert comparison.met, comparison.row()

"""The speed that the docs promise; some minutes of work."""

import pytest

from benchmarks.ratios.timing import compare
from benchmarks.ratios.works import WORKS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.mark.parametrize("name", WORKS)
def test_the_limit_is_met(name, monkeypatch):
    # As `make bench` measures: the one thread of the tests is for tiny work.
    monkeypatch.delenv("OMP_NUM_THREADS")
    comparison = compare(name, WORKS[name])
    assert comparison.met, comparison.row()

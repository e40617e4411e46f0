import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqm.graphs.budget import parse_budget, shares
from lqm.utils.errors import ConfigError


@given(st.lists(st.integers(1, 500), min_size=1, max_size=30), st.data())
def test_the_total_is_honoured_every_class_has_one_and_none_more_than_it_has(sizes, data):
    budget = data.draw(st.integers(1, sum(sizes)))
    counts = shares(budget, sizes)
    assert sum(counts) == max(budget, len(sizes))
    assert all(1 <= count <= size for count, size in zip(counts, sizes, strict=True))


def test_shares_follow_the_class_ratio_and_the_rest_goes_round_from_the_first():
    assert shares(4, [300, 100]) == [3, 1]
    assert shares(7, [10, 10, 10]) == [3, 2, 2]
    assert shares(29, [500, 300, 200]) == [15, 9, 5]


@pytest.mark.parametrize("budget", ["0", "-3", "1.5", "many", "0%", "101%", "nan%", "inf%", "", "-1%", 0])
def test_what_is_no_budget_is_refused(budget):
    with pytest.raises(ConfigError, match=rf"budget.*{budget}.* 40\b"):
        parse_budget(budget, 100)


def test_more_than_there_is_is_refused():
    with pytest.raises(ConfigError, match=r"budget.*\b50\b.*\b40\b"):
        shares(50, [20, 20])

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from lqm.engine.window import Window

SIZES = st.integers(1, 6)


class Views:
    """Makes view n, which is the number n, and remembers which it has made."""

    def __init__(self):
        self.made = []

    def __call__(self, number):
        self.made.append(number)
        return number


def window(reuse, size, seed=0):
    views = Views()
    return views, Window(views, reuse=reuse, size=size, seed=seed)


def test_with_a_reuse_and_a_size_of_1_every_step_has_a_view_of_its_own():
    views, one = window(1, 1)
    assert [one.at(i) for i in range(20)] == list(range(20))
    assert views.made == list(range(20))


def test_with_a_size_of_1_steps_in_a_row_share_a_view():
    views, one = window(3, 1)
    assert [one.at(i) for i in range(9)] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert views.made == [0, 1, 2]


@pytest.mark.parametrize(("reuse", "size"), [(1, 4), (4, 1), (4, 3), (3, 10), (10, 10)])
def test_a_view_serves_reuse_steps_on_average(reuse, size):
    _, some = window(reuse, size)
    steps = 2000 * reuse
    uses = Counter(some.at(i) for i in range(steps))
    # The first views have fewer rivals, and the last ones are still to be used.
    inner = [uses[number] for number in range(size, 2000 - size)]
    assert sum(inner) / len(inner) == pytest.approx(reuse, rel=0.02)


def test_each_view_of_the_window_is_as_likely_as_the_others():
    reuse, size = 3, 4
    _, some = window(reuse, size)
    ages = Counter(i // reuse - some.at(i) for i in range(reuse * size, 6000))
    assert set(ages) == set(range(size))
    assert chisquare([ages[age] for age in range(size)]).pvalue > 1e-3


@settings(max_examples=60, deadline=None)
@given(reuse=SIZES, size=SIZES, seed=st.integers(0, 1000))
def test_no_view_is_older_than_the_window_and_no_more_are_held(reuse, size, seed):
    _, some = window(reuse, size, seed)
    for step in range(40):
        newest = step // reuse
        assert max(0, newest - size + 1) <= some.at(step) <= newest
        assert len(some.views) <= size
        assert newest in some.views, "what a view does to its maker is done when its time has come"


@settings(max_examples=60, deadline=None)
@given(reuse=SIZES, size=SIZES, first=st.integers(0, 40), seed=st.integers(0, 1000))
def test_started_at_any_step_the_draws_are_the_same(reuse, size, first, seed):
    _, straight = window(reuse, size, seed)
    expected = [straight.at(i) for i in range(60)]
    _, resumed = window(reuse, size, seed)
    assert [resumed.at(i) for i in range(first, 60)] == expected[first:]


@settings(max_examples=60, deadline=None)
@given(reuse=SIZES, size=SIZES, first=st.integers(0, 40), seed=st.integers(0, 1000))
def test_only_missing_views_are_made_and_none_twice(reuse, size, first, seed):
    views, some = window(reuse, size, seed)
    drawn = [some.at(i) for i in range(first, 60)]
    newest = [i // reuse for i in range(first, 60)]
    assert len(set(views.made)) == len(views.made)
    # The newest of each step, and of those from before the start only what was drawn.
    assert set(views.made) == {*newest, *drawn}


def test_a_run_that_was_never_stopped_makes_each_view_once_and_in_order():
    views, some = window(4, 3)
    for i in range(200):
        some.at(i)
    assert views.made == list(range(50))


def test_another_seed_draws_other_views():
    draws = []
    for seed in (0, 0, 1):
        _, some = window(2, 5, seed)
        draws.append([some.at(i) for i in range(60)])
    assert draws[0] == draws[1]
    assert draws[0] != draws[2]

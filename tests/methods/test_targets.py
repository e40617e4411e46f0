"""Live targets: how many are made, how many are kept, and which of them a step draws."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from lqm.methods.encoders import Encoders
from lqm.methods.targets import LiveTargets, RealGroup
from lqm.utils.errors import ConfigError

SIZES = st.integers(1, 6)


class Numbers(Encoders):
    """Encoder n is the number n; remembers which were made."""

    def __init__(self):
        self.made = []

    def at(self, n):
        self.made.append(n)
        return n


class NoRecords:
    """A real side of one class without records."""

    def draws(self, n):
        return torch.Generator().manual_seed(n)

    def groups(self, n, draws):
        yield RealGroup([0], (), iter(()))


class Drawing:
    """An objective whose target holds the encoder and what torch draws by itself."""

    def target(self, encoder, batches, draws):
        return encoder, torch.rand(()).item(), torch.rand((), generator=draws).item()


def targets(reuse, window, seed=0, **options):
    encoders = Numbers()
    live = LiveTargets(encoders, NoRecords(), Drawing(), seed, reuse=reuse, window=window, **options)
    return encoders.made, lambda step, round_=0: live.at(step, round_).encoder, live


def test_with_a_reuse_and_a_window_of_1_every_step_has_a_target_of_its_own():
    made, at, _ = targets(1, 1)
    assert [at(i) for i in range(20)] == list(range(20))
    assert made == list(range(20))


def test_with_a_window_of_1_steps_in_a_row_share_a_target():
    made, at, _ = targets(3, 1)
    assert [at(i) for i in range(9)] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert made == [0, 1, 2]


@pytest.mark.parametrize(("reuse", "window"), [(1, 4), (4, 1), (4, 3), (3, 10), (10, 10)])
def test_a_target_serves_reuse_steps_on_average(reuse, window):
    _, at, _ = targets(reuse, window)
    count = 600
    uses = Counter(at(i) for i in range(count * reuse))
    # The first targets have fewer rivals, and the last ones are still to be used.
    inner = [uses[number] for number in range(window, count - window)]
    assert sum(inner) / len(inner) == pytest.approx(reuse, rel=0.03)


def test_each_target_of_the_window_is_as_likely_as_the_others():
    reuse, window = 3, 4
    _, at, _ = targets(reuse, window)
    ages = Counter(i // reuse - at(i) for i in range(reuse * window, 3000))
    assert set(ages) == set(range(window))
    assert chisquare([ages[age] for age in range(window)]).pvalue > 1e-3


@settings(max_examples=40, deadline=None)
@given(reuse=SIZES, window=SIZES, seed=st.integers(0, 1000))
def test_no_target_is_older_than_the_window_and_the_newest_is_always_made(reuse, window, seed):
    made, at, _ = targets(reuse, window, seed)
    for step in range(40):
        newest = step // reuse
        assert max(0, newest - window + 1) <= at(step) <= newest
        assert made == list(range(newest + 1)), "a run that was never stopped makes each once and in order"


@settings(max_examples=40, deadline=None)
@given(reuse=SIZES, window=SIZES, first=st.integers(0, 40), seed=st.integers(0, 1000))
def test_started_at_any_step_the_draws_are_the_same_and_only_what_is_missing_is_made(
    reuse, window, first, seed
):
    _, straight, _ = targets(reuse, window, seed)
    expected = [straight(i) for i in range(60)]
    made, resumed, _ = targets(reuse, window, seed)
    drawn = [resumed(i) for i in range(first, 60)]
    assert drawn == expected[first:]
    assert len(set(made)) == len(made), "none is made twice"
    # The newest of each step, and of those from before the start only what was drawn.
    assert set(made) == {*(i // reuse for i in range(first, 60)), *drawn}


def test_a_target_that_is_made_again_is_the_same_and_leaves_the_callers_random_state_alone():
    _, _, live = targets(3, 2)
    before = live.at(4, 0).groups
    live.forget()
    torch.manual_seed(7)
    expected = torch.rand(())
    torch.manual_seed(7)
    assert live.at(4, 0).groups == before
    assert torch.rand(()).equal(expected)


def test_what_is_forgotten_is_made_again():
    made, at, live = targets(5, 1)
    at(0), at(1)
    assert made == [0]
    live.forget()
    at(2)
    assert made == [0, 0]


def test_updates_of_a_step_share_a_target_unless_each_is_to_have_its_own():
    _, shared, _ = targets(1, 1)
    assert [shared(i, r) for i in range(3) for r in range(2)] == [0, 0, 1, 1, 2, 2]
    _, own, _ = targets(1, 1, rounds=2)
    assert [own(i, r) for i in range(3) for r in range(2)] == [0, 1, 2, 3, 4, 5]


def test_another_seed_draws_other_targets():
    draws = [[at(i) for i in range(60)] for _, at, _ in (targets(2, 5, seed) for seed in (0, 0, 1))]
    assert draws[0] == draws[1]
    assert draws[0] != draws[2]


@pytest.mark.parametrize(("reuse", "window"), [(2, 1), (1, 2)])
def test_targets_are_kept_only_under_encoders_that_can_be_made_again(reuse, window):
    class Learning(Numbers):
        replayable = False

    LiveTargets(Learning(), NoRecords(), Drawing(), 0)
    with pytest.raises(ConfigError, match="reuse = 1 and window = 1"):
        LiveTargets(Learning(), NoRecords(), Drawing(), 0, reuse=reuse, window=window)

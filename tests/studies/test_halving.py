"""Successive halving, against its schedule and against trying everything."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqm.studies.halving import halve, planned_runs

SEEDS = st.lists(st.lists(st.integers(100, 200), min_size=1, max_size=3), min_size=1, max_size=4)
SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def recording(scores):
    """Noiseless scores of the candidates of each arm, and the trials that were asked for."""
    asked = []

    def score(trials):
        asked.extend(trials)
        return [scores[trial.arm][trial.candidate] for trial in trials]

    return score, asked


@given(SCORES, SEEDS)
def test_without_noise_the_best_wins_and_the_earlier_of_equal_ones(scores, rungs):
    score, _ = recording([scores])
    (choice,) = halve([len(scores)], score, rungs)
    assert choice.best == scores.index(max(scores))


@given(st.lists(SCORES, max_size=4), SEEDS)
def test_there_are_as_many_runs_as_the_schedule_says_whatever_the_scores(arms, rungs):
    score, asked = recording(arms)
    halve([*map(len, arms)], score, rungs)
    runs = Counter(trial.arm for trial in asked)
    for arm, scores in enumerate(arms):
        assert runs[arm] == planned_runs(len(scores), rungs)


@given(SCORES, SEEDS, st.randoms())
def test_arms_of_equal_size_get_equal_runs_whatever_fails(scores, rungs, random):
    failing = [None if random.random() < 0.5 else value for value in scores]
    score, asked = recording([scores, failing])
    halve([len(scores)] * 2, score, rungs)
    runs = Counter(trial.arm for trial in asked)
    assert runs[0] == runs[1]


@given(st.lists(st.integers(0, 1000), unique=True, min_size=1, max_size=12), SEEDS, st.randoms())
def test_the_order_of_unequal_candidates_does_not_matter(scores, rungs, random):
    def winner(order):
        def score(trials):
            # Noise that belongs to the candidate and the seed, not to its place.
            return [
                order[trial.candidate] + (7 * order[trial.candidate] + trial.seed) % 5 for trial in trials
            ]

        (choice,) = halve([len(order)], score, rungs)
        return order[choice.best]

    values = [11 * value for value in scores]
    shuffled = [*values]
    random.shuffle(shuffled)
    assert winner(shuffled) == winner(values)


def test_all_seeds_so_far_count():
    by_seed = {100: [0.9, 0.8, 0.1], 101: [0.2, 0.5, 1.0]}
    (choice,) = halve([3], lambda trials: [by_seed[t.seed][t.candidate] for t in trials], [[100], [101]])
    assert choice.best == 1
    assert choice.rungs == ({0: (0.9,), 1: (0.8,), 2: (0.1,)}, {0: (0.9, 0.2), 1: (0.8, 0.5)})


def test_a_failed_candidate_comes_last():
    score, _ = recording([[None, 0.1, None]])
    assert halve([3], score, [[100], [101]])[0].best == 1


@pytest.mark.parametrize("rungs", [[[100]], [[100], [101]]])
def test_nothing_is_chosen_where_all_fail_and_other_arms_go_on(rungs):
    score, _ = recording([[None, None], [0.1, 0.2]])
    assert [choice.best for choice in halve([2, 2], score, rungs)] == [None, 1]


def test_one_candidate_needs_no_run():
    def refuse(trials):
        raise AssertionError

    assert halve([1], refuse, [[100]])[0].best == 0

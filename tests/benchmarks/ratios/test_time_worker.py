"""Ways of condensing that are held against seconds."""

import pytest

from benchmarks.ratios.time_worker import Task, learner, still_to_come


@pytest.mark.parametrize("way", ["plain", "ours", "plain-idm"])
def test_a_way_gives_the_records_that_a_network_learns_from(way, tmp_path):
    step, images, spent = learner(Task(str(tmp_path), way, "digits", "lqm", 1, 0, (1.0,)))
    before = images()
    assert before.shape == (10, 1, 1, 8, 8)
    step(0)
    assert not images().equal(before)
    assert spent == 0


def test_marks_that_are_over_before_the_first_step_have_the_init():
    saved = []
    assert still_to_come((5, 60, 70, 200), 65, saved.append) == [70, 200]
    assert saved == [0, 5, 60]

"""Average accuracy and backward transfer, against naive loops."""

import statistics

import pytest
import torch

from lqm.graphs.continual import Spread, average_accuracies, backward_transfer


def random_matrices(repeats, tasks):
    draws = torch.Generator().manual_seed(tasks)
    matrices = torch.rand(repeats, tasks, tasks, generator=draws, dtype=torch.float64)
    return matrices.masked_fill(torch.ones(tasks, tasks).triu(1).bool(), torch.nan)


@pytest.mark.parametrize("tasks", [1, 2, 5])
def test_average_accuracy_is_the_mean_over_the_tasks_so_far(tasks):
    matrices = random_matrices(3, tasks)
    found = average_accuracies(matrices)
    for r in range(3):
        for k in range(tasks):
            expected = sum(matrices[r, k, i].item() for i in range(k + 1)) / (k + 1)
            assert found[r, k].item() == pytest.approx(expected)


@pytest.mark.parametrize("tasks", [2, 5])
def test_backward_transfer_is_the_mean_loss_since_a_task_was_learned(tasks):
    matrices = random_matrices(3, tasks)
    found = backward_transfer(matrices)
    for r in range(3):
        lost = [(matrices[r, tasks - 1, i] - matrices[r, i, i]).item() for i in range(tasks - 1)]
        assert found[r].item() == pytest.approx(sum(lost) / len(lost))


def test_one_task_has_no_backward_transfer():
    assert backward_transfer(random_matrices(3, 1)) is None


def test_the_deviation_is_that_of_a_sample():
    spread = Spread((0.1, 0.4, 0.9))
    assert spread.mean == pytest.approx(statistics.fmean(spread.each))
    assert spread.deviation == pytest.approx(statistics.stdev(spread.each))
    assert Spread((0.5,)).deviation is None

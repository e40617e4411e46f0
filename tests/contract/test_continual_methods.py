"""What every way to learn from a stream promises, and with every distance if it matches one."""

import pytest
import torch

import lqm
from lqm.distances import DISTANCES
from lqm.graphs.continual import CONTINUAL_METHODS
from lqm.graphs.continual.learning import Learner
from tests.contract.making import small_settings
from tests.graphs.continual.making import same

MATCHING = [name for name, kind in CONTINUAL_METHODS.items() if kind.condense]
LEARNING = {"classifier": "gcn:width=8:depth=2", "epochs": 3}
TASKS = 3


@pytest.fixture(scope="module")
def source():
    return lqm.load_graph("digits-knn")


@pytest.fixture(autouse=True)
def no_images(monkeypatch):
    monkeypatch.setattr("lqm.report.continual.heat_map", lambda *_: None)


def learn(source, method, **options):
    return lqm.continual(
        source,
        method=method,
        budget=10 if CONTINUAL_METHODS[method].has_memory else None,
        classes_per_task=4,
        settings=LEARNING | small_settings(CONTINUAL_METHODS[method].memory),
        device="cpu",
        **{"repeats": 1, "show_progress": False} | options,
    )


def require_legal(result):
    (matrix,) = result.matrices
    known = torch.ones(TASKS, TASKS).tril().bool()
    assert matrix.shape == (TASKS, TASKS)
    assert matrix.isnan().equal(~known)
    assert ((matrix[known] >= 0) & (matrix[known] <= 1)).all()
    for memory in result.memories[0]:
        assert len(memory.labels) >= 10
        assert memory.features.isfinite().all()


class Stop(BaseException):
    pass


def stop_before(patch, number):
    """Stop a run when it comes to a task."""
    learn_task = Learner.learn

    def stopping(self, task, data):
        if task.number == number:
            raise Stop
        learn_task(self, task, data)

    patch.setattr(Learner, "learn", stopping)


@pytest.mark.parametrize("scoring", ["class", "task"])
@pytest.mark.parametrize("method", CONTINUAL_METHODS)
def test_a_stream_is_learned_and_one_that_was_stopped_ends_the_same(
    source, method, scoring, tmp_path, monkeypatch
):
    straight = learn(source, method, scoring=scoring)
    require_legal(straight)
    with monkeypatch.context() as patch:
        stop_before(patch, 1)
        with pytest.raises(Stop):
            learn(source, method, scoring=scoring, out=tmp_path)
    learned, learn_task = [], Learner.learn

    def counted(self, task, data):
        learned.append(task.number)
        learn_task(self, task, data)

    monkeypatch.setattr(Learner, "learn", counted)
    same(learn(source, method, scoring=scoring, out=tmp_path), straight)
    assert learned == [1, 2]


@pytest.mark.parametrize("method", CONTINUAL_METHODS)
def test_the_same_seed_gives_the_same_and_another_seed_something_else(source, method):
    one, same_again, other = (learn(source, method, seed=seed) for seed in (3, 3, 4))
    same(one, same_again)
    assert not one.matrices.nan_to_num().equal(other.matrices.nan_to_num())


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("method", MATCHING)
def test_every_distance_is_matched(source, method, distance):
    result = learn(source, method, distance=distance)
    require_legal(result)
    assert result.config["distance"]["name"] == DISTANCES[distance].name

"""A stream goes on from checkpoints and memories of its own, and of no other."""

import shutil

import pytest

import lqm
from lqm.engine.checkpoint import save_checkpoint
from lqm.engine.run_record import recorded_id
from lqm.utils.errors import ArtifactError

from .making import small_graph

SETTINGS = {"steps": 2, "width": 8, "classifier": "gcn:width=4:depth=2", "epochs": 2}


def learn(out, seed=0):
    return lqm.continual(
        small_graph(),
        budget=5,
        seed=seed,
        out=out,
        distance="lqm",
        device="cpu",
        settings=SETTINGS,
        show_progress=False,
        repeats=1,
    )


@pytest.fixture
def two(tmp_path):
    """Streams of two seeds, the first of which is to be finished again."""
    straight = learn(tmp_path / "run")
    learn(tmp_path / "other", seed=1)
    (tmp_path / "run" / "result.json").unlink()
    return straight, tmp_path / "run" / "repeat-0", tmp_path / "other" / "repeat-0"


def test_a_checkpoint_of_another_seed_is_named_and_not_gone_on_from(two, capsys):
    straight, own, other = two
    shutil.rmtree(own / "checkpoints")
    shutil.copytree(other / "checkpoints", own / "checkpoints")
    found = learn(own.parent)
    assert found.matrices.nan_to_num().equal(straight.matrices.nan_to_num())
    assert "is of another run" in capsys.readouterr().err


def test_a_memory_of_another_seed_or_task_is_named_and_made_again(two, capsys):
    straight, own, other = two
    for left, right in ((other / "memory" / "task-01", "task-01"), (own / "memory" / "task-00", "task-01")):
        shutil.rmtree(own / "memory" / right)
        shutil.copytree(left, own / "memory" / right)
        shutil.rmtree(own / "checkpoints")
        capsys.readouterr()
        found = learn(own.parent)
        assert found.matrices.nan_to_num().equal(straight.matrices.nan_to_num())
        assert "task-01 is of another stream, task or seed" in capsys.readouterr().err
        (own.parent / "result.json").unlink()


def test_a_checkpoint_that_does_not_fit_is_one_sentence(two):
    _, own, _ = two
    path = save_checkpoint(own / "checkpoints", 9, {}, f"{recorded_id(own.parent)}/0")
    with pytest.raises(ArtifactError, match=f"{path.name} does not hold a state of this run"):
        learn(own.parent)

"""Streams whose process is killed."""

import pytest

import lqm
from tests.graphs.continual.making import small_graph

from .children import Death, digests, run_to_death

SETTINGS = {"steps": 10, "width": 16, "classifier": "gcn:width=8:depth=2", "epochs": 5}
CONDENSED = {"distance": "lqm", "settings": SETTINGS}
MEMORIES = "repeat-*/memory/task-*/data-*.safetensors"


def learn(out, options):
    usual = {"budget": 5, "repeats": 1, "device": "cpu", "show_progress": False}
    return lqm.continual(small_graph(), out=out, **usual | options)


def finished(out, options=CONDENSED):
    """The matrices, with numbers for what was not measured, and the memories."""
    return learn(out, options).matrices.nan_to_num(-1).tolist(), digests(out, MEMORIES)


def killed(out, number, options=CONDENSED):
    """Learn in a process that dies just after a file is renamed into its place, the n-th."""
    death = Death(("replace",), number, after=True)
    run_to_death(out.parent, death, learn, out, options)
    assert not (out / "result.json").exists()


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    return finished(tmp_path_factory.mktemp("straight") / "run")


# The writes: run.json, then run.json and checkpoint of the condensation, then two of each memory, then a
# checkpoint and a row of each task, then image and result.
@pytest.mark.parametrize(
    ("number", "what"),
    [(3, "condense/checkpoints"), (6, "memory/task-01"), (12, "after-00.json")],
    ids=["in the condensation", "while memories are written", "between tasks"],
)
def test_a_stream_killed_and_taken_up_again_ends_with_the_same_bits(tmp_path, straight, number, what):
    out = tmp_path / "run"
    killed(out, number)
    assert (out / "repeat-0" / what).exists()
    assert finished(out) == straight
    assert (out / "result.json").exists()


# The writes: run.json, then twelve of each repeat: two of each memory, a checkpoint and a row of each task.
def test_real_nodes_killed_in_the_second_repeat_end_with_the_same_bits(tmp_path):
    out = tmp_path / "run"
    settings = {name: SETTINGS[name] for name in ("classifier", "epochs")} | {"neighbours": 2}
    options = {"method": "ssm", "repeats": 2, "settings": settings}
    killed(out, 21, options)
    assert (out / "repeat-0" / "after-02.json").exists()
    assert (out / "repeat-1" / "after-00.json").exists()
    assert not (out / "repeat-1" / "after-02.json").exists()
    assert finished(out, options) == finished(tmp_path / "straight", options)

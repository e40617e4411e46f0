"""Streams whose process is killed."""

import hashlib
import signal
import subprocess
import sys

import pytest

from lqm.api.continual import continual
from tests.faults.test_kill import DEADLY
from tests.graphs.continual.making import small_graph

SETTINGS = {"steps": 40, "width": 16, "classifier": "gcn:width=8:depth=2", "epochs": 20}
SCRIPT = f"""
import sys, torch
torch.set_num_threads(1)
from lqm.api.continual import continual
from tests.graphs.continual.making import small_graph
continual(small_graph(), distance="lqm", budget=5, out=sys.argv[1], device="cpu", settings={SETTINGS!r})
"""


def finished(out, **options):
    arguments = {"distance": "lqm", "settings": SETTINGS, "device": "cpu", "show_progress": False}
    return continual(small_graph(), budget=5, out=out, **{**arguments, **options})


def digests(out):
    """Of the tensors of all memories."""
    paths = sorted(out.glob("repeat-*/memory/task-*/data-*.safetensors"))
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


def killed(out, script, number):
    """Learn in a process that dies just after a file is renamed into its place, the n-th."""
    deadly = DEADLY.replace("MOMENT", "'after'").replace("NUMBER", str(number))
    child = subprocess.run(
        [sys.executable, "-c", deadly + script, str(out)], capture_output=True, timeout=120
    )
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()
    assert not (out / "result.json").exists()


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    out = tmp_path_factory.mktemp("straight") / "run"
    return finished(out).matrices, digests(out)


# The writes: run.json, then run.json and checkpoint of the condensation, then two of each memory, then a
# checkpoint and a row of each task, then image and result.
@pytest.mark.parametrize(
    ("number", "what"),
    [(3, "condense/checkpoints"), (6, "memory/task-01"), (12, "after-00.json")],
    ids=["in the condensation", "while memories are written", "between tasks"],
)
def test_a_stream_killed_and_taken_up_again_ends_with_the_same_bits(tmp_path, straight, number, what):
    out = tmp_path / "run"
    killed(out, SCRIPT, number)
    assert (out / "repeat-0" / what).exists()
    result = finished(out)
    assert result.matrices.nan_to_num(-1).equal(straight[0].nan_to_num(-1))
    assert digests(out) == straight[1]
    assert (out / "result.json").exists()


# The writes: run.json, then twelve of each repeat: two of each memory, a checkpoint and a row of each task.
def test_real_nodes_killed_in_the_second_repeat_end_with_the_same_bits(tmp_path):
    out = tmp_path / "run"
    learning = {name: SETTINGS[name] for name in ("classifier", "epochs")}
    options = {"method": "ssm", "distance": None, "repeats": 2, "settings": {**learning, "neighbours": 2}}
    call = f"continual(small_graph(), budget=5, out=sys.argv[1], device='cpu', **{options!r})\n"
    killed(out, SCRIPT[: SCRIPT.index("continual(small")] + call, 21)
    assert (out / "repeat-0" / "after-02.json").exists()
    assert (out / "repeat-1" / "after-00.json").exists()
    assert not (out / "repeat-1" / "after-02.json").exists()
    found, expected = (finished(place, **options) for place in (out, tmp_path / "straight"))
    assert found.matrices.nan_to_num(-1).equal(expected.matrices.nan_to_num(-1))
    assert digests(out) == digests(tmp_path / "straight")

"""Streams whose process is killed."""

import hashlib
import signal
import subprocess
import sys

import pytest

from lqm.streaming import continual
from tests.faults.test_kill import DEADLY
from tests.graphs.continual.making import small_graph

SETTINGS = {"steps": 40, "width": 16, "classifier": "gcn:width=8:depth=2", "epochs": 20}
SCRIPT = f"""
import sys, torch
torch.set_num_threads(1)
from lqm.streaming import continual
from tests.graphs.continual.making import small_graph
continual(small_graph(), distance="lqm", budget=5, out=sys.argv[1], device="cpu", settings={SETTINGS!r})
"""


def finished(out):
    return continual(
        small_graph(), distance="lqm", budget=5, out=out, device="cpu", settings=SETTINGS, show_progress=False
    )


def digests(out):
    """Of the tensors of all memories."""
    paths = sorted((out / "repeat-0" / "memory").glob("task-*/data-*.safetensors"))
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    out = tmp_path_factory.mktemp("straight") / "run"
    return finished(out).matrices, digests(out)


# The writes: run.json, then run.json and checkpoint of the condensation, then two of each memory, then a
# checkpoint and a row of each task, then picture and result.
@pytest.mark.parametrize(
    ("number", "what"),
    [(3, "condense/checkpoints"), (6, "memory/task-01"), (12, "after-00.json")],
    ids=["in the condensation", "while memories are written", "between tasks"],
)
def test_a_stream_killed_and_taken_up_again_ends_with_the_same_bits(tmp_path, straight, number, what):
    out = tmp_path / "run"
    deadly = DEADLY.replace("MOMENT", "'after'").replace("NUMBER", str(number))
    child = subprocess.run(
        [sys.executable, "-c", deadly + SCRIPT, str(out)], capture_output=True, timeout=120
    )
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()
    assert (out / "repeat-0" / what).exists()
    assert not (out / "result.json").exists()
    result = finished(out)
    assert result.matrices.nan_to_num(-1).equal(straight[0].nan_to_num(-1))
    assert digests(out) == straight[1]
    assert (out / "result.json").exists()

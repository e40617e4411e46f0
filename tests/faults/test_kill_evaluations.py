"""Runs that die while they are evaluated along the way."""

import json
import os
import signal
from dataclasses import replace

import pytest

import lqm
from lqm.engine import RunFolder
from lqm.images.evaluation import PROTOCOLS

from .children import KILLED, start

DEATHS = [("before", 1), ("before", 3), ("after", 2), ("torn", 3)]
IDS = [f"{moment}-{number}" for moment, number in DEATHS]


def condense(out):
    lqm.condense(
        "digits",
        per_class=2,
        out=out,
        evaluate_every=4,
        tensorboard=True,
        checkpoint_seconds=0.01,
        show_progress=False,
        settings={"steps": 10, "network": "convnet:width=8", "real_batch": 16},
    )


def condense_and_die(out, protocol, moment, number):
    """In a child: die just before or after the n-th evaluation is written down, or in the middle of it."""
    PROTOCOLS[protocol.name] = protocol
    log_evaluation, count = RunFolder.log_evaluation, 0

    def deadly(folder, *found):
        nonlocal count
        count += 1
        if count < number or moment != "before":
            log_evaluation(folder, *found)
        if count == number:
            if moment == "torn":
                path = folder.path / "evaluations.jsonl"
                path.write_bytes(path.read_bytes()[:-9])
            os.kill(os.getpid(), signal.SIGKILL)

    RunFolder.log_evaluation = deadly
    condense(out)


@pytest.fixture
def quick(monkeypatch):
    """The protocol by which the digits are judged, at a size that takes a moment."""
    tiny = replace(PROTOCOLS["quick-200"], epochs=2, networks=2, network="convnet:width=8")
    monkeypatch.setitem(PROTOCOLS, tiny.name, tiny)
    return tiny


def record(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    return manifest["data"]["sha256"], (folder / "evaluations.jsonl").read_text()


@pytest.mark.parametrize(("moment", "number"), DEATHS, ids=IDS)
def test_a_run_killed_in_an_evaluation_has_the_same_set_and_every_evaluation_once(
    tmp_path, quick, moment, number
):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    out, straight = tmp_path / "run", tmp_path / "straight"
    child = start(tmp_path, condense_and_die, out, quick, moment, number)
    child.join(120)
    assert child.exitcode == KILLED, (tmp_path / "messages").read_text()
    condense(out)
    condense(straight)
    assert record(out) == record(straight)
    read = EventAccumulator(str(out / "tensorboard")).Reload()
    assert [event.step for event in read.Scalars("evaluation/accuracy")] == [4, 8, 10]
    assert [event.step for event in read.Scalars("loss")] == list(range(10))

"""Runs that die while they are evaluated along the way."""

import json
import os
import signal
import subprocess
import sys

import pytest

# For each run that it is given, forks a process that dies in one of its evaluations, just before or after
# what it found is written down; then one that goes on.
SCRIPT = """
import json, os, signal, sys, traceback, torch
torch.set_num_threads(1)
import lqm
from dataclasses import replace
from lqm import condensing
from lqm.engine import RunFolder
from lqm.images.evaluation import PROTOCOLS
# What every child would import anew.
import torch._dynamo, torch.utils.tensorboard
PROTOCOLS["quick-200"] = replace(PROTOCOLS["quick-200"], epochs=2, networks=2, network="convnet:width=8")
source = lqm.load_source("digits")
score_entry, log_evaluation, count = condensing.score_entry, RunFolder.log_evaluation, 0

def deadly(moment, number, function):
    def call(*args, **options):
        global count
        count += 1
        found = function(*args, **options)
        if count == number:
            if moment == "torn":
                path = args[0].path / "evaluations.jsonl"
                path.write_bytes(path.read_bytes()[:-9])
            os.kill(os.getpid(), signal.SIGKILL)
        return found
    return call

for out, moment, number in json.load(sys.stdin):
    child = os.fork()
    if not child:
        if moment == "found":
            condensing.score_entry = deadly(moment, number, score_entry)
        elif moment:
            RunFolder.log_evaluation = deadly(moment, number, log_evaluation)
        try:
            lqm.condense(source, per_class=2, out=out, evaluate_every=4, tensorboard=True,
                         checkpoint_seconds=0.01, show_progress=False,
                         settings={"steps": 10, "network": "convnet:width=8", "real_batch": 16})
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

DEATHS = [("found", 1), ("found", 3), ("noted", 2), ("torn", 3)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A run that was not killed, and one for each death, taken up again afterwards."""
    place = tmp_path_factory.mktemp("runs")
    out = {death: str(place / f"{death[0]}-{death[1]}") for death in DEATHS}
    lives = [(str(place / "straight"), "", 0)]
    lives += [life for death in DEATHS for life in ((out[death], *death), (out[death], "", 0))]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(lives),
        env=os.environ | {"LQM_CACHE": str(tmp_path_factory.mktemp("cache"))},
        capture_output=True,
        text=True,
        check=False,
    )
    expected = [0] + [-signal.SIGKILL, 0] * len(DEATHS)
    assert [int(code) for code in done.stdout.split()] == expected, done.stderr
    return place


def record(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    return manifest["data"]["sha256"], (folder / "evaluations.jsonl").read_text()


@pytest.mark.parametrize("death", DEATHS, ids=lambda death: f"{death[0]}-{death[1]}")
def test_a_run_killed_in_an_evaluation_has_the_same_set_and_every_evaluation_once(folders, death):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    name = f"{death[0]}-{death[1]}"
    assert record(folders / name) == record(folders / "straight")
    read = EventAccumulator(str(folders / name / "tensorboard")).Reload()
    assert [event.step for event in read.Scalars("evaluation/accuracy")] == [4, 8, 10]
    assert [event.step for event in read.Scalars("loss")] == list(range(10))

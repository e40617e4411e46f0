"""Runs that die, in a process of their own."""

import os
import random
import signal
import time

import pytest

import lqm
from lqm.utils.errors import ArtifactError

from .children import KILLED, Death, command_line, digests, run_to_death, start

STEPS, ENDLESS = 20, 100_000


def options(out, steps=STEPS, checkpoint_seconds=1000.0):
    settings = {"steps": steps, "network": "convnet:width=8", "real_batch": 16}
    size = {"per_class": 2, "seed": 3}
    return {**size, "out": out, "checkpoint_seconds": checkpoint_seconds, "settings": settings}


def finish(out, steps=STEPS):
    lqm.condense("digits", **options(out, steps), show_progress=False)
    return digests(out)


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    return finish(tmp_path_factory.mktemp("straight") / "run")


def wait_for(condition, child):
    while not condition() and child.is_alive():
        time.sleep(0.002)


def newest_step(out):
    return max((int(path.name[5:14]) for path in out.glob("checkpoints/step-*")), default=0)


def test_a_run_killed_again_and_again_at_random_moments_ends_with_the_same_sha256(tmp_path):
    """Half of its time is spent on checkpoints, so some of the kills hit one that is being written."""
    out, steps, draws = tmp_path / "run", 200, random.Random(0)
    for _ in range(5):
        before = newest_step(out)
        child = start(tmp_path, lqm.condense, "digits", **options(out, steps, checkpoint_seconds=0.0))
        wait_for(lambda before=before: newest_step(out) > before, child)
        time.sleep(draws.uniform(0, 0.15))
        child.kill()
        child.join()
        assert child.exitcode == KILLED
        assert newest_step(out) > before
        assert not (out / "manifest.json").exists()
    assert finish(out, steps) == finish(tmp_path / "straight", steps)
    lqm.load(out)


WRITES = [
    f"{moment} of {file}"
    for file in ("run.json", "metrics", "checkpoint", "data", "manifest")
    for moment in ("flush", "rename", "flush of the folder")
    if file != "metrics" or moment == "flush"
]


@pytest.mark.parametrize("number", range(1, 1 + len(WRITES)), ids=WRITES)
def test_a_run_killed_before_any_flush_or_rename_ends_with_the_same_sha256(tmp_path, straight, number):
    out = tmp_path / "run"
    run_to_death(tmp_path, Death(("fsync", "replace"), number), lqm.condense, "digits", **options(out))
    assert (out / "manifest.json").exists() == (number == len(WRITES))
    assert finish(out) == straight
    assert not list(out.rglob(".*.tmp")), "what was half written is cleared away"
    lqm.load(out)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_stop_cleanly_with_their_exit_code(tmp_path, number):
    out = tmp_path / "run"
    settings = ["--set", f"steps={ENDLESS}", "--set", "network=convnet:width=8", "--set", "real_batch=16"]
    words = ["condense", "digits", "--per-class", "2", "--out", str(out), *settings]
    child = start(tmp_path, command_line, *words)
    wait_for(lambda: (out / "run.json").exists(), child)
    time.sleep(1.0)  # the steps begin at once then
    os.kill(child.pid, number)
    child.join(60)
    assert child.exitcode == 128 + number
    messages = (tmp_path / "messages").read_text()
    assert number.name in messages
    assert "the same command" in messages
    assert "Traceback" not in messages
    assert newest_step(out) > 0


def test_a_second_process_on_the_same_folder_is_refused(tmp_path):
    out = tmp_path / "run"
    child = start(tmp_path, lqm.condense, "digits", **options(out, ENDLESS))
    try:
        wait_for(lambda: (out / "run.json").exists(), child)
        with pytest.raises(ArtifactError, match="in use"):
            finish(out, ENDLESS)
    finally:
        child.kill()
        child.join()

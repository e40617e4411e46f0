"""Runs that die, in a process of their own."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lqm

SCRIPT = """
import sys, torch
torch.set_num_threads(1)
import lqm
lqm.condense("digits", per_class=2, seed=3, out=sys.argv[1], checkpoint_seconds=0.05,
             settings={"steps": 120, "width": 8, "real_batch": 16})
"""


def start(out, script=SCRIPT):
    return subprocess.Popen([sys.executable, "-c", script, str(out)], stderr=subprocess.PIPE, text=True)


def finish(out):
    child = start(out)
    _, error = child.communicate(timeout=120)
    assert child.returncode == 0, error


def digest(out):
    (data,) = Path(out).glob("data-*.safetensors")
    return hashlib.sha256(data.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    out = tmp_path_factory.mktemp("straight") / "run"
    finish(out)
    return digest(out)


def wait_for(condition, child):
    while not condition() and child.poll() is None:
        time.sleep(0.002)


@pytest.mark.parametrize("steps_before_death", [1, 30, 60, 90])
def test_a_run_killed_and_taken_up_again_ends_with_the_same_sha256(tmp_path, straight, steps_before_death):
    out = tmp_path / "run"
    child = start(out)

    def far_enough():
        checkpoints = sorted(out.glob("checkpoints/step-*"))
        return bool(checkpoints) and int(checkpoints[-1].name[5:14]) >= steps_before_death

    wait_for(far_enough, child)
    child.kill()
    child.wait()
    assert child.returncode == -signal.SIGKILL
    assert not (out / "manifest.json").exists()
    finish(out)
    assert digest(out) == straight
    lqm.load(out)


def test_many_kills_at_any_moment_also_while_saving(tmp_path, straight):
    out = tmp_path / "run"
    kills = 0
    for moment in range(6):
        child = start(out, SCRIPT.replace("0.05", "0.0"))
        wait_for(lambda: list(out.glob("checkpoints/.*.tmp")), child)
        time.sleep(0.013 * moment)
        child.kill()
        kills += child.wait() == -signal.SIGKILL
    assert kills >= 2
    finish(out)
    assert digest(out) == straight


def catches(child, number):
    """Whether a process has a handler of its own for a signal."""
    status = Path(f"/proc/{child.pid}/status").read_text()
    (caught,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return int(caught, 16) >> (number - 1) & 1


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs /proc to see when the loop has begun"
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_stop_cleanly_with_their_exit_code(tmp_path, number):
    out = tmp_path / "run"
    lqm_command = Path(sys.executable).with_name("lqm")
    settings = ["--set", "steps=100000", "--set", "width=8", "--set", "real_batch=16"]
    child = subprocess.Popen(
        [lqm_command, "condense", "digits", "--per-class", "2", "--out", out, *settings],
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: catches(child, signal.SIGTERM), child)
    child.send_signal(number)
    _, error = child.communicate(timeout=60)
    assert child.returncode == 128 + number
    assert f"stopped by {number.name} after step" in error
    assert "the same command goes on from there" in error
    assert "Traceback" not in error
    assert list(out.glob("checkpoints/step-*"))


def test_a_second_process_on_the_same_folder_is_refused(tmp_path):
    out = tmp_path / "run"
    child = start(out, SCRIPT.replace('"steps": 120', '"steps": 100000'))
    try:
        wait_for(lambda: list(out.glob("checkpoints/step-*")), child)
        second = start(out)
        _, error = second.communicate(timeout=60)
        assert second.returncode != 0
        assert "is in use by another process" in error
    finally:
        child.kill()
        child.wait()


def test_the_lock_of_a_dead_process_does_not_hold(tmp_path):
    out = tmp_path / "run"
    child = start(out)
    wait_for((out / "run.json").exists, child)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    finish(out)

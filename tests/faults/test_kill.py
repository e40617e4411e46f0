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
             settings={"steps": 300, "network": "convnet:width=8", "real_batch": 16})
"""

# Dies at the n-th rename of a file into its place: just before it, or just after.
DEADLY = """
import os, signal
rename, count = os.replace, 0
def deadly(*paths):
    global count
    count += 1
    if (count, MOMENT) == (NUMBER, "before"):
        os.kill(os.getpid(), signal.SIGKILL)
    rename(*paths)
    if (count, MOMENT) == (NUMBER, "after"):
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = deadly
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


def newest_step(out):
    return max((int(path.name[5:14]) for path in out.glob("checkpoints/step-*")), default=0)


@pytest.mark.parametrize("steps_before_death", [1, 70, 140])
def test_a_run_killed_and_taken_up_again_ends_with_the_same_sha256(tmp_path, straight, steps_before_death):
    out = tmp_path / "run"
    child = start(out)
    wait_for(lambda: newest_step(out) >= steps_before_death, child)
    child.kill()
    child.wait()
    assert child.returncode == -signal.SIGKILL
    assert not (out / "manifest.json").exists()
    finish(out)
    assert digest(out) == straight
    lqm.load(out)


def test_a_queue_of_learning_networks_killed_and_taken_up_again_ends_with_the_same_sha256(tmp_path):
    """Everything that IDM's networks have learned goes through the checkpoint."""
    queue = '"student_batch": 16, "student_steps": 2, "queue_interval": 3, "queue_limit": 5'
    script = SCRIPT.replace("per_class=2", 'method="idm", per_class=2').replace(
        '"steps": 300', f'"steps": 100, {queue}'
    )
    assert "idm" in script
    assert "queue_limit" in script
    straight, out = tmp_path / "straight", tmp_path / "run"
    assert start(straight, script).wait() == 0
    child = start(out, script)
    wait_for(lambda: newest_step(out) >= 10, child)
    child.kill()
    assert child.wait() == -signal.SIGKILL
    assert not (out / "manifest.json").exists()
    assert start(out, script).wait() == 0
    assert digest(out) == digest(straight)


def test_a_run_killed_again_and_again_ends_with_the_same_sha256(tmp_path, straight):
    out = tmp_path / "run"
    for _ in range(4):
        before = newest_step(out)
        child = start(out, SCRIPT.replace("0.05", "0.0"))
        wait_for(lambda before=before: newest_step(out) >= before + 20, child)
        child.kill()
        assert child.wait() == -signal.SIGKILL
    finish(out)
    assert digest(out) == straight


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("number", [1, 2, 3, 4], ids=["run.json", "checkpoint", "data", "manifest"])
def test_a_run_killed_at_any_write_ends_with_the_same_sha256(tmp_path, straight, number, moment):
    out = tmp_path / "run"
    deadly = DEADLY.replace("MOMENT", repr(moment)).replace("NUMBER", str(number))
    child = start(out, deadly + SCRIPT.replace("0.05", "1000"))
    assert child.wait() == -signal.SIGKILL
    finish(out)
    assert digest(out) == straight
    lqm.load(out)


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
    settings = ["--set", "steps=100000", "--set", "network=convnet:width=8", "--set", "real_batch=16"]
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
    child = start(out, SCRIPT.replace('"steps": 300', '"steps": 100000'))
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

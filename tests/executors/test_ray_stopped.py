"""Commands on Ray that are stopped or killed: what is finished is kept, and the same command goes on."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest

from tests.executors.making import digest

pytest.importorskip("ray", reason="Ray is not installed")

COMMAND = [sys.executable, "-m", "lqm", "sketch", "digits", "--encoders", "40", "--max-per-class", "2"]
COMMAND += ["--set", "network=convnet:width=4", "--threads", "1", "--out", "sketch"]
# Ray would use the disk for what does not fit; it is told to take any disk for a full one.
FULL = """
import lqm, ray, torch
ray.init(address="local", num_cpus=1, _node_ip_address="127.0.0.1", include_dashboard=False,
         log_to_driver=False, logging_level=40, object_store_memory=80 * 2**20,
         _system_config={"local_fs_capacity_threshold": 0.0001})
images, labels = torch.rand(4000, 3, 64, 64), torch.arange(4000) % 2
try:
    lqm.sketch(images, labels, out="sketch", encoders=2, engine="ray", threads=1, show_progress=False)
except lqm.LqmError as error:
    print(error)
"""
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def started(folder):
    """The command, once it has made some of the encoders on Ray."""
    process = subprocess.Popen(
        [*COMMAND, "--engine", "ray"], cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 300
    while len([*(folder / "sketch").glob("*.safetensors")]) < 3:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    folder = tmp_path_factory.mktemp("straight")
    subprocess.run(COMMAND, cwd=folder, check=True, capture_output=True)
    return digest(folder / "sketch")


@pytest.mark.parametrize("engine", [[], ["--engine", "ray"]], ids=["local", "ray"])
def test_after_the_driver_was_killed_either_engine_goes_on_to_the_same_bits(tmp_path, straight, engine):
    process = started(tmp_path)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = {path.name for path in (tmp_path / "sketch").glob("*.safetensors")}
    assert len(kept) < 40
    subprocess.run([*COMMAND, *engine], cwd=tmp_path, check=True, capture_output=True)
    assert kept < {*digest(tmp_path / "sketch")}
    assert digest(tmp_path / "sketch") == straight


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stop_is_one_sentence_and_keeps_what_is_finished(tmp_path, straight, number, code):
    process = started(tmp_path)
    process.send_signal(number)
    _, messages = process.communicate(timeout=120)
    assert process.returncode == code
    assert "Traceback" not in messages
    assert f"stopped by {number.name}" in messages
    kept = {path.name for path in (tmp_path / "sketch").glob("*.safetensors")}
    assert 3 <= len(kept) < 40
    assert kept < {*straight}


def test_a_ray_that_is_started_here_listens_to_this_machine_alone(tmp_path):
    process = started(tmp_path)
    family = psutil.Process(process.pid).children(recursive=True)
    listening = []
    for each in family:
        with suppress(psutil.Error):
            listening += [c.laddr.ip for c in each.net_connections("tcp") if c.status == psutil.CONN_LISTEN]
    process.kill()
    process.wait()
    assert listening
    assert {address.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}


def test_an_object_store_without_room_for_the_data_is_one_sentence(tmp_path):
    program = tmp_path / "full.py"
    program.write_text(FULL)
    found = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True)
    assert found.stdout == (
        "the data do not fit into Ray's object store of 0.1 GiB; start Ray with a larger "
        "--object-store-memory\n"
    )

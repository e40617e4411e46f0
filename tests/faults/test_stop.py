"""SIGTERM where no loop of a run collects it."""

import os
import signal
import tempfile
import time

import pytest

import lqm
from tests.faults.children import command_line, start

MORE = {"sketch": ("--encoders", "300"), "experts": ("--networks", "10000")}


def terminated(child, folder):
    """The exit code of a process that gets SIGTERM once there is a shard."""
    deadline = time.monotonic() + 60
    while not list(folder.rglob("*.safetensors")) and child.is_alive() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGTERM)
    child.join(60)
    return child.exitcode


@pytest.mark.parametrize("command", MORE)
def test_sigterm_in_a_bank_is_one_sentence_and_what_is_finished_is_kept(tmp_path, command):
    out = tmp_path / "bank"
    words = ("--network", "convnet:width=8", "--compile", "off", "--out", str(out))
    child = start(tmp_path, command_line, command, "digits", *MORE[command], *words)
    assert terminated(child, out) == 143
    messages = (tmp_path / "messages").read_text()
    assert "stopped by SIGTERM" in messages
    assert "Traceback" not in messages
    assert list(out.glob("*.safetensors"))


def dance(folder):
    tempfile.tempdir = folder
    options = {"network": "convnet:width=8", "compile": "off", "settings": {"pairs": 1000}}
    lqm.condense("digits", method="dance", per_class=1, show_progress=False, **options)


def test_sigterm_while_a_run_without_a_folder_trains_experts_leaves_no_temporary_folder(tmp_path):
    (tmp_path / "temporary").mkdir()
    child = start(tmp_path, dance, str(tmp_path / "temporary"))
    assert terminated(child, tmp_path / "temporary") == 143
    assert not list((tmp_path / "temporary").iterdir())
    assert (tmp_path / "messages").read_text() == ""

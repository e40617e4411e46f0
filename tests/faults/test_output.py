"""Standard error and standard output that are closed or whose disk is full."""

import os
import sys
from pathlib import Path

import pytest

import lqm

from .children import command_line, start

WORDS = ("--per-class", "1", "--set", "steps=3", "--set", "network=convnet:width=4:depth=1")

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def with_streams(output, error, *words):
    """The command line with standard output and error as they are named; None closes them."""
    for number, path in ((1, output), (2, error)):
        if path is None:
            os.close(number)
            setattr(sys, "stdout" if number == 1 else "stderr", None)
        else:
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    command_line(*words)


def unbuffered(error, *words):
    """The command line with a full standard output that keeps nothing back, as by PYTHONUNBUFFERED."""
    for number, path in ((1, "/dev/full"), (2, error)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    sys.stdout.reconfigure(write_through=True)
    command_line(*words)


def ended(folder, output, error, *words):
    child = start(folder, with_streams, output, error, *words)
    child.join(120)
    return child.exitcode


@pytest.mark.parametrize("error", ["/dev/full", None])
def test_a_run_needs_no_standard_error(tmp_path, error):
    words = ("condense", "digits", *WORDS, "--out", str(tmp_path / "run"))
    assert ended(tmp_path, str(tmp_path / "output"), error, *words) == 0
    lqm.load(tmp_path / "run")
    assert (tmp_path / "output").read_text().startswith("10 images of 10 classes")
    assert "lqm:" not in (tmp_path / "output").read_text(), "warnings do not go to the output instead"


def test_a_full_standard_output_is_a_failure_with_the_result_kept(tmp_path):
    words = ("condense", "digits", *WORDS, "--out", str(tmp_path / "run"))
    assert ended(tmp_path, "/dev/full", str(tmp_path / "error"), *words) == 1
    lqm.load(tmp_path / "run")
    error = (tmp_path / "error").read_text()
    assert "No space left" in error.splitlines()[-1]
    assert "Traceback" not in error
    assert "Exception" not in error


def test_a_full_standard_output_without_a_buffer_is_named_too(tmp_path):
    child = start(tmp_path, unbuffered, str(tmp_path / "error"), "recipes")
    child.join(120)
    assert child.exitcode == 1
    assert "output can't be written (No space left" in (tmp_path / "error").read_text().splitlines()[-1]


def test_a_closed_standard_output_gets_nothing_and_nothing_else_does(tmp_path):
    words = ("condense", "digits", *WORDS, "--out", str(tmp_path / "run"))
    assert ended(tmp_path, None, None, *words) == 0
    lqm.load(tmp_path / "run")


def test_warnings_and_progress_in_python_need_no_standard_error(monkeypatch):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        condensed = lqm.condense("digits", per_class=1, settings={"steps": 3, "network": "convnet:width=4"})
        monkeypatch.undo()
        assert len(condensed.labels) == 10
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


def test_a_panel_on_a_terminal_that_is_gone_goes_on(monkeypatch):
    from lqm.engine.panel import follow

    class Gone:
        encoding = "utf-8"

        def isatty(self):
            return True

        def write(self, *_):
            raise OSError(5, "Input/output error")

        flush = fileno = write

    monkeypatch.setattr(sys, "stderr", Gone())
    monkeypatch.setenv("TERM", "xterm")
    with follow("count", 3) as panel:
        for done in range(3):
            panel.update(done + 1, {"loss": 1.0})

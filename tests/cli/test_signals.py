"""Ctrl-C and SIGTERM at any moment of a command's process."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

# What the console script does, once the interpreter is ready for it.
ENTRY = """
import os, sys
from lqm.cli.main import main
sys.argv[0] = "lqm"
if sys.argv[1] == "ready": os.write(1, b">"); del sys.argv[1]
sys.exit(main())
"""
LONG = ("condense", "digits", "--per-class", "1", "--set", "steps=1000000")
TINY = ("--set", "network=convnet:width=8", "--set", "real_batch=16")


def started(words, entry=ENTRY):
    child = subprocess.Popen(
        [sys.executable, "-c", entry, "ready", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )
    assert child.stdout.read(1) == b">"
    return child


def stopped(child, number, seconds, *, group=False):
    """Exit code and standard error of a process that gets a signal after some seconds."""
    time.sleep(seconds)
    (os.killpg if group else os.kill)(child.pid, number)
    _, error = child.communicate(timeout=60)
    return child.returncode, error.decode()


def assert_stopped(found, number):
    code, error = found
    assert code == 128 + number, error
    assert "Traceback" not in error
    assert "Exception ignored" not in error
    assert len(re.findall("^lqm: stopped", error, re.MULTILINE)) == 1


@pytest.mark.parametrize("seconds", [0.03, 0.3, 0.9, 2.5])
def test_ctrl_c_at_the_start_is_one_sentence(tmp_path, seconds):
    child = started((*LONG, *TINY, "--out", tmp_path / "run"))
    assert_stopped(stopped(child, signal.SIGINT, seconds), signal.SIGINT)


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_only_what_has_written_a_file_goes_on(tmp_path, number, kept):
    written = f"write_atomically(Path({str(tmp_path / 'kept')!r}), b'1'); " * kept
    work = f"from pathlib import Path; from lqm.utils.files import write_atomically; {written}"
    stop = f"os.kill(os.getpid(), {int(number)}); time.sleep(60)"
    found = stopped(started([], LOST.format(then=work + stop).replace("    Swallows()\n", "")), 0, 0.0)
    assert_stopped(found, number)
    assert ("the same command goes on from there" in found[1]) == kept
    assert ("before anything was made" in found[1]) != kept


@pytest.mark.slow
@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_at_sixty_moments_of_the_first_seconds_are_one_sentence(tmp_path, number, group):
    for moment in range(60):
        child = started((*LONG, *TINY, "--out", tmp_path / "run"))
        assert_stopped(stopped(child, number, 0.01 + moment / 20, group=group), number)


def test_ctrl_c_after_the_work_is_no_traceback():
    late = ENTRY.replace("sys.exit(main())", "import atexit, time; atexit.register(time.sleep, 30); main()")
    child = started(["--version"], late)
    assert_stopped(stopped(child, signal.SIGINT, 1.0), signal.SIGINT)


LOST = """
import gc, os, signal, sys, time
from lqm.cli import dispatch
from lqm.cli.main import main

class Swallows:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

def work(words):
    Swallows()
    {then}

dispatch.dispatch = work
os.write(1, b">")
sys.argv[1:] = []
main()
"""


def test_ctrl_c_that_a_finaliser_would_swallow_ends_the_process():
    child = started([], LOST.format(then="time.sleep(60)"))
    assert_stopped(stopped(child, 0, 0.0), signal.SIGINT)


STUCK = LOST.replace("Swallows()", "signal.pthread_sigmask(signal.SIG_SETMASK, []); deaf()").replace(
    "dispatch.dispatch",
    """
def deaf():
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass

from lqm.cli import signals
signals._FORCED = 1.0
dispatch.dispatch""",
)


@pytest.mark.parametrize("twice", [False, True])
def test_work_that_does_not_end_is_ended(twice):
    child = started([], STUCK.format(then="pass"))
    time.sleep(0.5)
    began = time.monotonic()
    if twice:
        os.kill(child.pid, signal.SIGTERM)
        time.sleep(0.1)
    code, error = stopped(child, signal.SIGTERM, 0.0)
    assert time.monotonic() - began < 10
    assert code == 143
    assert "Traceback" not in error
    assert ("stopping" in error) != twice, "it is acknowledged at once, unless it ends at once"


def test_an_ignored_signal_stays_ignored():
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nfrom lqm.cli"
    script = ENTRY.replace("from lqm.cli", deaf, 1).replace("sys.exit(main())", "main(); time.sleep(1)")
    child = started(["--version"], script.replace("import os", "import time, os"))
    code, error = stopped(child, signal.SIGINT, 0.5)
    assert (code, error) == (0, "")

"""Too little memory is one sentence, wherever it runs out."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import lqm
from lqm.utils.errors import LqmError, OutOfMemoryError
from lqm.utils.memory import is_out_of_memory, memory_for
from tests.faults.children import command_line, start

COMMAND = [sys.executable, "-c", "from lqm.cli.main import main; main()"]


def too_much_numpy():
    np.zeros(2**50, dtype=np.uint8)


def too_much_torch():
    torch.empty(2**50, dtype=torch.uint8)


def too_much_python():
    bytearray(2**50)


def cuda():
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB")


def standard_library():
    raise RuntimeError("std::bad_alloc")


def mapping():
    raise OSError(12, "Cannot allocate memory")


@pytest.mark.parametrize(
    "want", [too_much_numpy, too_much_torch, too_much_python, cuda, standard_library, mapping]
)
def test_every_library_that_runs_out_of_memory_is_understood(want):
    with pytest.raises(OutOfMemoryError, match=r"for a walk .*; rest") as found, memory_for("a walk", "rest"):
        want()
    assert isinstance(found.value, LqmError | MemoryError)
    assert "\n" not in str(found.value)


def test_other_errors_are_left_alone():
    assert not is_out_of_memory(RuntimeError("the memory of task 3 is missing"))
    with pytest.raises(ValueError, match="x"), memory_for("a walk", "rest"):
        raise ValueError("x")


@pytest.mark.parametrize("megabytes", [100, 400])
def test_too_little_memory_for_imports_is_one_sentence(megabytes):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2)

    words = [*COMMAND, "recipes", "digits"]
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=limit, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "not enough memory" in done.stderr


def in_little_memory(megabytes, *words):
    """A command in a process that may take so much more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * os.sysconf("SC_PAGE_SIZE") + (megabytes << 20),) * 2)
    command_line(*words)


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("condense FILE", "reading '"),
        slow("condense digits --set network=convnet:width=4000:depth=2 --set steps=2", "network"),
        ("condense digits --per-class 100 --set network=convnet:width=256 --set steps=2", "condensing"),
        slow("sketch digits --network convnet:width=256 --encoders 2", "sketch"),
        slow("experts digits --network convnet:width=256 --networks 1 --epochs 1", "experts"),
    ],
)
def test_too_little_memory_for_work_names_it(tmp_path, words, what):
    file = tmp_path / "images.npz"
    images = np.zeros((20, 1024, 1024), dtype=np.uint8)
    np.savez_compressed(file, images=np.repeat(images, 10, axis=0), labels=np.arange(200) % 2)
    words = [word.replace("FILE", str(file)) for word in words.split()]
    child = start(tmp_path, in_little_memory, 100, *words, "--out", str(tmp_path / "run"))
    child.join(60)
    messages = (tmp_path / "messages").read_text()
    assert child.exitcode == 1, messages
    sentence = messages.splitlines()[-1]
    assert sentence.startswith("lqm: ")
    assert "not enough memory" in sentence
    assert what in sentence
    assert "Traceback" not in messages


def test_the_error_is_public():
    assert issubclass(OutOfMemoryError, lqm.LqmError)

"""Shared by all tests: the digits, and a size of everything that takes a second."""

import itertools
import os
import sys

import pytest
import torch
from hypothesis import settings

from lqm.cli import signals
from lqm.cli.main import main
from lqm.images.evaluation import EvaluationProtocol
from lqm.images.sources import load_source

# Tiny work is quickest on one thread, and two threads of two processes can starve each other.
torch.set_num_threads(1)
os.environ["OMP_NUM_THREADS"] = "1"
# A machine that does other work is no reason to fail.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

TINY = {"steps": 6, "network": "convnet:width=8", "real_batch": 32}


@pytest.fixture(scope="session")
def caches(tmp_path_factory):
    return tmp_path_factory.mktemp("caches"), itertools.count()


@pytest.fixture(autouse=True)
def own_cache(caches, monkeypatch):
    """No test meets what another has kept, or what the user has."""
    folder, numbers = caches
    monkeypatch.setenv("LQM_CACHE", str(folder / str(next(numbers))))


@pytest.fixture(scope="session")
def digits():
    return load_source("digits")


@pytest.fixture
def tiny():
    return dict(TINY)


@pytest.fixture
def tiny_protocol():
    return EvaluationProtocol("tiny", epochs=2, networks=2, network="convnet:width=8")


@pytest.fixture(autouse=True)
def own_signals():
    """Some tests stop commands; the watch over these is not to end the process of the next tests."""
    signals.forget()
    yield
    signals.forget()


@pytest.fixture
def type_in(monkeypatch, capsys):
    """Runs the command line in this process; gives exit code, standard output and standard error."""
    # The tests' process is not to be ended when a busy machine takes long to stop a command.
    monkeypatch.setattr(signals, "_FORCED", 300.0)

    def typed(*words):
        monkeypatch.setattr(sys, "argv", ["lqm", *map(str, words)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        finally:
            signals.forget()
        return code, *capsys.readouterr()

    return typed

"""Shared by all tests: the digits, and a size of everything that takes a second."""

import pytest

from lqm.images.evaluation import EvaluationProtocol
from lqm.images.sources import load_source

TINY = {"steps": 6, "width": 8, "real_batch": 32}


@pytest.fixture(scope="session")
def digits():
    return load_source("digits")


@pytest.fixture
def tiny():
    return dict(TINY)


@pytest.fixture
def tiny_protocol():
    return EvaluationProtocol("tiny", epochs=2, networks=2, width=8)

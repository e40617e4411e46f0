import pytest

from lqm.methods import ahead
from tests.contract.making import Methods


@pytest.fixture(scope="session")
def methods(tmp_path_factory):
    return Methods(tmp_path_factory.mktemp("experts"))


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    """Graphs make their targets ahead, as on a machine with several cores."""
    monkeypatch.setattr(ahead, "_threads", lambda: 2)

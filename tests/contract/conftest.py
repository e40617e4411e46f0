import pytest

from tests.contract.making import Methods


@pytest.fixture(scope="session")
def methods(tmp_path_factory):
    return Methods(tmp_path_factory.mktemp("experts"))

"""The numbers of every method stay what they were; `python -m tests.golden.record` records them anew."""

import pytest
import torch
from safetensors.torch import load_file

from tests.golden.cases import CASES
from tests.golden.record import STORED, results_of

_EXPECTED = load_file(STORED)


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_every_case_is_stored_and_nothing_else():
    assert {name.partition("/")[0] for name in _EXPECTED} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_same_numbers_as_recorded(name, tmp_path, monkeypatch):
    monkeypatch.setenv("LQM_CACHE", str(tmp_path))
    found = results_of(name)
    assert found.keys() == {part for part in _EXPECTED if part.startswith(f"{name}/")}
    for part, tensor in found.items():
        # Kinds of CPU differ in the last bits, and a few steps make more of that.
        torch.testing.assert_close(tensor, _EXPECTED[part], rtol=1e-4, atol=1e-4)

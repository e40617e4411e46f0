"""The numbers of every method stay what they were; `python -m tests.golden.record KIND` records them anew."""

import pytest
import torch
from safetensors.torch import load_file

from tests.golden.cases import CASES
from tests.golden.record import FOLDER, results_of

# One recording a kind of CPU: kinds differ in the last bits, and training makes more of that.
_RECORDINGS = {path.stem: load_file(path) for path in sorted(FOLDER.glob("stored-*.safetensors"))}


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("recording", _RECORDINGS)
def test_every_case_is_stored_and_nothing_else(recording):
    assert {name.partition("/")[0] for name in _RECORDINGS[recording]} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_same_numbers_as_recorded(name, tmp_path, monkeypatch):
    monkeypatch.setenv("LQM_CACHE", str(tmp_path))
    found = results_of(name)
    for expected in _RECORDINGS.values():
        assert found.keys() == {part for part in expected if part.startswith(f"{name}/")}
    unlike = [_difference(found, expected) for expected in _RECORDINGS.values()]
    assert not all(unlike), "\n".join(unlike)


def _difference(found, expected):
    """How the numbers differ from those of one recording; nothing if they are its own."""
    try:
        for part, tensor in found.items():
            torch.testing.assert_close(tensor, expected[part], rtol=1e-4, atol=1e-4)
    except AssertionError as error:
        return f"{part}: {error}"
    return ""

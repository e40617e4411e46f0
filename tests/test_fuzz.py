"""A short replay of the fuzzing: valid files are read, what was found once and damaged files are refused."""

import random
from pathlib import Path

import pytest

from fuzz.readers import READERS, attempt

FOUND = Path(__file__).parents[1] / "fuzz" / "found"
KEPT = sorted(path.relative_to(FOUND) for path in FOUND.glob("*/*"))
CHANGES = 40


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("LQM_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.mark.parametrize("name", READERS)
def test_valid_files_are_read(name, tmp_path):
    for number, content in enumerate(READERS[name].valid()):
        (folder := tmp_path / str(number)).mkdir()
        assert attempt(READERS[name], content, folder) is None


@pytest.mark.parametrize("case", KEPT, ids=str)
def test_what_was_found_once_is_read_or_refused_in_a_sentence(case, tmp_path):
    attempt(READERS[case.parts[0]], (FOUND / case).read_bytes(), tmp_path)


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused_in_a_sentence(name, tmp_path):
    draws = random.Random(name)
    valid = READERS[name].valid()
    for number in range(CHANGES):
        content = bytearray(draws.choice(valid))
        start = 1 if name not in ("npz", "parquet", "picture", "tensors", "manifest") else 0
        place = draws.randrange(start, len(content))
        match draws.randrange(4):
            case 0:
                content[place] = draws.randrange(256)
            case 1:
                del content[place:]
            case 2:
                content[place:place] = draws.randbytes(4)
            case 3:
                content[place : place + 4] = draws.choice((b"\xff\xff\xff\x7f", b"\xff" * 4, bytes(4)))
        (folder := tmp_path / str(number)).mkdir()
        attempt(READERS[name], bytes(content), folder)

"""The size of the cache, its list and its cleaning; nothing that is not ours is ever touched."""

import hashlib
import os
import time

import pytest

import lqm
from lqm.utils.cache import cache_folder
from lqm.utils.cache_files import cache_entries, clean_cache, make_room, parse_age
from lqm.utils.errors import ConfigError
from tests.refusing import assert_refused

DAY = 86400


def entry(kind, number, size=1000, days=0.0):
    """A file of the cache that was last used some days ago."""
    name = hashlib.sha256(str(number).encode()).hexdigest()
    name = f"{name}.json" if kind in ("scores", "places") else f"{name[:32]}.{name[32:]}.safetensors"
    path = cache_folder() / kind / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    os.utime(path, (time.time() - days * DAY,) * 2)
    return path


def foreign(tmp_path):
    """What is not ours, in and beside the folders of the cache."""
    entry("images", 0, days=90)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / ("0" * 64 + ".json")).write_text("x")
    root = cache_folder()
    beside = root / "notes.txt", root / "images" / "photo.png", root / "mine" / ("0" * 64 + ".json")
    for path in beside:
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
        os.utime(path, (0, 0))
    (root / "scores").symlink_to(tmp_path / "precious")
    link = root / "images" / ("1" * 32 + "." + "2" * 32 + ".safetensors")
    link.symlink_to(tmp_path / "precious" / ("0" * 64 + ".json"))
    (root / "graphs").mkdir()
    folder = root / "graphs" / ("0" * 64 + ".json")
    folder.mkdir()
    return [*beside, tmp_path / "precious" / ("0" * 64 + ".json"), link, folder]


def test_beyond_its_limit_what_was_used_longest_ago_goes_first(monkeypatch):
    old, older, new = entry("images", 1, days=2), entry("scores", 2, days=3), entry("graphs", 3)
    monkeypatch.setenv("LQM_CACHE_LIMIT", "2500")
    assert make_room(cache_folder()) == 1000
    assert [path.exists() for path in (old, older, new)] == [True, False, True]
    monkeypatch.setenv("LQM_CACHE_LIMIT", "1")
    make_room(cache_folder())
    assert new.exists(), "what was just written or used stays"
    assert not old.exists()


def test_places_of_data_make_no_room_but_are_cleaned_when_asked(monkeypatch):
    place = entry("places", 1, days=90)
    monkeypatch.setenv("LQM_CACHE_LIMIT", "1")
    assert make_room(cache_folder()) == 0
    assert place.exists()
    clean_cache(cache_folder(), ("places",))
    assert not place.exists()


def test_what_is_read_from_the_cache_counts_as_used_and_what_is_written_makes_room(monkeypatch, tmp_path):
    monkeypatch.setenv("LQM_CACHE_LIMIT", "1")
    unused = entry("images", 1, days=1)
    source = "synthetic:nodes=200,classes=2"
    lqm.load_graph(source, show_progress=False)
    (written,) = (cache_folder() / "graphs").iterdir()
    assert not unused.exists()
    os.utime(written, (0, 0))
    lqm.load_graph(source, show_progress=False)
    assert written.stat().st_mtime > time.time() - 60


def test_nothing_foreign_is_counted_or_deleted(monkeypatch, tmp_path):
    theirs = foreign(tmp_path)
    assert len(cache_entries(cache_folder())) == 1
    monkeypatch.setenv("LQM_CACHE_LIMIT", "1")
    make_room(cache_folder())
    assert clean_cache(cache_folder()) == (0, 0)
    assert all(path.exists() for path in theirs)
    assert not cache_entries(cache_folder())


def test_the_command_lists_and_cleans(type_in, tmp_path):
    entry("images", 1, 5000, days=40), entry("images", 2, 3000), entry("scores", 3, days=40)
    code, printed, _ = type_in("cache")
    assert code == 0
    lines = {line.split()[0]: line for line in printed.splitlines() if line.strip()}
    for words in ("images", "2", "7.81 KiB", "40 d"):
        assert words in lines["images"]
    assert "20 GiB" in printed
    assert str(cache_folder()) in printed
    assert "deleted 1 files" in type_in("cache", "--clean", "images", "--older-than", "30d")[1]
    assert len(cache_entries(cache_folder())) == 2
    assert "deleted 2 files" in type_in("cache", "--clean", "all")[1]
    assert cache_entries(cache_folder()) == []
    assert_refused(type_in("cache", "--clean", "pictures"), "'pictures'.*images")
    assert_refused(type_in("cache", "--clean", "all", "--older-than", "soon"), "'soon'.*30d")
    assert_refused(type_in("cache", "--older-than", "30d"), "--clean")


def test_a_limit_that_is_none_is_one_sentence(type_in, monkeypatch):
    monkeypatch.setenv("LQM_CACHE_LIMIT", "much")
    assert_refused(type_in("cache"), "'much'")


def test_what_a_killed_process_left_is_cleaned_but_not_what_a_living_one_writes():
    entry("images", 1)
    left, written = (cache_folder() / "images" / f".{name}.tmp" for name in ("left", "written"))
    for path, age in ((left, DAY), (written, 0)):
        path.write_text("x")
        os.utime(path, (time.time() - age,) * 2)
    clean_cache(cache_folder())
    assert written.exists()
    assert not left.exists()


@pytest.mark.parametrize("text", ["", "30", "d", "-3d", "1e9d", "3 years"])
def test_an_age_that_is_none_is_refused(text):
    with pytest.raises(ConfigError, match="30d"):
        parse_age(text)

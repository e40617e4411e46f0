"""The cache of what took long to make: bound to its key, whole or made again."""

import shutil

import pytest
import torch

from lqm.utils.cache import Packed, cache_folder, content_key, kept
from lqm.utils.limits import limited_to


def number(key, value, made):
    def make():
        made.append(key)
        return torch.tensor(value)

    return kept(
        "numbers", key, make, pack=lambda x: Packed({"x": x}, {}), unpack=lambda p: p.tensors["x"]
    ).item()


def only(key):
    (path,) = (cache_folder() / "numbers").glob(f"{key}.*")
    return path


def test_what_was_kept_for_another_key_is_not_taken(capsys):
    made = []
    assert number("aa", 1.0, made) == 1.0
    path = only("aa")
    shutil.copy(path, path.with_name(path.name.replace("aa.", "bb.", 1)))
    assert number("bb", 2.0, made) == 2.0
    assert "something else" in capsys.readouterr().err
    assert number("bb", 3.0, made) == 2.0
    assert made == ["aa", "bb"]


@pytest.mark.parametrize("name", ["aa.x.safetensors", "aa.safetensors.safetensors", "aa.b.c.safetensors"])
def test_odd_names_in_the_cache_are_passed_over(name):
    (cache_folder() / "numbers").mkdir(parents=True)
    (cache_folder() / "numbers" / name).write_bytes(b"x")
    assert number("aa", 1.0, []) == 1.0


def test_what_does_not_unpack_is_made_again(capsys):
    made = []
    number("aa", 1.0, made)
    found = kept(
        "numbers",
        "aa",
        lambda: torch.tensor(5.0),
        pack=lambda x: Packed({"y": x}, {}),
        unpack=lambda p: p.tensors["y"],
    )
    assert found.item() == 5.0
    assert "made again" in capsys.readouterr().err


def test_paths_and_words_that_are_no_utf8_have_a_key(tmp_path):
    path = tmp_path / "caf\udce9"
    path.write_bytes(b"x")
    assert content_key("caf\udce9", tmp_path, [path]) != content_key("cafe", tmp_path, [path])


def test_a_file_above_the_limit_is_a_sentence(tmp_path):
    kept(
        "numbers",
        "aa",
        lambda: torch.zeros(10**6),
        pack=lambda x: Packed({"x": x}, {}),
        unpack=lambda p: p.tensors["x"],
    )
    with limited_to("1MB"), pytest.raises(Exception, match=r"aa\..*limit"):
        number("aa", 1.0, [])

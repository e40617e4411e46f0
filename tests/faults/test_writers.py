"""Several processes that write at once, and files that are cut short while they are in use."""

import json
import os
import time
from pathlib import Path

import pytest
import torch

import lqm
from lqm.banks import SKETCH, BankWriter, Sketch
from lqm.condensed import CondensedImages
from lqm.utils.cache import Packed, kept
from lqm.utils.errors import ArtifactError

from .children import start

SCORES, PROCESSES = 12, 5


def small_set(seed=0):
    return CondensedImages(
        data=torch.rand(4, 1, 8, 8, generator=torch.Generator().manual_seed(seed)),
        labels=torch.tensor([0, 0, 1, 1]),
        class_names=("zero", "one"),
        manifest={"preprocessing": {"mean": [0.5], "std": [0.25]}, "per_class": 2, "steps": 1},
    )


def note_scores(folder, writer):
    condensed = lqm.load(folder)
    for seed in range(SCORES):
        condensed = condensed.with_score({"protocol": {"name": str(writer)}, "seed": seed, "accuracy": 0.5})


def replace_again_and_again(folder):
    for seed in range(SCORES):
        small_set(seed % 2).save(folder)


def finish(children, folder):
    for child in children:
        child.join(120)
        assert child.exitcode == 0, (Path(folder) / "messages").read_text()


def test_scores_that_many_processes_note_at_once_are_all_there(tmp_path):
    small_set().save(tmp_path / "set")
    finish([start(tmp_path, note_scores, tmp_path / "set", n) for n in range(PROCESSES)], tmp_path)
    found = {(s["protocol"]["name"], s["seed"]) for s in lqm.load(tmp_path / "set").manifest["scores"]}
    assert found == {(str(n), seed) for n in range(PROCESSES) for seed in range(SCORES)}
    assert len(os.listdir(tmp_path / "set")) == 2, "no lock and no temporary file is left"


def test_processes_that_replace_a_set_at_once_leave_a_whole_one(tmp_path):
    finish([start(tmp_path, replace_again_and_again, tmp_path / "set") for _ in range(3)], tmp_path)
    lqm.load(tmp_path / "set")
    assert len(os.listdir(tmp_path / "set")) == 2


def numbers(folder, key):
    """Through the cache; a child says when it has them and waits until it may use them."""
    found = kept(
        "numbers",
        key,
        lambda: torch.arange(2_000_000, dtype=torch.float32),
        pack=lambda made: Packed({"numbers": made}, {}),
        unpack=lambda packed: packed.tensors["numbers"],
    )
    (folder / f"loaded-{os.getpid()}").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    assert float(found.double().sum()) == 2_000_000 * 1_999_999 / 2


def use_shard(folder):
    shard = Sketch(folder / "sketch")[0]
    (folder / "loaded").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    with pytest.raises(ArtifactError, match=r"encoder-000000.* cut short"):
        shard["grid"]


def wait_for(folder, count=1):
    until = time.monotonic() + 60
    while len(list(folder.glob("loaded*"))) < count and time.monotonic() < until:
        time.sleep(0.01)


def test_a_cached_file_that_is_cut_short_in_use_kills_nobody(tmp_path):
    (tmp_path / "go").touch()
    finish([start(tmp_path, numbers, tmp_path, "ab")], tmp_path)
    (tmp_path / "go").unlink()
    (path,) = (tmp_path / "cache" / "numbers").glob("ab.*.safetensors")
    child = start(tmp_path, numbers, tmp_path, "ab")
    wait_for(tmp_path, 2)
    os.truncate(path, 100)
    (tmp_path / "go").touch()
    finish([child], tmp_path)


def test_a_shard_that_is_cut_short_in_use_is_a_sentence(tmp_path):
    with BankWriter(tmp_path / "sketch", SKETCH, {}, {}) as writer:
        writer.write((0,), {"grid": torch.rand(1000, 1000)})
    child = start(tmp_path, use_shard, tmp_path)
    wait_for(tmp_path)
    (path,) = (tmp_path / "sketch").glob("encoder-*")
    os.truncate(path, 100_000)
    (tmp_path / "go").touch()
    finish([child], tmp_path)


def test_processes_that_fill_the_cache_at_once_do_not_disturb_each_other(tmp_path):
    children = [start(tmp_path, numbers, tmp_path, "ab") for _ in range(3)]
    (tmp_path / "go").touch()
    finish(children, tmp_path)
    assert len(os.listdir(tmp_path / "cache" / "numbers")) == 1
    assert "damaged" not in (tmp_path / "messages").read_text()


def fill_and_die(folder):
    """Dies with its cached file half written."""
    from lqm.utils import cache

    def deadly(file, tensors, metadata):
        file.write(b"half")
        file.flush()
        os.kill(os.getpid(), 9)

    cache.write_tensors = deadly
    numbers(folder, "ab")


def test_what_a_killed_process_left_in_the_cache_is_swept(tmp_path):
    (tmp_path / "go").touch()
    child = start(tmp_path, fill_and_die, tmp_path)
    child.join(60)
    assert child.exitcode == -9
    assert os.listdir(tmp_path / "cache" / "numbers")
    finish([start(tmp_path, numbers, tmp_path, "ab")], tmp_path)
    (left,) = os.listdir(tmp_path / "cache" / "numbers")
    assert left.endswith(".safetensors")


def hold_lock_and_die(folder):
    from lqm.utils.locks import folder_lock

    with folder_lock(folder):
        os.kill(os.getpid(), 9)


def test_a_writer_that_was_killed_leaves_its_folder_free(tmp_path):
    condensed = small_set().save(tmp_path / "set")
    child = start(tmp_path, hold_lock_and_die, tmp_path / "set")
    child.join(60)
    assert child.exitcode == -9
    condensed.with_score({"protocol": {"name": "a"}, "seed": 0})
    assert json.loads((tmp_path / "set" / "manifest.json").read_text())["scores"]

"""A disk that takes no more in the middle of a run: the largest file a process may write stands for it."""

import resource

import lqm
from tests.condensed.test_artefact import small_set

from .children import command_line, digests, start

WORDS = ("--per-class", "20", "--set", "steps=6", "--set", "network=convnet:width=4:depth=1")


def on_a_small_disk(size, *words):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    command_line(*words)


def test_a_run_whose_disk_is_full_says_so_and_goes_on_later_to_the_same_bits(tmp_path):
    words = ("condense", "digits", *WORDS, "--out", str(tmp_path / "run"))
    child = start(tmp_path, on_a_small_disk, 20_000, *words)
    child.join(120)
    assert child.exitcode == 1
    last = (tmp_path / "messages").read_text().splitlines()[-1]
    assert "could not be written: File too large" in last
    assert "6/6" not in (tmp_path / "messages").read_text(), "the last step was made but not saved"
    assert not list((tmp_path / "run").rglob(".*.tmp"))
    for out in ("run", "straight"):
        settings = {"steps": 6, "network": "convnet:width=4:depth=1"}
        lqm.condense("digits", per_class=20, out=tmp_path / out, settings=settings, show_progress=False)
    assert digests(tmp_path / "run") == digests(tmp_path / "straight")


def save_another(folder):
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
    small_set(1).save(folder)


def test_a_set_that_could_not_be_replaced_is_as_it_was(tmp_path):
    small_set(0).save(tmp_path / "set")
    child = start(tmp_path, save_another, tmp_path / "set")
    child.join(120)
    assert child.exitcode == 1
    assert lqm.load(tmp_path / "set").images.equal(small_set(0).images)
    assert len(list((tmp_path / "set").iterdir())) == 2

"""Trainings of experts that die, in a process of their own."""

import random
import time

import pytest

import lqm
from lqm.api.experts import experts

from .children import KILLED, Death, digests, run_to_death, start

NETWORK = "convnet:width=8:depth=2"
SETTINGS = {"batch": 64, "augmentation": "color-crop", "cutmix": 0.5}


def options(out, networks=2, epochs=3):
    size = {"networks": networks, "epochs": epochs, "network": NETWORK, "seed": 3}
    return {**size, "out": out, "settings": SETTINGS, "show_progress": False}


def names(folder):
    """Each has the hash of its content in it."""
    return sorted(path.name for path in folder.glob("snapshot-*.safetensors"))


def finish(out, **size):
    experts("digits", **options(out, **size))
    return names(out)


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    return finish(tmp_path_factory.mktemp("straight") / "bank")


@pytest.mark.parametrize("number", [1, 3, 5, 8])
@pytest.mark.parametrize("after", [False, True])
def test_experts_killed_at_a_snapshot_end_with_the_same_sha256(tmp_path, straight, number, after):
    out = tmp_path / "bank"
    death = Death(("replace",), number, after, where="snapshot")
    run_to_death(tmp_path, death, experts, "digits", **options(out))
    there = names(out)
    assert there == straight[: number if after else number - 1]
    assert finish(out) == straight
    assert not list(out.rglob(".*.tmp")), "what was half written is cleared away"


def test_experts_killed_again_and_again_at_random_moments_end_with_the_same_sha256(tmp_path):
    out, size, draws = tmp_path / "bank", {"networks": 2, "epochs": 12}, random.Random(0)
    for _ in range(3):
        before = len(names(out)) if out.exists() else 0
        child = start(tmp_path, experts, "digits", **options(out, **size))
        while child.is_alive() and (not out.exists() or len(names(out)) <= before):
            time.sleep(0.002)
        time.sleep(draws.uniform(0, 0.1))
        child.kill()
        child.join()
        assert child.exitcode == KILLED
        assert before < len(names(out)) < 2 * 13
    assert finish(out, **size) == finish(tmp_path / "straight", **size)


@pytest.mark.parametrize("where", ["snapshot", "checkpoints"])
def test_dance_killed_in_its_experts_or_its_steps_ends_with_the_same_sha256(tmp_path, where):
    settings = {"steps": 6, "network": NETWORK, "real_batch": 16, "pairs": 2, "expert_epochs": 2}
    run = {"method": "dance", "per_class": 1, "settings": settings, "show_progress": False}
    out = tmp_path / "run"
    run_to_death(
        tmp_path,
        Death(("replace",), 3, where=where),
        lqm.condense,
        "digits",
        out=out,
        checkpoint_seconds=0.0,
        **run,
    )
    assert len(names(out / "experts")) == (2 if where == "snapshot" else 6)
    lqm.condense("digits", out=out, **run)
    lqm.condense("digits", out=tmp_path / "straight", **run)
    assert digests(out) == digests(tmp_path / "straight")
    assert names(out / "experts") == names(tmp_path / "straight" / "experts")

"""`lqm experts`, and the commands that use what it made."""

import json
import shlex

import pytest
from safetensors.torch import load_file

from tests.refusing import assert_refused

NETWORK = "convnet:width=4:depth=2"
NAMED = ("--network", NETWORK)
TINY = ("--per-class", 1, "--set", "steps=2", "--set", "real_batch=8")


@pytest.fixture
def bank(type_in, tmp_path):
    out = tmp_path / "bank"
    typed = type_in("experts", "digits", "--networks", 2, "--epochs", 1, *NAMED, "--out", out)
    assert typed[0] == 0
    return out


def read(folder, pattern):
    (path,) = folder.glob(pattern)
    return load_file(path)


@pytest.mark.parametrize(
    ("more", "epochs"), [((), 1), (("--set", "momentum=0"), 1), (("--set", "zca=true"), 3)]
)
def test_what_it_prints_last_condenses_by_the_experts(type_in, tmp_path, more, epochs):
    source = ("digits", "--augmentation", "color,crop")
    named = (*NAMED, *more, "--set", "batch=500")
    words = ("--networks", 2, "--epochs", epochs, *named, "--out", tmp_path / "bank")
    code, printed, error = type_in("experts", *source, *words)
    assert code == 0
    assert "2 networks" in printed
    assert "batch=500" in error
    assert len(list((tmp_path / "bank").glob("snapshot-*"))) == 2 * (epochs + 1)
    (following,) = (line.partition("next: lqm ")[2] for line in printed.splitlines())
    code, printed, _ = type_in(*shlex.split(following), *TINY, "--out", tmp_path / "run")
    assert code == 0
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["experts"]["networks"] == 2
    assert len(manifest["experts"]["sha256"]) == 64


def test_experts_on_whitened_images_are_trained_by_one_word(type_in, tmp_path):
    words = ("experts", "digits", "--networks", 1, "--epochs", 1, *NAMED, "--set", "zca=true")
    code, printed, error = type_in(*words, "--out", tmp_path / "bank")
    assert (code, "zca=true" in error) == (0, True)
    assert "dance" not in printed
    words = ("condense", "digits", "--method", "dance", *NAMED, *TINY, "--set", "pairs=1")
    assert_refused(type_in(*words, "--experts", tmp_path / "bank"), "zca")


def test_the_same_command_goes_on_and_says_what_is_there(type_in, bank):
    words = ("experts", "digits", "--networks", 3, "--epochs", 1, *NAMED, "--out", bank)
    code, printed, error = type_in(*words)
    assert code == 0
    assert "3 networks" in printed
    assert "4 of 6" in error


@pytest.mark.parametrize(
    ("words", "mentioned"),
    [
        (("digits-knn",), "digits-knn.*source of images"),
        (("digits", "--networks", 0), "networks"),
        (("digits", "--epochs", 0), "epochs"),
        (("digits", "--set", "momentum=1.5"), "momentum"),
        (("digits", "--set", "optimizer=sam"), "optimizer.*gsam"),
        (("digits", "--set", "rho=-1"), "rho"),
        (("digits", "--set", "bach=64"), "bach.*batch"),
        (("digits", "--set", "schedule=cosine"), "schedule.*fifths"),
        (("digits", "--network", "convnt"), "convnt.*convnet"),
    ],
)
def test_what_cant_be_trained_is_refused(type_in, tmp_path, words, mentioned):
    assert_refused(type_in("experts", *words, "--out", tmp_path / "bank"), mentioned)
    assert not (tmp_path / "bank").exists()


def test_the_encoders_of_a_sketch_for_idm_are_the_snapshots(type_in, bank, tmp_path):
    words = ("sketch", "digits", "--method", "idm", "--max-per-class", 4, "--experts", bank, *NAMED)
    code, _, _ = type_in(*words, "--encoders", 4, "--out", tmp_path / "sketch")
    assert code == 0
    for number, (network, epoch) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        snapshot = read(bank, f"snapshot-{network:06d}-{epoch:06d}.*")
        shard = read(tmp_path / "sketch", f"encoder-{number:06d}.*")
        for name, part in snapshot.items():
            assert shard[f"encoder.{name}"].equal(part)
    assert_refused(type_in(*words, "--encoders", 5, "--out", tmp_path / "more"), "4 snapshots.*lqm experts")
    assert not (tmp_path / "more").exists()
    code, _, _ = type_in(
        "condense",
        "digits",
        "--sketch",
        tmp_path / "sketch",
        "--per-class",
        1,
        "--set",
        "steps=2",
        "--out",
        tmp_path / "run",
    )
    assert code == 0


@pytest.mark.parametrize(
    ("words", "mentioned"),
    [
        (("--method", "dance", "--set", "pairs=2"), f"network = {NETWORK}"),
        (("--method", "dance", *NAMED, "--set", "pairs=4"), "pairs = 2.*lqm experts"),
        (("--method", "dm", *NAMED), "'dm' uses no experts"),
        (("--method", "idm", *NAMED), "'idm'.*lqm sketch"),
        (
            ("--method", "dance", *NAMED, "--augmentation", "crop", "--set", "pairs=2"),
            "other data.*lqm experts",
        ),
    ],
)
def test_experts_that_cant_be_used_are_refused(type_in, bank, tmp_path, words, mentioned):
    typed = type_in("condense", "digits", "--experts", bank, *TINY, *words, "--out", tmp_path / "run")
    assert_refused(typed, mentioned)
    assert not (tmp_path / "run").exists()


def test_a_run_that_is_resumed_uses_the_experts_that_it_began_with(type_in, bank, tmp_path):
    words = ("condense", "digits", "--method", "dance", "--experts", bank, *NAMED, "--set", "pairs=2")
    size = ("--per-class", 1, "--set", "real_batch=8", "--out", tmp_path / "run")
    assert type_in(*words, *size, "--set", "steps=2")[0] == 0
    before = json.loads((tmp_path / "run" / "manifest.json").read_text())["experts"]
    assert type_in("experts", "digits", "--networks", 3, "--epochs", 2, *NAMED, "--out", bank)[0] == 0
    assert type_in(*words, *size, "--set", "steps=4")[0] == 0
    after = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert after["experts"] == before
    assert after["steps"] == 4


def test_a_folder_without_experts_is_refused(type_in, tmp_path):
    words = (
        "condense",
        "digits",
        "--method",
        "dance",
        *TINY,
        "--experts",
        tmp_path,
        "--out",
        tmp_path / "run",
    )
    assert_refused(type_in(*words), "experts.*lqm experts")

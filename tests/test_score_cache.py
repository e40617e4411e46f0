"""A network that was trained is never trained again for the same question."""

import hashlib
import json

import pytest
import torch

from lqm.images import evaluation
from lqm.images.evaluation import score
from lqm.images.methods.coresets import random_images
from lqm.utils.cache import cache_folder

CPU = torch.device("cpu")


@pytest.fixture
def trained(monkeypatch):
    """How many networks were trained."""
    count = []
    original = evaluation.train

    def spy(*args, **options):
        count.append(options["epochs"])
        original(*args, **options)

    monkeypatch.setattr(evaluation, "train", spy)
    return count


def judge(digits, protocol, images=None, **options):
    chosen = images or random_images(digits, 2, 0, 0)
    return score(lambda j: chosen, digits, protocol, seed=0, device=CPU, **options)


def test_the_same_question_is_answered_from_the_book(digits, tiny_protocol, trained):
    first = judge(digits, tiny_protocol)
    assert judge(digits, tiny_protocol) == first
    assert len(trained) == 2


def test_an_evaluation_that_was_stopped_goes_on_after_the_last_network(digits, tiny_protocol, trained):
    def stop(count, metrics, cached):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge(digits, tiny_protocol, after_each=stop)
    assert len(trained) == 1
    judge(digits, tiny_protocol)
    assert len(trained) == 2


def test_what_was_cached_is_told_from_what_was_trained(digits, tiny_protocol):
    from dataclasses import replace

    told = []
    for networks in (1, 2):
        judge(
            digits,
            replace(tiny_protocol, networks=networks),
            after_each=lambda done, metrics, cached: told.append((done, cached)),
        )
    assert told == [(1, False), (1, True), (2, False)]


def test_more_networks_train_only_the_new_ones(digits, tiny_protocol, trained):
    from dataclasses import replace

    judge(digits, tiny_protocol)
    judge(digits, replace(tiny_protocol, networks=3))
    assert len(trained) == 3


def test_another_question_is_not_answered_from_the_book(digits, tiny_protocol, trained):
    from dataclasses import replace

    judge(digits, tiny_protocol)
    judge(digits, replace(tiny_protocol, epochs=3))
    judge(digits, replace(tiny_protocol, network="convnet:width=9"))
    judge(digits, tiny_protocol, images=random_images(digits, 2, 0, 1))
    judge(replace(digits, augmentation=("crop",)), tiny_protocol)
    score(lambda j: random_images(digits, 2, 0, 0), digits, tiny_protocol, seed=1, device=CPU)
    assert len(trained) == 12


def test_a_damaged_page_is_said_and_the_network_trained_again(digits, tiny_protocol, trained, capsys):
    first = judge(digits, tiny_protocol)
    pages = sorted((cache_folder() / "scores").glob("*.json"))
    assert len(pages) == 2
    pages[0].write_text("{")
    stored = json.loads(pages[1].read_text())
    stored["finding"]["accuracy"] = [1.0]
    pages[1].write_text(json.dumps(stored))
    assert judge(digits, tiny_protocol) == first
    assert len(trained) == 4
    assert capsys.readouterr().err.count("the network is trained again") == 2


def test_a_cache_that_cant_be_written_is_done_without(digits, tiny_protocol, monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "file"))
    assert judge(digits, tiny_protocol).accuracy >= 0
    assert "not kept" in capsys.readouterr().err


def test_a_network_of_the_users_own_is_always_trained(digits, tiny_protocol, trained):
    def mine(shape, classes):
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, classes))

    for _ in range(2):
        judge(digits, tiny_protocol, network=mine)
    assert len(trained) == 4


def test_a_large_training_set_has_fewer_epochs_and_small_sets_all(digits, tiny_protocol, trained):
    from dataclasses import replace

    protocol = replace(tiny_protocol, epochs=50, full_steps=30, networks=1, full_networks=1)
    judge(digits, protocol, images=digits.train, full=True)
    judge(digits, protocol)
    assert trained == [5, 50], "1,442 images are 6 batches"


def test_a_score_under_the_name_of_another_question_is_not_taken(digits, tiny_protocol, trained, capsys):
    first = judge(digits, tiny_protocol)
    folder = cache_folder() / "scores"
    own = {path.name for path in folder.glob("*.json")}
    judge(digits, tiny_protocol, images=random_images(digits, 2, 0, 1))
    foreign = next(path for path in folder.glob("*.json") if path.name not in own)
    for name in own:
        (folder / name).write_bytes(foreign.read_bytes())
    assert judge(digits, tiny_protocol) == first
    assert len(trained) == 6
    assert capsys.readouterr().err.count("is the score of something else") == 2


@pytest.mark.parametrize("accuracy", [0.999, [0.999, "x"], [float("inf")], [[1.0]], None])
def test_a_score_that_was_edited_or_is_none_is_not_taken(digits, tiny_protocol, trained, accuracy):
    first = judge(digits, tiny_protocol)
    for path in (cache_folder() / "scores").glob("*.json"):
        stored = json.loads(path.read_text())
        stored["finding"]["accuracy"] = accuracy
        path.write_text(json.dumps(stored))
    assert judge(digits, tiny_protocol) == first
    assert len(trained) == 4


@pytest.mark.parametrize(
    "content", [b"[]", b"7", b"[" * 10**5, b"\xff", b'{"sha256": 1, "finding": 2, "key": 3}']
)
def test_what_is_no_score_at_all_is_passed_over(digits, tiny_protocol, trained, content):
    first = judge(digits, tiny_protocol)
    for path in (cache_folder() / "scores").glob("*.json"):
        path.write_bytes(content)
    assert judge(digits, tiny_protocol) == first


def test_a_hash_of_the_finding_alone_is_not_enough(digits, tiny_protocol, trained):
    """It was, once: a score could be changed without a look at its key."""
    first = judge(digits, tiny_protocol)
    for path in (cache_folder() / "scores").glob("*.json"):
        stored = json.loads(path.read_text())
        stored["finding"]["accuracy"] = [0.999]
        stored["sha256"] = hashlib.sha256(json.dumps(stored["finding"]).encode()).hexdigest()
        path.write_text(json.dumps(stored))
    assert judge(digits, tiny_protocol) == first
    assert len(trained) == 4

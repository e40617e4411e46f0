"""`continual`: what it refuses, and what it writes."""

import json
from dataclasses import replace

import pytest
import torch

import lqm
from lqm.graphs.continual import CONTINUAL_METHODS
from lqm.utils.errors import ConfigError
from tests.graphs.continual.making import LEARNING, TINY, run, same, small_graph


@pytest.mark.parametrize("method", CONTINUAL_METHODS)
def test_every_method_learns_a_stream(method, tmp_path):
    kind = CONTINUAL_METHODS[method]
    settings = {**LEARNING, **({"steps": 2, "width": 8} if kind.condense else {})}
    result = run(
        method=method, budget=5 if kind.has_memory else None, settings=settings, out=tmp_path, repeats=2
    )
    assert result.matrices.shape == (2, 3, 3)
    assert result.matrices.isnan().equal(torch.ones(3, 3).triu(1).bool().expand(2, 3, 3))
    assert [len(kept.labels) for kept in result.memories[0]] == ([5] * 3 if kind.has_memory else [])
    stored = json.loads((tmp_path / "result.json").read_text())
    assert stored["average_accuracy"]["mean"] == result.average_accuracy.mean
    assert stored["backward_transfer"]["each"] == list(result.backward_transfer.each)
    assert stored["matrices"][1][0][1:] == [None, None]
    assert stored["matrices"][1][2] == result.matrices[1, 2].tolist()
    assert (tmp_path / "accuracy-matrix.png").read_bytes()[:4] == b"\x89PNG"


def test_memories_can_be_loaded_and_say_where_they_come_from(tmp_path):
    source = small_graph()
    result = run(source, out=tmp_path, distance="mean", repeats=2)
    kept = lqm.load(tmp_path / "repeat-1" / "memory" / "task-02")
    assert isinstance(kept, lqm.CondensedNodes)
    assert kept.features.equal(result.memories[1][2].features)
    assert set(kept.labels.tolist()) == {4, 5}
    assert kept.class_names == source.class_names
    said = kept.manifest
    assert (said["method"], said["distance"]["name"], said["budget"], said["task"]) == ("cat", "mean", 5, 2)
    assert (said["classes"], sum(said["counts"]), said["seed"]) == (["class 4", "class 5"], 5, 1)
    assert len(said["source"]["fingerprint"]) == 64


def test_context_of_a_subgraph_memory_is_reported(tmp_path):
    result = run(method="ssm", settings={**LEARNING, "neighbours": 2}, out=tmp_path)
    said = lqm.load(tmp_path / "repeat-0" / "memory" / "task-00").manifest
    assert said["context"] > 0
    assert result.record()["memory_nodes"][0] == 5 + said["context"]


def test_pseudo_labels_are_named_in_the_result(tmp_path):
    result = run(settings={**TINY, "pseudo_labels": "validation"}, out=tmp_path)
    assert result.config["settings"]["pseudo_labels"] == "validation"
    assert result.memories[0][0].manifest["pseudo_labelled"] > 0
    assert "(class-incremental), with pseudo-labels on validation nodes" in str(result)
    same(result, run(settings={**TINY, "pseudo_labels": "validation"}, out=tmp_path))


def test_repeat_r_is_a_run_of_seed_plus_r():
    together = run(repeats=2, seed=4)
    alone = run(seed=5)
    assert together.matrices[1].nan_to_num().equal(alone.matrices[0].nan_to_num())
    assert together.memories[1][0].features.equal(alone.memories[0][0].features)


def test_a_budget_may_be_a_share_and_is_taken_of_each_task():
    source = small_graph()
    sizes = source.graph.labels.bincount().view(3, 2).sum(dim=1)
    result = run(source, budget="20%")
    assert [len(kept.labels) for kept in result.memories[0]] == [round(0.2 * n) for n in sizes.tolist()]


def test_budgets_written_as_text_are_the_same_run(tmp_path):
    same(run(budget=5, out=tmp_path), run(budget=" 5", out=tmp_path))


def test_a_run_of_another_kind_is_refused_in_the_same_folder(tmp_path):
    run(out=tmp_path)
    with pytest.raises(ConfigError, match="holds a run with budget = 5, not 6"):
        run(out=tmp_path, budget=6)
    with pytest.raises(ConfigError, match=r"holds a run with stream.order = 'labels', not 'shuffled'"):
        run(out=tmp_path, order="shuffled")


def test_the_split_of_a_source_is_no_part_of_the_run(tmp_path):
    source = small_graph()
    half = len(source.train) // 2
    other = replace(source, train=source.train[half:], test=source.train[:half], split="published")
    assert source.fingerprint != other.fingerprint
    same(run(source, out=tmp_path), run(other, out=tmp_path))
    moved = replace(source, graph=replace(source.graph, features=source.graph.features + 1))
    with pytest.raises(ConfigError, match=r"holds a run with source.fingerprint = "):
        run(moved, out=tmp_path)


def test_the_fingerprint_of_a_source_that_is_read_is_that_of_its_random_split():
    source = lqm.load_graph("digits-knn", split="random")
    settings = {**LEARNING, "epochs": 1}
    said = run(source, method="random", classes_per_task=9, budget=9, settings=settings).config["source"]
    assert said == {name: part for name, part in source.record.items() if name != "split"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "ewc"}, "there is no continual method 'ewc'"),
        ({"distance": "lqn"}, "there is no distance 'lqn'; did you mean 'lqm'"),
        ({"distance": object()}, "is no distance"),
        ({"budget": None}, "method 'cat' needs a budget, the nodes that it keeps of each task"),
        ({"budget": "many"}, "budget = 'many' can't be used"),
        ({"budget": 40}, "the budget of 40 nodes is more than the 17 training nodes of task 0"),
        (
            {"method": "joint", "settings": {}},
            "'joint' keeps whole tasks and takes no budget; leave the budget out",
        ),
        (
            {"method": "finetuning", "settings": {}},
            "'finetuning' keeps nothing of a task and takes no budget",
        ),
        (
            {"method": "joint", "budget": None, "settings": {}, "distance": "mean"},
            "'joint' matches no distance",
        ),
        ({"method": "ssm", "settings": {}, "distance": "mean"}, "leave the distance out"),
        ({"settings": {"step": 3}}, "there is no setting 'step'; did you mean 'steps'"),
        ({"settings": {"neighbours": 3}}, "there is no setting 'neighbours'"),
        ({"settings": {"epochs": 0}}, "epochs = 0 can't be used"),
        ({"settings": {"classifier": "gnn"}}, "there is no network 'gnn'; did you mean 'gcn'"),
        ({"settings": {"classifier": "gcn:depth=1"}}, "depth of gcn is 1"),
        ({"settings": {"classifier": "gat:width=60"}}, "width of gat is 60; it should be a multiple of"),
        ({"settings": {"pseudo_labels": "all"}}, "pseudo_labels = 'all' can't be used"),
        ({"method": "random", "settings": {"pseudo_labels": "test"}}, "there is no setting 'pseudo_labels'"),
        ({"scoring": "domain"}, "there is no way of scoring 'domain'"),
        ({"features": "spectral"}, "features spectral are eigenvectors of the whole graph"),
        ({"repeats": 0}, "repeats = 0 can't be used: it should be a whole number, at least 1"),
        ({"order": "random"}, "there is no order of classes 'random'"),
        ({"remainder": "first"}, "there is no way with a remainder 'first'"),
    ],
)
def test_what_does_not_go_together_is_refused_before_any_work(tmp_path, options, sentence):
    out = tmp_path / "run"
    with pytest.raises(ConfigError) as found:
        run(out=out, **options)
    assert sentence in str(found.value)
    assert not out.exists()


def test_settings_of_memory_and_classifier_never_share_a_name():
    for kind in CONTINUAL_METHODS.values():
        assert not kind.learning.__dataclass_fields__.keys() & kind.memory.__dataclass_fields__.keys()


def test_words_of_the_command_line_become_settings():
    words = {"steps": "3", "retrain": "true", "epochs": "4", "classifier": "sgc", "train_in_memory": "no"}
    said = run(settings=words).config["settings"]
    assert {name: said[name] for name in words} == {
        "steps": 3,
        "retrain": True,
        "epochs": 4,
        "classifier": "sgc",
        "train_in_memory": False,
    }


def test_task_scoring_is_never_worse_than_class_scoring():
    by_class, by_task = run(), run(scoring="task")
    assert (by_task.matrices >= by_class.matrices)[~by_class.matrices.isnan()].all()


def test_one_task_has_no_backward_transfer(tmp_path):
    result = run(classes_per_task=6, budget=8, out=tmp_path)
    assert result.backward_transfer is None
    assert json.loads((tmp_path / "result.json").read_text())["backward_transfer"] is None
    assert "BWT -" in str(result)

"""`continual`: what it refuses, what it writes, and how it goes on."""

import json
import os

import pytest
import torch
from safetensors.torch import load

import lqm
from lqm.errors import ConfigError
from lqm.graphs.continual import CONTINUAL_METHODS
from lqm.report.continual import continual_table, heat_map
from lqm.streaming import continual
from tests.graphs.continual.making import TINY, small_graph

LEARNING = {"classifier": "gcn:width=8:depth=2", "epochs": 8}


def run(source=None, **options):
    arguments = {"method": "cat", "budget": 5, "settings": TINY, "device": "cpu", "show_progress": False}
    return continual(source or small_graph(), **{**arguments, **options})


def same(one, two):
    assert one.matrices.nan_to_num(-1).equal(two.matrices.nan_to_num(-1))
    for before, after in zip(one.memories, two.memories, strict=True):
        for left, right in zip(before, after, strict=True):
            assert left.features.equal(right.features)
            assert left.labels.equal(right.labels)


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
    assert said["source"]["fingerprint"] == source.fingerprint


def test_context_of_a_subgraph_memory_is_reported(tmp_path):
    result = run(method="ssm", settings={**LEARNING, "neighbours": 2}, out=tmp_path)
    said = lqm.load(tmp_path / "repeat-0" / "memory" / "task-00").manifest
    assert said["context"] > 0
    assert result.record()["memory_nodes"][0] == 5 + said["context"]


def test_pseudo_labels_are_named_in_the_result(tmp_path):
    result = run(settings={**TINY, "pseudo_labels": "validation"}, out=tmp_path)
    assert result.config["settings"]["pseudo_labels"] == "validation"
    assert result.memories[0][0].manifest["pseudo_labelled"] > 0
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


def test_a_finished_run_is_read_and_takes_more_repeats(tmp_path, monkeypatch):
    run(out=tmp_path, repeats=2)
    before = (tmp_path / "result.json").read_bytes()
    learned = []
    monkeypatch.setattr(
        "lqm.graphs.continual.learning.Learner.learn", lambda self, task, data: learned.append(task.number)
    )
    same(run(out=tmp_path, repeats=2), run(repeats=2, out=tmp_path))
    assert len(run(out=tmp_path, repeats=1).repeats) == 1
    assert (tmp_path / "result.json").read_bytes() == before
    assert not learned
    run(out=tmp_path, repeats=3)
    assert learned == [0, 1, 2]
    assert json.loads((tmp_path / "result.json").read_text())["repeats"] == 3


def test_a_run_of_another_kind_is_refused_in_the_same_folder(tmp_path):
    run(out=tmp_path)
    with pytest.raises(ConfigError, match="holds a run with budget = 5, not 6"):
        run(out=tmp_path, budget=6)
    with pytest.raises(ConfigError, match=r"holds a run with stream.order = 'labels', not 'shuffled'"):
        run(out=tmp_path, order="shuffled")


class Stop(BaseException):
    pass


def renames(monkeypatch, fatal=None):
    """Count the files that are renamed into their place, and stop at one of them."""
    count, rename = [0], os.replace

    def counted(*paths):
        count[0] += 1
        if count[0] == fatal:
            raise Stop
        rename(*paths)

    monkeypatch.setattr(os, "replace", counted)
    return count


def models(folder):
    """Weights and moments after each of the last two tasks."""
    paths = sorted((folder / "repeat-0" / "checkpoints").glob("*.safetensors"))
    return [{k: v for k, v in load(path.read_bytes()).items() if k != "seconds"} for path in paths]


@pytest.mark.parametrize("options", [{}, {"method": "joint", "budget": None, "settings": LEARNING}])
def test_a_run_stopped_at_any_write_ends_like_one_that_was_not(tmp_path, monkeypatch, options):
    with monkeypatch.context() as patch:
        writes = renames(patch)
        straight = run(out=tmp_path / "straight", **options)
    expected = models(tmp_path / "straight")
    for fatal in range(1, writes[0] + 1):
        out = tmp_path / str(fatal)
        with monkeypatch.context() as patch:
            renames(patch, fatal)
            with pytest.raises(Stop):
                run(out=out, **options)
        same(run(out=out, **options), straight)
        for found, wanted in zip(models(out), expected, strict=True):
            assert found.keys() == wanted.keys()
            for name, part in wanted.items():
                assert torch.equal(found[name].nan_to_num(), part.nan_to_num())
        rows = sorted((out / "repeat-0").glob("after-*.json"))
        assert [json.loads(row.read_text())["task"] for row in rows] == [0, 1, 2]


@pytest.mark.parametrize("what", ["memory/task-01/manifest.json", "checkpoints/step-*"])
def test_what_is_damaged_is_made_again(tmp_path, what, capsys):
    straight = run(out=tmp_path)
    for path in (tmp_path / "repeat-0").glob(what):
        path.write_bytes(path.read_bytes()[:-3] + b"xyz")
    same(run(out=tmp_path), straight)
    assert "is damaged" in capsys.readouterr().err


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
        ({"method": "ssm", "settings": {}, "distance": "mean"}, "method 'ssm' chooses real records"),
        ({"settings": {"step": 3}}, "there is no setting 'step'; did you mean 'steps'"),
        ({"settings": {"neighbours": 3}}, "there is no setting 'neighbours'"),
        ({"settings": {"epochs": 0}}, "epochs = 0 can't be used"),
        ({"settings": {"classifier": "gnn"}}, "there is no network 'gnn'; did you mean 'gcn'"),
        ({"settings": {"pseudo_labels": "all"}}, "pseudo_labels = 'all' can't be used"),
        ({"method": "random", "settings": {"pseudo_labels": "test"}}, "there is no setting 'pseudo_labels'"),
        ({"scoring": "domain"}, "there is no way of scoring 'domain'"),
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


def test_the_table_shows_the_matrix_in_percent_and_both_numbers():
    result = run(repeats=2)
    table = continual_table(result)
    assert [column.header for column in table.columns] == [
        "after task",
        "task 0",
        "task 1",
        "task 2",
        "average",
    ]
    cells = [list(column.cells) for column in table.columns]
    assert cells[0] == ["0", "1", "2"]
    assert cells[1][2] == f"{100 * result.matrix[2, 0]:.1f}"
    assert cells[3][:2] == ["", ""]
    words = str(result)
    assert f"AA {result.average_accuracy.percent()}" in words
    assert f"BWT {result.backward_transfer.percent()}" in words
    assert "±" in words
    assert "cat + lqm, 5 nodes a task, on small (class-incremental)" in words


def test_a_table_of_many_tasks_shows_averages_only(tmp_path):
    source = small_graph(classes=13, each=5, edges=40)
    result = run(source, classes_per_task=1, budget=1, method="random", settings={**LEARNING, "epochs": 1})
    assert [column.header for column in continual_table(result).columns] == ["after task", "average"]
    heat_map(result.matrix, tmp_path / "map.png", result.title)
    assert (tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"

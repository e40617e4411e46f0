"""Graphs on the command line: the commands as the docs give them, and what is refused."""

import numpy as np
import pytest

import lqm
from lqm.graphs.continual import CONTINUAL_METHODS
from lqm.graphs.methods import METHODS

TINY = ("--set", "steps=3", "--set", "width=16")


def test_a_graph_is_condensed_judged_compared_and_exported(type_in, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ("condense", "digits-knn", "--method", "cat", "--distance", "lqm", "--budget", "1%", *TINY)
    code, printed, error = type_in(*command)
    assert code == 0
    assert "18 nodes of 10 classes in runs/digits-knn-cat-lqm" in printed
    assert "1,797 nodes, 12,340 edges and 64 features, with 1,079 nodes to learn from, 359 to choose" in error
    assert "become 18 nodes (1 to 2 of a class, by its share)" in error
    run = "runs/digits-knn-cat-lqm"
    words = ("--protocol", "graph-quick", "--networks", "sgc,mlp", "--baselines", "random,k-centre")
    code, printed, _ = type_in("evaluate", run, *words)
    assert code == 0
    assert "condensed" in printed
    assert "k-centre" in printed
    code, printed, _ = type_in("compare", run)
    assert code == 0
    assert "budget" in printed
    assert type_in("export", run, "--to", "npz", "--out", "nodes")[0] == 0
    assert np.load("nodes.npz")["x"].shape == (18, 64)
    code, _, error = type_in(*command)
    assert "is finished already, after 3 steps" in error


def test_a_stream_is_learned_and_its_memories_are_sets(type_in, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("--budget", 4, "--repeats", 2, "--start", "noise", "--real-batch", 20, "--set", "epochs=2")
    code, printed, _ = type_in("continual", "digits-knn", "--distance", "lqm", *words, *TINY)
    assert code == 0
    assert "AA " in printed
    assert "BWT " in printed
    folder = tmp_path / "runs" / "digits-knn-stream-cat-lqm"
    assert (folder / "accuracy-matrix.png").exists()
    assert len(lqm.load(folder / "repeat-1" / "memory" / "task-04").labels) == 4
    code, _, error = type_in("evaluate", folder)
    assert code == 1
    assert (
        "is the folder of a stream of tasks; `lqm report` and `lqm compare` show what it was worth" in error
    )
    other = tmp_path / "runs" / "digits-knn-stream-random"
    assert type_in("continual", "digits-knn", "--method", "random", *words[:4], "--set", "epochs=3")[0] == 0
    third = (*words[:4], "--set", "epochs=3", "--out", tmp_path / "third")
    assert type_in("continual", "digits-knn", "--distance", "lqm", *third, *TINY)[0] == 0
    code, printed, _ = type_in("compare", folder, other, tmp_path / "third")
    assert code == 0
    assert "digits-knn: 5 tasks, class-incremental" in printed
    assert "epochs=3" in printed
    assert "AA: average accuracy after the last task" in printed
    (folder / "result.json").write_text("{}")
    code, _, error = type_in("compare", folder, other)
    assert code == 1
    assert "is not what `lqm continual` writes" in error


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--budget", "0"), "budget = '0' can't be used; give a number of nodes such as 40"),
        (("--budget", "5000"), "the budget of 5000 is more than there are training nodes (1079)"),
        (
            ("--per-class", "3"),
            "per_class is for images, and 'digits-knn' is a graph; give a budget",
        ),
        (("--size", "8"), "size is for images, and 'digits-knn' is a graph; leave it out"),
        (
            ("--method", "dm"),
            "method 'dm' is for images, and 'digits-knn' is a graph; choose one of cat",
        ),
        (("--method", "cta"), "there is no method for graphs 'cta'; did you mean 'cat'?"),
        (("--method", "herding", "--distance", "lqm"), "method 'herding' chooses real records"),
        (("--distance", "lqn"), "there is no distance 'lqn'; did you mean 'lqm'?"),
        (("--set", "stesp=3"), "there is no setting 'stesp'; did you mean 'steps'?"),
        (("--set", "width=0"), "width = '0' can't be used"),
        (("--features", "degree"), "features"),
        (("--start", "middle"), "start = 'middle' can't be used"),
    ],
)
def test_what_cant_be_condensed_is_refused_in_one_sentence(type_in, tmp_path, words, sentence):
    code, printed, error = type_in("condense", "digits-knn", "--out", tmp_path / "run", *words)
    assert code == 1
    assert printed == ""
    assert sentence in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--budget", "3"), "budget is for graphs, and 'digits' is images; give per_class instead"),
        (("--method", "cat"), "method 'cat' is for graphs, and 'digits' is images; choose one of dm"),
        (("--split", "random"), "split is for graphs, and 'digits' is images; leave it out"),
    ],
)
def test_what_is_for_graphs_is_refused_of_images(type_in, tmp_path, words, sentence):
    code, _, error = type_in("condense", "digits", "--out", tmp_path / "run", *words)
    assert code == 1
    assert sentence in error


def test_a_missing_file_is_named(type_in, tmp_path):
    code, _, error = type_in("condense", tmp_path / "missing.npz", "--out", tmp_path / "run")
    assert code == 1
    assert error == f"lqm: there is no {tmp_path / 'missing.npz'}; name a file or folder that is there\n"


def test_an_unknown_source_lists_images_and_graphs(type_in, tmp_path):
    code, _, error = type_in("condense", "digits-kn", "--out", tmp_path / "run")
    assert code == 1
    assert "did you mean 'digits-knn'?" in error
    assert "cifar10" in error


def test_a_graph_is_found_by_its_name_in_the_data_folder(type_in, tmp_path):
    source = lqm.load_graph("digits-knn").graph
    edges = np.stack(source.adjacency.nonzero())
    np.savez(tmp_path / "mine.npz", edge_index=edges, y=source.labels.numpy(), x=source.features.numpy())
    words = ("--data-dir", tmp_path, "--budget", 20, *TINY)
    assert type_in("condense", "mine", *words, "--out", tmp_path / "run")[0] == 0
    words = ("--data-dir", tmp_path, "--budget", 4, "--repeats", 1, "--set", "epochs=1", *TINY)
    assert type_in("continual", "mine", *words, "--out", tmp_path / "stream")[0] == 0


def test_help_names_all_methods(type_in):
    import re

    assert {*METHODS} <= set(re.findall(r"[\w-]+", type_in("condense", "--help")[1]))
    assert {*CONTINUAL_METHODS} <= set(re.findall(r"[\w-]+", type_in("continual", "--help")[1]))


def test_a_graph_that_has_moved_is_named_anew(type_in, tmp_path):
    source = lqm.load_graph("digits-knn").graph
    edges = np.stack(source.adjacency.nonzero())
    for folder in ("old", "new", "newer"):
        (tmp_path / folder).mkdir()
    old = tmp_path / "old" / "mine.npz"
    np.savez(old, edge_index=edges, y=source.labels.numpy(), x=source.features.numpy())
    words = ("--data-dir", tmp_path / "old", "--budget", 20, *TINY)
    assert type_in("condense", "mine", *words, "--out", tmp_path / "run")[0] == 0
    judge = (
        "evaluate",
        tmp_path / "run",
        "--protocol",
        "graph-quick",
        "--networks",
        "sgc",
        "--baselines",
        "none",
    )
    old.rename(tmp_path / "new" / "mine.npz")
    code, _, error = type_in(*judge)
    assert code == 1
    assert "name the new place with --source, or that of a named source with --data-dir" in error
    assert type_in(*judge, "--data-dir", tmp_path / "new")[0] == 0
    (tmp_path / "new" / "mine.npz").rename(tmp_path / "newer" / "other.npz")
    assert type_in(*judge, "--source", tmp_path / "newer" / "other.npz")[0] == 0


def test_a_stream_without_a_memory_is_no_condensed_set_and_says_so(type_in, tmp_path):
    words = ("--method", "finetuning", "--repeats", 1, "--set", "epochs=1", "--out", tmp_path / "run")
    code, printed, _ = type_in("continual", "digits-knn", *words)
    assert code == 0
    assert "all matrices and a heat map are in" in printed
    code, _, error = type_in("evaluate", tmp_path / "run")
    assert code == 1
    assert "run is the folder of a stream of tasks; `lqm report` and `lqm compare` show" in error

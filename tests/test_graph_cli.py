"""Graphs on the command line: the commands as the docs give them, and what is refused."""

import re

import numpy as np
import pytest

import lqm
from lqm.graphs.continual import CONTINUAL_METHODS
from lqm.graphs.methods import METHODS
from tests.refusing import assert_refused

TINY = ("--set", "steps=3", "--set", "width=16")


def test_a_graph_is_condensed_judged_compared_and_exported(type_in, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ("condense", "digits-knn", "--method", "cat", "--distance", "lqm", "--budget", "1%", *TINY)
    code, printed, error = type_in(*command)
    assert code == 0
    assert re.search("18 nodes.*10 classes.*runs/digits-knn-cat-lqm", printed)
    for part in ("1,797 nodes", "12,340 edges", "64 features", "1,079", "359", "18 nodes", "1 to 2"):
        assert part in error
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
    assert code == 0
    assert re.search(rf"{run}.* 3 steps", error)


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
    assert_refused(type_in("evaluate", folder), "stream.*`lqm report`.*`lqm compare`")
    other = tmp_path / "runs" / "digits-knn-stream-random"
    assert type_in("continual", "digits-knn", "--method", "random", *words[:4], "--set", "epochs=3")[0] == 0
    third = (*words[:4], "--set", "epochs=3", "--out", tmp_path / "third")
    assert type_in("continual", "digits-knn", "--distance", "lqm", *third, *TINY)[0] == 0
    code, printed, _ = type_in("compare", folder, other, tmp_path / "third")
    assert code == 0
    for part in ("digits-knn", "5 tasks", "class-incremental", "epochs=3", "AA: average accuracy"):
        assert part in printed
    (folder / "result.json").write_text("{}")
    assert_refused(type_in("compare", folder, other), r"result\.json .*`lqm continual`")


def test_a_set_of_normalised_features_is_sketched_condensed_and_evaluated(type_in, tmp_path):
    words = ("digits-knn", "--normalise-features", "--set", "width=16")
    code, printed, _ = type_in("sketch", *words, "--encoders", 2, "--out", tmp_path / "sketch")
    assert code == 0
    assert "lqm condense digits-knn --normalise-features --budget" in printed
    budget = ("--budget", 10, "--set", "steps=2", "--out", tmp_path / "run")
    sketched = ("--sketch", tmp_path / "sketch")
    assert_refused(type_in("condense", "digits-knn", *sketched, *budget), "digits-knn")
    assert type_in("condense", *words, *sketched, *budget)[0] == 0
    assert lqm.load(tmp_path / "run").manifest["origin"]["normalise_features"] is True
    assert type_in("evaluate", tmp_path / "run", "--protocol", "graph-quick")[0] == 0
    assert_refused(type_in("condense", "digits", "--normalise-features"), "normalise_features.*'digits'")


@pytest.mark.parametrize(
    ("words", "mentioned"),
    [
        ("--budget 0", "budget.*'0'.*number of nodes.*40"),
        ("--budget 5000", r"budget.*\b5,?000\b.*\b1,?079\b"),
        ("--per-class 3", "per_class.*'digits-knn'.*budget"),
        ("--size 8", "size.*'digits-knn'"),
        ("--method dm", r"'dm'.*'digits-knn'.*\bcat\b"),
        ("--method cta", "'cta'.*'cat'"),
        ("--method herding --distance lqm", "'herding'.*real"),
        ("--distance lqn", "'lqn'.*'lqm'"),
        ("--set stesp=3", "'stesp'.*'steps'"),
        ("--set width=0", "width.*'0'"),
        ("--features degree", "'digits-knn'.*features"),
        ("--start middle", "'middle'.*'random'"),
    ],
)
def test_what_cant_be_condensed_is_refused_in_one_sentence(type_in, tmp_path, words, mentioned):
    assert_refused(type_in("condense", "digits-knn", "--out", tmp_path / "run", *words.split()), mentioned)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "mentioned"),
    [
        ("--budget 3", "budget.*graph.*'digits'.*per_class"),
        ("--method cat", r"'cat'.*graph.*'digits'.*\bdm\b"),
        ("--split random", "split.*graph.*'digits'"),
    ],
)
def test_what_is_for_graphs_is_refused_of_images(type_in, tmp_path, words, mentioned):
    assert_refused(type_in("condense", "digits", "--out", tmp_path / "run", *words.split()), mentioned)


def test_a_missing_file_is_named(type_in, tmp_path):
    missing = tmp_path / "missing.npz"
    assert_refused(type_in("condense", missing, "--out", tmp_path / "run"), f"{missing}.*file or folder")


def test_an_unknown_source_lists_images_and_graphs(type_in, tmp_path):
    typed = type_in("condense", "digits-kn", "--out", tmp_path / "run")
    assert_refused(typed, "'digits-kn'.*'digits-knn'.*cifar10")


def write_digits(path):
    """The graph of the digits as a file of one's own."""
    source = lqm.load_graph("digits-knn").graph
    edges = np.stack(source.adjacency.nonzero())
    path.parent.mkdir(exist_ok=True)
    np.savez(path, edge_index=edges, y=source.labels.numpy(), x=source.features.numpy())


def test_a_graph_is_found_by_its_name_in_the_data_folder(type_in, tmp_path):
    write_digits(tmp_path / "mine.npz")
    words = ("--data-dir", tmp_path, "--budget", 20, *TINY)
    assert type_in("condense", "mine", *words, "--out", tmp_path / "run")[0] == 0
    words = ("--data-dir", tmp_path, "--budget", 4, "--repeats", 1, "--set", "epochs=1", *TINY)
    assert type_in("continual", "mine", *words, "--out", tmp_path / "stream")[0] == 0


def test_help_names_all_methods(type_in):
    assert {*METHODS} <= set(re.findall(r"[\w-]+", type_in("condense", "--help")[1]))
    assert {*CONTINUAL_METHODS} <= set(re.findall(r"[\w-]+", type_in("continual", "--help")[1]))


def test_a_graph_that_has_moved_is_named_anew(type_in, tmp_path):
    for folder in ("new", "newer"):
        (tmp_path / folder).mkdir()
    old = tmp_path / "old" / "mine.npz"
    write_digits(old)
    words = ("--data-dir", tmp_path / "old", "--budget", 20, *TINY)
    assert type_in("condense", "mine", *words, "--out", tmp_path / "run")[0] == 0
    options = ("--protocol", "graph-quick", "--networks", "sgc", "--baselines", "none")
    judge = ("evaluate", tmp_path / "run", *options)
    old.rename(tmp_path / "new" / "mine.npz")
    assert_refused(type_in(*judge), "--source.*--data-dir")
    assert type_in(*judge, "--data-dir", tmp_path / "new")[0] == 0
    (tmp_path / "new" / "mine.npz").rename(tmp_path / "newer" / "other.npz")
    assert type_in(*judge, "--source", tmp_path / "newer" / "other.npz")[0] == 0


def test_a_stream_without_a_memory_is_no_condensed_set_and_says_so(type_in, tmp_path):
    words = ("--method", "finetuning", "--repeats", 1, "--set", "epochs=1", "--out", tmp_path / "run")
    code, printed, _ = type_in("continual", "digits-knn", *words)
    assert code == 0
    assert str(tmp_path / "run") in printed
    assert_refused(type_in("evaluate", tmp_path / "run"), "run .*stream.*`lqm report`.*`lqm compare`")

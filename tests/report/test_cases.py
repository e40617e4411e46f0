"""Sets side by side have names of their own."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqm.evaluation.cases import each_once
from lqm.evaluation.labels import distinct_labels, size_of
from lqm.utils.errors import ArtifactError
from tests.report.making import cases_of, chosen, rewritten, tiny_source


def config(method="dm", distance="lqm", seed=0, per_class=10, steps=300, **more):
    return {
        "method": method,
        "distance": {"name": distance} if distance else None,
        "per_class": per_class,
        "seed": seed,
        "steps": steps,
        "settings": {"learning_rate": 1.0, "network": "convnet"},
        **more,
    }


def labels(*configs, folders=None):
    return distinct_labels(configs, [Path(f) for f in folders or [f"runs/{i}" for i in range(len(configs))]])


def test_one_set_and_different_methods_or_distances_have_plain_names():
    assert labels(config()) == ["dm + lqm"]
    assert labels(config("herding", None)) == ["herding"]
    assert labels(config(), config(distance="mean"), config("idm"), config("random", None)) == [
        "dm + lqm",
        "dm + mean",
        "idm + lqm",
        "random",
    ]


def test_what_differs_is_said_and_nothing_else():
    assert labels(config(), config(seed=1)) == ["dm + lqm, seed 0", "dm + lqm, seed 1"]
    assert labels(config(per_class=1), config(per_class=1000)) == [
        "dm + lqm, 1 a class",
        "dm + lqm, 1,000 a class",
    ]
    assert labels(config(), config(steps=1200)) == ["dm + lqm, 300 steps", "dm + lqm, 1,200 steps"]
    assert labels(config(), config(sketch={})) == ["dm + lqm", "dm + lqm, by sketch"]
    other = {"learning_rate": 3.0, "network": "convnet"}
    assert labels(config(), config(settings=other)) == [
        "dm + lqm, learning_rate 1.0",
        "dm + lqm, learning_rate 3.0",
    ]


def test_sets_that_differ_in_several_ways_need_no_more_than_tells_them_apart():
    assert labels(config(), config(per_class=1, seed=1)) == ["dm + lqm, 10 a class", "dm + lqm, 1 a class"]
    found = labels(config(), config(seed=1), config(distance="mean"))
    assert found == ["dm + lqm, seed 0", "dm + lqm, seed 1", "dm + mean, seed 0"]


def test_nodes_are_told_apart_by_their_budget():
    condensed, large = ({"method": "cat", "distance": None, "budget": budget} for budget in (27, "1%"))
    assert labels(condensed, large) == ["cat, 27 nodes", "cat, 1%"]
    assert size_of({"method": "finetuning", "budget": None}) == ""


def test_equal_runs_are_told_apart_by_their_folders():
    assert labels(config(), config(), folders=["runs/a", "runs/b"]) == ["dm + lqm (a)", "dm + lqm (b)"]
    assert labels(config(), config(), folders=["a/run", "b/run"]) == ["dm + lqm (a/run)", "dm + lqm (b/run)"]
    assert labels(config(), config(), folders=[".", "run"]) == ["dm + lqm (.)", "dm + lqm (run)"]


CONFIGS = st.builds(
    config,
    method=st.sampled_from(["dm", "idm", "random"]),
    distance=st.sampled_from(["lqm", "mean", None]),
    seed=st.integers(0, 2),
    per_class=st.sampled_from([1, 10]),
    steps=st.sampled_from([1, 300]),
    settings=st.dictionaries(
        st.sampled_from(["learning_rate", "network", "start"]),
        st.sampled_from([1, 1.0, True, None, "1", "convnet:width=4"]),
    ),
)
NAMES = st.text(st.sampled_from("ab ,()+\"'é"), min_size=1, max_size=4)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda parts: Path(*parts))


@given(st.dictionaries(PATHS, CONFIGS, min_size=1, max_size=6))
def test_labels_differ_wherever_folders_do(runs):
    found = distinct_labels([*runs.values()], [*runs])
    assert len({*found}) == len(runs)
    for label, run in zip(found, runs.values(), strict=True):
        assert label.startswith(run["method"])


def test_a_folder_counts_once_by_whatever_name_it_is_given(tmp_path, monkeypatch):
    source = tiny_source()
    chosen(source, tmp_path / "runs" / "a")
    chosen(source, tmp_path / "runs" / "b", seed=1)
    (tmp_path / "link").symlink_to(tmp_path / "runs" / "a")
    monkeypatch.chdir(tmp_path)
    names = ["runs/a", "runs/../runs/a/", tmp_path / "runs" / "a", "link", "runs/b", "./runs/a"]
    cases = cases_of(names)
    assert [case.folder for case in cases] == [Path("runs/a"), Path("runs/b")]
    assert [case.label for case in cases] == ["random, seed 0", "random, seed 1"]
    assert each_once([os.fspath(tmp_path), tmp_path]) == [tmp_path]


def test_records_are_what_networks_train_on(tmp_path):
    chosen(tiny_source(), tmp_path / "set", per_class=3)
    (case,) = cases_of([tmp_path / "set"])
    assert case.records == 9
    rewritten(tmp_path / "set", mosaic=2)
    (case,) = cases_of([tmp_path / "set"])
    assert case.records == 36


def test_a_folder_without_a_set_is_refused_by_name(tmp_path):
    with pytest.raises(ArtifactError, match=r"there is no folder .*nothing; name a run"):
        cases_of([tmp_path / "nothing"])

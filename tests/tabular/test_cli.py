"""Tables on the command line: condensed, evaluated, compared, shown and exported; and what is refused."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from tests.refusing import assert_refused

TINY = ("--set", "steps=3", "--network", "mlp:width=8:depth=1")


def test_a_csv_is_condensed_evaluated_compared_shown_and_exported(type_in, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = load_wine(as_frame=True).frame
    frame[["target", *frame.columns[:-1]]].to_csv("cultivars.csv", index=False)
    code, printed, error = type_in(
        "condense", "cultivars.csv", "--label", "target", "--per-class", "2", *TINY
    )
    assert code == 0, error
    assert "6 rows of 3 classes in runs/cultivars" in printed
    run = "runs/cultivars"
    words = ("--protocol", "logistic", "--baselines", "random,full", "--repeats", "2")
    code, printed, error = type_in("evaluate", run, *words)
    assert code == 0, error
    assert re.search(r"condensed +6 ", printed)
    assert re.search(r"full +142 ", printed)
    for command, part in (("compare", "logistic"), ("report", "report.html"), ("runs", "cultivars")):
        code, printed, error = type_in(command, "runs" if command == "runs" else run)
        assert code == 0, error
        assert part in printed
    code, printed, error = type_in("export", run, "--to", "csv", "--out", "small")
    assert code == 0, error
    small = pd.read_csv("small.csv")
    assert small.columns.tolist() == [*frame.columns[:-1], "label"]
    assert small["label"].tolist() == [0, 0, 1, 1, 2, 2]


def test_data_below_the_working_directory_are_named_as_a_person_types_them(type_in, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "cache"))
    load_wine(as_frame=True).frame.to_csv("wine.csv", index=False)
    assert type_in("condense", "wine.csv", "--per-class", "2", *TINY, "--out", "run")[0] == 0
    Path("wine.csv").unlink()
    assert_refused(type_in("evaluate", "run"), "can't be read from wine.csv any more")


def test_a_run_that_is_given_again_is_finished_and_another_is_refused(type_in, tmp_path):
    words = ("condense", "wine", "--per-class", "1", *TINY, "--out", str(tmp_path / "run"))
    assert type_in(*words)[0] == 0
    code, _, error = type_in(*words)
    assert code == 0
    assert "finished already" in error
    assert_refused(type_in(*words[:-2], "--seed", "1", "--out", str(tmp_path / "run")), "seed")


def test_what_is_no_table_is_refused_in_a_sentence(type_in, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,kind,y\n3,short,0\n4,long,1\n")
    assert_refused(type_in("condense", str(path)), "row 2, column 'kind' of .* has 'short'")
    np.savez(tmp_path / "t.npz", X=np.array([[1.0], [np.nan]] * 4), y=[0, 1] * 4)
    assert_refused(type_in("condense", str(tmp_path / "t.npz")), "has nan at row 1")
    assert_refused(type_in("condense", "wine", "--per-class", "100"), "has 38 training rows")
    assert_refused(type_in("experts", "wine"), "experts")


def test_a_sketch_of_a_table_takes_the_place_of_its_rows(type_in, tmp_path):
    sketch = str(tmp_path / "sketch")
    code, _, error = type_in("sketch", "wine", "--encoders", "2", "--network", TINY[-1], "--out", sketch)
    assert code == 0, error
    words = ("--sketch", sketch, "--set", "steps=3", "--out", str(tmp_path / "run"))
    code, printed, error = type_in("condense", "wine", "--per-class", "2", *words)
    assert code == 0, error
    assert "6 rows of 3 classes" in printed

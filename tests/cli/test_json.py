"""One JSON document a command, as docs/json.md says."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from lqm.cli.commands import COMMANDS
from lqm.cli.documents import DOCUMENTS, PlanDocument
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol
from tests.cli.json_tables import classes, table_of

PAGE = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
TINY = ("--set", "steps=2", "--set", "network=convnet:width=8", "--set", "real_batch=16")


def document(done, kind):
    """What a command has printed, which must be one document with the fields of its class, and no more."""
    code, printed, error = done
    assert code == 0, error
    TypeAdapter(kind).validate_json(printed, strict=True)
    assert printed.isascii()
    return json.loads(printed)


@pytest.fixture
def run(type_in, tmp_path):
    folder = tmp_path / "run"
    words = ("condense", "digits", "--per-class", 1, "--out", folder, *TINY)
    (entry,) = document(type_in(*words, "--json"), DOCUMENTS["condense"])["runs"]
    assert entry["folder"] == str(folder)
    assert (entry["records"], entry["classes"], entry["steps"]) == (10, 10, 2)
    assert Path(entry["sheet"]).exists()
    return folder


@pytest.mark.parametrize("kind", classes(), ids=lambda kind: kind.__name__)
def test_the_page_has_the_fields_of_every_document(kind):
    assert table_of(kind) in PAGE


def test_every_command_that_prints_a_result_has_a_document():
    assert {*DOCUMENTS} == {*COMMANDS}


def test_a_run_is_evaluated_compared_and_listed(type_in, run, monkeypatch):
    tiny = EvaluationProtocol("tiny", epochs=1, networks=2, network="convnet:width=8")
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny)
    words = ("evaluate", run, "--protocol", "tiny", "--baselines", "random", "--json")
    code, printed, error = type_in(*words)
    found = document((code, printed, error), DOCUMENTS["evaluate"])
    assert [row["training_set"] for row in found["scores"]] == ["condensed", "random"]
    assert len(found["scores"][0]["accuracy"]["each"]) == 2
    assert f"next: lqm report {run}" in error

    (table,) = document(type_in("compare", run, "--json"), DOCUMENTS["compare"])["runs"]
    assert table["rows"][0]["accuracy"]["each"] == found["scores"][0]["accuracy"]["each"]
    (entry,) = document(type_in("runs", run.parent, "--json"), DOCUMENTS["runs"])["runs"]
    assert (entry["state"], entry["method"]) == ("done", "dm")


def test_several_runs_are_one_document(type_in, tmp_path):
    words = ("condense", "digits", "--per-class", "1,2", "--out", tmp_path / "several", *TINY, "--json")
    found = document(type_in(*words), DOCUMENTS["condense"])
    assert [entry["per_class"] for entry in found["runs"]] == [1, 2]


def test_banks_and_streams(type_in, tmp_path):
    words = ("sketch", "digits", "--encoders", 1, "--max-per-class", 1, "--real-batch", 8)
    found = document(type_in(*words, "--out", tmp_path / "sketch", "--json"), DOCUMENTS["sketch"])
    assert found["bytes"] == sum(path.stat().st_size for path in (tmp_path / "sketch").iterdir())
    words = ("experts", "digits", "--networks", 1, "--epochs", 1, "--network", "convnet:width=8")
    found = document(type_in(*words, "--out", tmp_path / "experts", "--json"), DOCUMENTS["experts"])
    assert (found["networks"], found["epochs"]) == (1, 1)
    words = (
        "continual",
        "digits-knn",
        "--budget",
        4,
        "--repeats",
        1,
        "--set",
        "steps=1",
        "--set",
        "epochs=1",
    )
    found = document(type_in(*words, "--out", tmp_path / "stream", "--json"), DOCUMENTS["continual"])
    assert len(found["matrices"][0]) == len(found["tasks"]) == 5
    (table,) = document(type_in("compare", tmp_path / "stream", "--json"), DOCUMENTS["compare"])["streams"]
    assert table["rows"][0]["accuracy"]["mean"] == found["average_accuracy"]["mean"]


@pytest.mark.parametrize("words", [("recipes", "digits"), ("cache",)])
def test_lists(type_in, words):
    assert document(type_in(*words, "--json"), DOCUMENTS[words[0]])["command"] == words[0]


def test_a_dry_run_says_what_it_takes_and_makes_nothing(type_in, tmp_path):
    words = ("condense", "digits", "--per-class", 1, "--seed", "0..2", *TINY, "--out", tmp_path / "run")
    found = document(type_in(*words, "--dry-run", "--json"), PlanDocument)
    assert found["dry_run"] is True
    assert [entry["count"] for entry in found["work"]] == [3]
    assert found["seconds"] == pytest.approx(3 * found["work"][0]["seconds"])
    assert "1,442 images" in found["source"]
    assert "steps=2" in found["settings"][0]
    assert not (tmp_path / "run").exists()


def test_an_error_is_one_sentence_and_no_document(type_in, tmp_path):
    code, printed, error = type_in("evaluate", tmp_path, "--json")
    assert (code, printed) == (1, "")
    assert error.count("\n") == 1

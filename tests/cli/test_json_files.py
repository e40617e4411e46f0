"""`--json` of commands that write pages, figures and exports, read sets of others, audit and study."""

from pathlib import Path

import numpy as np
import pytest

import lqm
from lqm.cli.documents import DOCUMENTS, PlanDocument
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol
from tests.cli.test_json import document
from tests.studies.making import small_study, write_study


@pytest.fixture
def run(tmp_path, monkeypatch):
    """An evaluated set of real images, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "cache"))
    tiny = EvaluationProtocol("quick-200", epochs=1, networks=2, network="convnet:width=8")
    monkeypatch.setitem(PROTOCOLS, "quick-200", tiny)
    lqm.condense("digits", method="random", per_class=2, out="set", show_progress=False)
    lqm.evaluate("set", baselines=["random"], show_progress=False)
    return Path("set")


def test_a_page_figures_and_exports_are_named_where_they_are(type_in, run):
    found = document(type_in("report", run, "--json"), DOCUMENTS["report"])
    assert Path(found["page"]).stat().st_size == found["bytes"]
    found = document(type_in("figures", run, "--to", "drawn", "--json"), DOCUMENTS["figures"])
    assert {Path(each) for each in found["files"]} == {*Path("drawn").iterdir()}
    code, printed, error = type_in("export", run, "--to", "npz", "--out", "given", "--json")
    found = document((code, printed, error), DOCUMENTS["export"])
    assert (found["path"], found["form"], found["license"]) == ("given.npz", "npz", "unknown")
    assert np.load(found["path"])["labels"].shape == (20,)
    assert [f"lqm: {line}" for line in found["warnings"]] == error.splitlines()
    words = ("export", run, "--to", "folder", "--out", "png", "--license", "cc-by-4.0", "--json")
    found = document(type_in(*words), DOCUMENTS["export"])
    assert (found["path"], found["license"]) == ("png", "cc-by-4.0")
    assert not any("licence" in line for line in found["warnings"])


def test_a_set_of_others_is_named_where_it_is(type_in, run):
    assert type_in("export", run, "--to", "npz", "--out", "given")[0] == 0
    code, printed, error = type_in("import", "given.npz", "--source", "digits", "--out", "theirs", "--json")
    found = document((code, printed, error), DOCUMENTS["import"])
    assert (found["folder"], found["source"], found["soft_labels"]) == ("theirs", "digits", False)
    assert (found["records"], found["classes"]) == (20, 10)
    assert "next: lqm evaluate theirs" in error
    assert len(lqm.load(found["folder"]).labels) == 20


def test_an_audit_counts_the_copies_of_real_images(type_in, run):
    words = ("audit", run, "--shadows", 0, "--canaries", 0, "--references", "none", "--json")
    found = document(type_in(*words), DOCUMENTS["audit"])
    assert found["run"] == "set"
    assert found["sets"]["condensed"]["copies"]["exact"] == 20
    assert found["canaries"] is None


def test_a_study_lists_its_cells_and_an_estimate_is_a_plan(type_in, tmp_path):
    (path := tmp_path / "own.toml").write_text(
        '[[grid]]\nsource = "digits"\nmethod = "random"\nper_class = [1, 2]\nprotocol = "quick-200"\n'
        "repeats = 1\n"
    )
    words = ("study", path, "--out", tmp_path / "out", "--only", "per_class=1", "--json")
    found = document(type_in(*words, "--estimate"), PlanDocument)
    assert (found["command"], found["result"]) == ("study", "1 of 1 cells are left")
    assert [entry["count"] for entry in found["work"]] == [1]
    found = document(type_in(*words), DOCUMENTS["study"])
    (cell,) = found["cells"]
    assert (cell["state"], cell["records"], cell["axes"]["per_class"]) == ("done", 10, 1)
    assert [len(each) for each in cell["scores"].values()] == [1]
    assert found["folder"] == str(tmp_path / "out")


def test_the_page_of_a_study_is_named_too(type_in, tmp_path):
    folder = write_study(tmp_path / "study", small_study())
    found = document(type_in("report", folder, "--json"), DOCUMENTS["report"])
    assert Path(found["page"]).is_file()

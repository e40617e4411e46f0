"""Sets, runs, streams and sketches that earlier versions wrote are read, and runs go on.

`old/` holds what formats 2 (`idm2`) and 3 (the others) looked like, each made in a few steps.
"""

import shutil
from pathlib import Path

import pytest
import torch

import lqm

_OLD = Path(__file__).parent / "old"
_IMAGES = {"real_batch": 16, "network": "convnet:width=8:depth=2"}
_IDM = {
    "mosaic": 2,
    "real_batch": 16,
    "network": "convnet:width=4:depth=1",
    "students": 1,
    "student_steps": 1,
    "student_batch": 16,
    "queue_limit": 4,
    "queue_start": 1,
}
# Defaults of graphs when these were made.
_BEFORE = {"learning_rate": 1e-3, "lengths": "free"}
_CLASSIFIER = {"classifier_rate": 0.005, "retrain": False}
_STREAM = {"steps": 2, "width": 16, "epochs": 2, "classifier": "gcn:width=4:depth=2"}


@pytest.fixture
def old(tmp_path):
    """A copy of the old folders, which a test may write to."""
    return Path(shutil.copytree(_OLD, tmp_path / "old"))


@pytest.mark.parametrize(("name", "format_", "records"), [("idm2", 2, 40), ("dm3", 3, 10), ("idm3", 3, 40)])
def test_old_images_load_and_train(name, format_, records):
    found = lqm.load(_OLD / name)
    assert found.manifest["format"] == format_
    images, labels = found.dataset().tensors
    assert len(images) == len(labels) == records


def test_old_nodes_load_and_train():
    found = lqm.load(_OLD / "cat3")
    assert found.manifest["format"] == 3
    assert found.to_pyg().x.shape == (10, 64)


@pytest.mark.parametrize(
    ("name", "source", "options", "settings"),
    [
        ("dm3", "digits", {"per_class": 1, "compile": "off"}, _IMAGES),
        ("idm3", "digits", {"per_class": 1, "compile": "off", "method": "idm"}, _IDM),
        ("cat3", "digits-knn", {"budget": 10}, {"width": 16}),
    ],
)
def test_old_run_goes_on_to_what_a_new_one_gives(old, name, source, options, settings):
    then = _BEFORE if "budget" in options else {}
    went_on, anew = (
        lqm.condense(source, out=out, settings=given | {"steps": 4}, show_progress=False, **options)
        for out, given in ((old / name, settings), (old / "new", settings | then))
    )
    torch.testing.assert_close(went_on.data, anew.data, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["dm3", "cat3", "idm3"])
def test_old_run_that_is_finished_is_handed_back(old, name):
    before = lqm.load(old / name)
    config = before.manifest
    kind = {"budget": 10} if name == "cat3" else {"per_class": 1, "compile": "off"}
    settings = {"cat3": {"width": 16}, "dm3": _IMAGES, "idm3": _IDM}[name] | {"steps": 2}
    source = config["source"]["name"]
    found = lqm.condense(
        source, method=config["method"], out=old / name, settings=settings, show_progress=False, **kind
    )
    assert torch.equal(found.data, before.data)


def test_old_set_is_evaluated(old, monkeypatch):
    monkeypatch.setenv("LQM_CACHE", str(old / "cache"))
    found = lqm.evaluate(old / "cat3", show_progress=False, baselines=())
    assert 0.1 < found.accuracy < 1


def test_old_stream_is_finished_already(old):
    options = {"classes_per_task": 5, "budget": 5, "repeats": 1, "settings": _STREAM, "show_progress": False}
    found = lqm.continual("digits-knn", out=old / "stream3", **options)
    anew = lqm.continual("digits-knn", **options | {"settings": _STREAM | _BEFORE | _CLASSIFIER})
    torch.testing.assert_close(found.matrices, anew.matrices, rtol=1e-4, atol=1e-4, equal_nan=True)


def test_old_sketch_is_used_as_a_new_one(old):
    settings = {"network": "convnet:width=4:depth=1"}
    lqm.sketch(
        "digits",
        out=old / "new",
        encoders=2,
        max_per_class=2,
        real_batch=8,
        settings=settings,
        show_progress=False,
        compile="off",
    )
    by_old, by_new = (
        lqm.condense(
            "digits", sketch=folder, per_class=2, settings={"steps": 3}, show_progress=False, compile="off"
        ).data
        for folder in (old / "sketch3", old / "new")
    )
    torch.testing.assert_close(by_old, by_new, rtol=1e-4, atol=1e-4)

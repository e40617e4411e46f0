"""Results as people look at them: in a line, in a notebook, and as arrays; and runs that are followed."""

import base64
import io
import json
import re
from html import unescape

import numpy as np
import pytest
import torch
from PIL import Image

import lqm
from lqm.condensed.history import METRICS
from lqm.images.evaluation import PROTOCOLS
from lqm.studies.lines import CellLine, StudyHead
from lqm.utils.errors import ArtifactError
from tests.engine.test_loop import Counter

EVIL = "<script>alert(1)</script>"
STREAM = {"steps": 2, "width": 4, "epochs": 2, "classifier": "gcn:width=4"}


def condense(tiny, **options):
    return lqm.condense("digits", per_class=2, settings=tiny, show_progress=False, **options)


@pytest.fixture
def evaluation(monkeypatch, tiny_protocol, tiny):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    return lqm.evaluate(condense(tiny), protocol="tiny", baselines=("random",), show_progress=False)


@pytest.fixture(scope="module")
def stream():
    options = {"budget": 2, "classes_per_task": 5, "repeats": 2, "settings": STREAM}
    return lqm.continual("digits-knn", **options, show_progress=False)


def rows_of(html):
    """The cells of the rows of all tables."""
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)]


def image_of(html):
    (data,) = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    return Image.open(io.BytesIO(base64.b64decode(data)))


def test_sets_say_their_sizes(tiny):
    images = condense(tiny)
    nodes = lqm.condense("digits-knn", budget=20, settings={"steps": 1, "width": 4}, show_progress=False)
    assert (len(images), repr(images)) == (20, "CondensedImages(20 of 10 classes, 1x8x8, dm + lqm)")
    assert (len(nodes), repr(nodes)) == (20, "CondensedNodes(20 of 10 classes, 64 features, cat + lqm)")
    chosen = lqm.condense("digits", method="random", per_class=1, show_progress=False)
    assert repr(chosen) == "CondensedImages(10 of 10 classes, 1x8x8, random)"
    bare = lqm.CondensedImages(torch.rand(2, 3, 8, 8), torch.arange(2), ("a", "b"), {})
    assert repr(bare) == "CondensedImages(2 of 2 classes, 3x8x8)"
    assert bool(lqm.CondensedNodes(torch.rand(0, 3), torch.zeros(0).long(), ("a",), {})), "though it is empty"


def test_a_notebook_shows_the_images_and_scores_of_a_set(evaluation):
    html = evaluation.condensed._repr_html_()
    sheet = image_of(html)
    assert sheet.size == (2 * 28 + 4, 10 * 28 + 4), "a row a class, each image three times as large"
    pixels = np.asarray(sheet.convert("L"), dtype=float) / 255
    first = evaluation.condensed.images[evaluation.condensed.labels == 0][0, 0].numpy()
    assert np.abs(pixels[4:28:3, 4:28:3] - first).max() < 0.01
    header, *scores = rows_of(html)
    assert header == ["trained on", "records", "accuracy %", "by"]
    assert scores[0][:3] == ["condensed", "20", evaluation.score.spread.percent()]
    assert scores[1][:3] == ["random", "20", evaluation.baselines["random"].spread.percent()]
    assert len(html) < 20_000


def test_a_large_set_is_shown_in_part():
    many = lqm.CondensedImages(torch.rand(900, 1, 8, 8), torch.arange(900) % 30, tuple("a" * 30), {})
    assert image_of(many._repr_html_()).size == (20 * 28 + 4, 20 * 28 + 4)
    names = tuple(f"class {n}" for n in range(30))
    nodes = lqm.CondensedNodes(torch.rand(30, 4), torch.arange(30), names, {})
    html = nodes._repr_html_()
    assert len(rows_of(html)) == 21
    assert "and 10 classes more" in html


def test_words_from_outside_are_text():
    manifest = {"method": EVIL, "source": {"name": EVIL}}
    nodes = lqm.CondensedNodes(torch.rand(2, 4), torch.arange(2), (EVIL, "\udcff"), manifest)
    html = nodes._repr_html_()
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 3
    assert html.encode(), "what is no text is written out"


def test_a_notebook_shows_an_evaluation(evaluation):
    html = evaluation._repr_html_()
    condensed, random = evaluation.score.spread.percent(), evaluation.baselines["random"].spread.percent()
    assert [row[2] for row in rows_of(html)] == ["accuracy %", condensed, random]
    assert evaluation.verdict in unescape(html)
    assert repr(evaluation) == (
        f"Evaluation(condensed {condensed} %, random {random} %; convnet:width=8, tiny)"
    )


def test_a_notebook_shows_a_stream(stream):
    assert len(stream) == 2
    found = f"AA {stream.average_accuracy.percent()}, BWT {stream.backward_transfer.percent()}"
    assert repr(stream) == f"ContinualResult(2 tasks, 2 repeats, {found})"
    html = stream._repr_html_()
    assert found in html
    header, first, second = rows_of(html)
    assert header == ["after task", "task 0", "task 1", "average"]
    assert first[1] == f"{100 * stream.matrix[0, 0]:.1f}"
    assert second[2] == f"{100 * stream.matrix[1, 1]:.1f}"


def test_a_notebook_shows_a_study(tmp_path):
    head = StudyHead("digits", f"Which distance? {EVIL}")
    lines = [
        CellLine(
            head, f"{d}-{s}", {"source": "digits", "distance": d}, s, scores={"convnet": (0.5 + s / 10,)}
        )
        for d in ("mean", "lqm")
        for s in (0, 1)
    ]
    failed = CellLine(head, "kernel-0", {"source": "digits", "distance": "kernel"}, 0, "k", "failed", EVIL)
    found = lqm.StudyResult(head, (*lines, failed), tmp_path)
    assert len(found) == 5
    assert repr(found) == "StudyResult(digits: 5 cells, 1 failed)"
    html = found._repr_html_()
    assert "<script" not in html
    assert ["mean", "55.0 ± 7.1"] in [row[:2] for row in rows_of(html)]
    assert "Differences" in html
    assert "Cells that failed" in html


@pytest.mark.parametrize("saved", [False, True])
def test_the_history_is_what_each_step_logged(tmp_path, tiny, saved):
    out = tmp_path / "run" if saved else None
    found = condense(tiny, out=out).history
    assert found["step"].tolist() == [1, 2, 3, 4, 5, 6]
    assert found["loss"].shape == found["seconds"].shape == (6,)
    assert np.isfinite(found["loss"]).all()
    if saved:
        logged = [json.loads(line) for line in (out / METRICS).read_text().splitlines()]
        again = lqm.load(out).history
        assert again["loss"].tolist() == found["loss"].tolist() == [line["loss"] for line in logged]
        elsewhere = lqm.load(out).save(tmp_path / "elsewhere")
        assert elsewhere.history["step"].tolist() == [], "the log stays with the run"
    else:
        kept = condense(tiny).save(tmp_path / "set")
        assert kept.history["loss"].tolist() == found["loss"].tolist()
        assert lqm.load(tmp_path / "set").history["step"].tolist() == []


def test_a_metric_that_some_steps_lack_is_nan():
    lines = ({"step": 0, "loss": 1.0}, {"step": 1, "loss": 2.0, "accuracy": 0.5}, {"step": 2, "loss": 3.0})
    manifest = {"steps": 2}
    bare = lqm.CondensedNodes(torch.rand(1, 2), torch.zeros(1).long(), ("a",), manifest, logged=lines)
    found = bare.history
    assert found["loss"].tolist() == [1, 2], "of the steps that the set has"
    assert np.isnan(found["accuracy"][0])
    assert found["accuracy"][1] == 0.5


@pytest.mark.parametrize("saved", [False, True])
def test_a_callback_sees_every_step_and_changes_nothing(tmp_path, tiny, saved):
    seen = []

    def see(step, metrics):
        seen.append((step, metrics["loss"]))
        metrics["loss"] = float("nan")
        torch.manual_seed(step)
        return [step]  # not True, and so no request to end

    out = tmp_path / "run" if saved else None
    followed, plain = condense(tiny, out=out, callback=see), condense(tiny)
    assert torch.equal(followed.data, plain.data)
    assert [step for step, _ in seen] == [1, 2, 3, 4, 5, 6]
    assert [loss for _, loss in seen] == plain.history["loss"].tolist() == followed.history["loss"].tolist()
    assert "callback" not in json.dumps(followed.manifest)


def test_a_callback_that_answers_true_ends_the_run_and_it_goes_on_bit_for_bit(tmp_path, tiny):
    whole = condense(tiny, out=tmp_path / "whole")
    # The answer is NumPy's True, as a comparison of its numbers gives.
    early = condense(tiny, out=tmp_path / "run", callback=lambda step, metrics: np.int64(step) == 4)
    assert early.manifest["steps"] == 4
    assert early.history["loss"].tolist() == whole.history["loss"][:4].tolist()
    assert lqm.load(tmp_path / "run").manifest["steps"] == 4
    short = condense(tiny | {"steps": 4})
    assert torch.equal(early.data, short.data)
    again = condense(tiny, out=tmp_path / "run")
    assert torch.equal(again.data, whole.data)
    assert again.manifest["steps"] == 6
    assert (
        json.loads((tmp_path / "run" / "run.json").read_text())["id"]
        == json.loads((tmp_path / "whole" / "run.json").read_text())["id"]
    ), "a callback is no part of the configuration"


def test_an_error_of_a_callback_is_the_users_own(tmp_path, tiny):
    def fail(step, metrics):
        if step == 3:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        condense(tiny, out=tmp_path / "run", callback=fail, checkpoint_seconds=0)
    with pytest.raises(ArtifactError, match="not finished"):
        lqm.load(tmp_path / "run")
    assert torch.equal(condense(tiny, out=tmp_path / "run").data, condense(tiny).data)


def test_the_loop_saves_where_a_callback_ends_it(tmp_path):
    from lqm.engine import RunFolder, run

    method = Counter()
    with RunFolder(tmp_path, {"a": 1}, {}) as folder:
        run(method, 10, folder, show_progress=False, callback=lambda step, metrics: step == 3)
        checkpoint = folder.restore()
    assert checkpoint.step == 3

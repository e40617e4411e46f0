"""`continual` that is stopped, or finds its files damaged, and goes on."""

import json
import os

import pytest
import torch
from safetensors.torch import load

from tests.graphs.continual import making
from tests.graphs.continual.making import LEARNING, TINY, same

SHORT = {**TINY, "steps": 2, "epochs": 4}


@pytest.fixture(autouse=True)
def quick_images(monkeypatch):
    def quick(matrix, path, title):
        path.write_bytes(b"an image")

    monkeypatch.setattr("lqm.api.continual.heat_map", quick)


def run(**options):
    return making.run(**{"settings": SHORT, **options})


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


def models(folder, repeat):
    """Weights and moments after each of the last two tasks."""
    paths = sorted((folder / f"repeat-{repeat}" / "checkpoints").glob("*.safetensors"))
    return [{k: v for k, v in load(path.read_bytes()).items() if k != "seconds"} for path in paths]


@pytest.mark.parametrize(
    ("options", "every"),
    [
        ({}, 3),
        pytest.param({}, 1, marks=pytest.mark.slow),
        ({"method": "joint", "budget": None, "settings": LEARNING}, 2),
        ({"method": "ssm", "settings": {**LEARNING, "neighbours": 2}}, 2),
        ({"settings": {**SHORT, "pseudo_labels": "test"}}, 4),
        pytest.param({"settings": {**SHORT, "pseudo_labels": "test"}}, 2, marks=pytest.mark.slow),
        ({"method": "random", "settings": LEARNING, "repeats": 2}, 4),
    ],
    ids=["cat", "cat, all", "joint", "ssm", "pseudo-labels", "pseudo-labels, more", "two repeats"],
)
def test_a_run_stopped_at_any_write_ends_like_one_that_was_not(tmp_path, monkeypatch, options, every):
    repeats = options.get("repeats", 1)
    with monkeypatch.context() as patch:
        writes = renames(patch)
        straight = run(out=tmp_path / "straight", **options)
    for fatal in range(1, writes[0] + 1, every):
        out = tmp_path / str(fatal)
        with monkeypatch.context() as patch:
            renames(patch, fatal)
            with pytest.raises(Stop):
                run(out=out, **options)
        same(run(out=out, **options), straight)
        for repeat in range(repeats):
            expected = models(tmp_path / "straight", repeat)
            for found, wanted in zip(models(out, repeat), expected, strict=True):
                assert found.keys() == wanted.keys()
                for name, part in wanted.items():
                    assert torch.equal(found[name].nan_to_num(), part.nan_to_num())
            rows = sorted((out / f"repeat-{repeat}").glob("after-*.json"))
            assert [json.loads(row.read_text())["task"] for row in rows] == [0, 1, 2]


def test_pseudo_labels_that_were_found_are_not_looked_for_again(tmp_path, monkeypatch):
    options = {"settings": {**SHORT, "pseudo_labels": "validation"}, "out": tmp_path}
    with monkeypatch.context() as patch:
        patch.setattr("lqm.graphs.continual.repeat._learn", stop)
        with pytest.raises(Stop):
            run(**options)
    for memory in (tmp_path / "repeat-0" / "memory").rglob("manifest.json"):
        memory.unlink()
    with monkeypatch.context() as patch:
        patch.setattr("lqm.graphs.continual.repeat._learn", stop)
        patch.setattr("lqm.graphs.continual.learning.Learner.learn", pytest.fail)
        with pytest.raises(Stop):
            run(**options)


def stop(*_):
    raise Stop


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


def test_a_image_that_is_missing_is_made_again_of_all_repeats(tmp_path, monkeypatch):
    result = run(out=tmp_path, repeats=2)
    (tmp_path / "accuracy-matrix.png").unlink()
    made = []
    monkeypatch.setattr("lqm.api.continual.heat_map", lambda *drawn: made.append(drawn))
    run(out=tmp_path, repeats=1)
    ((matrix, path, title),) = made
    assert matrix.nan_to_num(-1).equal(result.matrix.nan_to_num(-1))
    assert (path, title) == (tmp_path / "accuracy-matrix.png", result.title)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"matrices": [[1], [[2]]]}'])
def test_a_damaged_result_is_written_again(tmp_path, content):
    run(out=tmp_path)
    before = (tmp_path / "result.json").read_text()
    (tmp_path / "result.json").write_text(content)
    run(out=tmp_path)
    assert json.loads((tmp_path / "result.json").read_text()) == json.loads(before)


@pytest.mark.parametrize("what", ["memory/task-01/manifest.json", "checkpoints/step-*"])
def test_what_is_damaged_is_made_again(tmp_path, what, capsys):
    straight = run(out=tmp_path)
    for path in (tmp_path / "repeat-0").glob(what):
        path.write_bytes(path.read_bytes()[:-3] + b"xyz")
    same(run(out=tmp_path), straight)
    assert "is damaged" in capsys.readouterr().err

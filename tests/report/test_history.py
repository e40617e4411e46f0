"""What a run has logged, as curves."""

import json
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqm.evaluation.history import Curve, evaluation_curve, metric_curves, read_lines
from lqm.evaluation.spread import Spread


def write(folder, records, name="metrics.jsonl", end=""):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records) + end)
    return folder


def test_few_steps_are_all_there_and_the_first_counts_as_one_done(tmp_path):
    losses = [3.0, 2.0, 1.5]
    records = [{"step": step, "loss": loss, "seconds": 0.1} for step, loss in enumerate(losses)]
    curves = metric_curves(write(tmp_path / "run", records))
    assert [*curves] == ["loss"], "the seconds are none"
    assert curves["loss"].steps == [1, 2, 3]
    assert curves["loss"].values == losses


@pytest.mark.parametrize(("count", "points"), [(300, 300), (301, 300), (1000, 300), (7, 3), (12, 1)])
def test_many_steps_become_few_points_with_the_same_mean(tmp_path, count, points):
    records = [{"step": step, "loss": float((step * 7919) % 101)} for step in range(count)]
    curve = metric_curves(write(tmp_path / "run", records), points)["loss"]
    assert len(curve.steps) == len(curve.values) <= points
    width = -(-count // points)
    groups = [records[start : start + width] for start in range(0, count, width)]
    assert curve.values == pytest.approx([fmean(record["loss"] for record in group) for group in groups])
    weighted = sum(value * len(group) for value, group in zip(curve.values, groups, strict=True))
    assert weighted / count == pytest.approx(fmean(record["loss"] for record in records))
    weighted = sum(step * len(group) for step, group in zip(curve.steps, groups, strict=True))
    assert weighted / count == pytest.approx((count + 1) / 2)
    assert curve.steps == sorted(curve.steps)


@given(st.integers(1, 900), st.integers(1, 60))
def test_never_more_points_than_asked_for_and_the_ends_stay(tmp_path_factory, count, points):
    folder = tmp_path_factory.getbasetemp() / "history"
    write(folder, [{"step": step, "loss": 1.0} for step in range(count)])
    curve = metric_curves(folder, points)["loss"]
    assert 1 <= len(curve.values) <= points
    assert curve.steps[0] >= 1
    assert curve.steps[-1] <= count


@pytest.mark.parametrize(
    "end", ['{"step": 2, "lo', '{"step": 2', "\x00\x00\x00", "[1]\n", '{"loss": 1}\n', "7\n"]
)
def test_what_a_killed_process_left_of_the_last_line_is_passed_over(tmp_path, end):
    folder = write(tmp_path / "run", [{"step": 0, "loss": 2.0}, {"step": 1, "loss": 1.0}], end=end)
    assert metric_curves(folder)["loss"].values == [2.0, 1.0]
    assert len(read_lines(folder / "metrics.jsonl")) == 2


def test_bytes_that_are_no_text_end_the_reading(tmp_path):
    folder = write(tmp_path / "run", [{"step": 0, "loss": 2.0}])
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 1, "\xff\xfe": 1}\n')
    assert metric_curves(folder)["loss"].values == [2.0]


def test_a_run_without_files_has_no_curves(tmp_path):
    assert metric_curves(tmp_path) == {}
    assert evaluation_curve(tmp_path, 100) == []
    write(tmp_path / "run", [])
    assert metric_curves(tmp_path / "run") == {}


def test_a_metric_that_only_some_lines_have_is_a_curve_of_these(tmp_path):
    records = [
        {"step": 0, "loss": 4.0},
        {"step": 1, "loss": 3.0, "students": 0.5},
        {"step": 2, "loss": 2.0},
        {"step": 3, "students": 0.7},
    ]
    curves = metric_curves(write(tmp_path / "run", records))
    assert [*curves] == ["loss", "students"]
    assert curves["loss"] == ([1, 2, 3], [4.0, 3.0, 2.0])
    assert curves["students"] == ([2, 4], [0.5, 0.7])


def test_numbers_that_are_not_finite_are_left_out(tmp_path):
    """JSON has none, and a browser would not draw a page with them at all."""
    losses = [1.0, float("nan"), float("inf"), 2.0]
    records = [{"step": step, "loss": loss, "lost": float("nan")} for step, loss in enumerate(losses)]
    curves = metric_curves(write(tmp_path / "run", records))
    assert curves == {"loss": ([1, 4], [1.0, 2.0])}


def test_evaluations_along_the_way_are_read_as_they_are(tmp_path):
    records = [{"step": 5, "accuracies": [0.5, 0.75], "accuracy": 0.625, "protocol": "tiny"}]
    (found,) = evaluation_curve(write(tmp_path / "run", records, "evaluations.jsonl", '{"st'), 5)
    assert found == (5, "tiny", Spread((0.5, 0.75)))


def test_the_deviation_of_older_versions_which_is_not_that_of_a_sample_is_not_taken(tmp_path):
    records = [{"step": 5, "accuracy": 0.5, "deviation": 0.1, "protocol": "tiny"}]
    (found,) = evaluation_curve(write(tmp_path / "run", records, "evaluations.jsonl"), 5)
    assert found.accuracy == Spread((0.5,))


def test_what_lies_beyond_the_steps_of_a_set_and_what_is_no_number_is_left_out(tmp_path):
    lines = [{"step": step, "loss": loss} for step, loss in enumerate([4.0, None, 2.0, 1.0])]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert metric_curves(tmp_path, steps=3)["loss"] == Curve([1, 3], [4.0, 2.0])
    found = [{"step": step, "accuracies": [value]} for step, value in ((2, 0.5), (4, 0.6))]
    broken = {"step": 3, "accuracies": [0.5, float("nan")]}
    (tmp_path / "evaluations.jsonl").write_text("".join(json.dumps(x) + "\n" for x in (*found, broken)))
    assert [line.step for line in evaluation_curve(tmp_path, steps=4)] == [2, 4]
    assert [line.step for line in evaluation_curve(tmp_path, steps=3)] == [2]

"""What the page shows of evaluations beside accuracies: confusions, and the training time that is saved."""

from dataclasses import replace

import pytest

import lqm
from lqm.evaluation.standing import Standing
from lqm.images.evaluation import PROTOCOLS
from lqm.report.page.confusion import confusion
from lqm.report.page.saving import time_saved
from tests.report.making import PROTOCOL, chosen, read_page, rewritten, tiny_source
from tests.report.page.test_summary import CASES, bar, case


def scored(number, confused, *, by_class=(0.5, 0.75), accuracies=(0.6, 0.6), **more):
    found = bar(f"run {number}", number, accuracies, by_class=by_class)
    return replace(found, confused=tuple(confused), **more)


def test_a_matrix_has_rows_that_add_up():
    (found,) = confusion(Standing(PROTOCOL, [scored(0, [(0, 1, 0.5), (1, 0, 0.25)])]), CASES)
    assert found["matrix"] == [[0.5, 0.5], [0.25, 0.75]]
    assert found["pairs"] == [[0, 1, 0.5], [1, 0, 0.25]]
    without = scored(0, [(0, 1, 0.5)], by_class=(0.5, None))
    (found,) = confusion(Standing(PROTOCOL, [without]), CASES)
    assert found["matrix"] == [[0.5, 0.5], [None, None]]


def test_runs_that_differ_by_their_seed_share_a_matrix():
    cases = [case("a", method="a", seed=seed) for seed in range(2)]
    bars = [scored(0, [(0, 1, 0.5)]), scored(1, [(0, 1, 0.1), (1, 0, 0.2)])]
    (found,) = confusion(Standing(PROTOCOL, bars), cases)
    assert (found["runs"], found["networks"]) == (2, 4)
    assert found["matrix"][0][1] == pytest.approx(0.3)
    assert found["matrix"][1][0] == pytest.approx(0.1)


def test_scores_of_older_versions_have_no_matrix():
    assert confusion(Standing(PROTOCOL, [scored(0, [])]), CASES) == []
    right = scored(0, [], by_class=(1.0, 1.0), accuracies=(1.0, 1.0))
    (found,) = confusion(Standing(PROTOCOL, [right]), CASES)
    assert found["matrix"] == [[1.0, 0.0], [0.0, 1.0]], "without a mistake there is nothing to know"


def test_many_classes_show_their_most_frequent_pairs(tmp_path, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "tiny", replace(PROTOCOL, epochs=1))
    source = tiny_source(classes=25, each=4)
    lqm.evaluate(
        chosen(source, tmp_path / "run", 1), source=source, protocol="tiny", baselines=(), show_progress=False
    )
    page = read_page(lqm.write_report(tmp_path / "run", source=source))
    (found,) = page.data["confusion"][0]
    assert found["matrix"] is None
    shares = [share for *_, share in found["pairs"]]
    assert len(shares) == 15
    assert shares == sorted(shares, reverse=True)
    assert "the 15 most frequent pairs of classes" in page.words
    stored = lqm.load(tmp_path / "run").manifest["scores"]
    del stored[0]["confused"]
    rewritten(tmp_path / "run", scores=stored)
    assert "Confusions" not in read_page(lqm.write_report(tmp_path / "run", source=source)).words


def saved(own, full, seconds=100, bank=None, method="dm", **changed):
    cases = [case("a"), case("b")]
    for each in cases:
        each.manifest.update({"seconds": seconds, "method": method} | ({bank: {}} if bank else {}))
    bars = [replace(bar("a", 0, [0.6]), training_seconds=own)]
    bars += [replace(bar("full", None, [0.9], 1442), training_seconds=full)]
    standing = Standing(replace(PROTOCOL, **changed), bars)
    return time_saved({0: bars[0]}, cases, standing)


def test_time_saved_is_the_ratio_of_the_seconds_of_one_network():
    (answer,) = saved(2.0, 25.0)
    (line,) = answer.lines
    assert (line.case, line.value, line.more) == (0, "12.5", "times, 2 s")
    assert "all 1,442 real images takes 25 s, in 2 epochs where the sets have 20:" in answer.note
    assert answer.note.endswith("The time of condensing is made up for after 5 networks.")
    (answer,) = saved(2.0, 25.0, full_steps=10**6)
    assert "takes 25 s: so many times as long" in answer.note, "as many epochs"


def test_time_that_is_not_saved_is_said():
    (answer,) = saved(5.0, 2.0)
    assert answer.lines[0].value == "0.4"
    assert answer.note.endswith("Training on the set is no faster here.")
    note = saved(2.0, 25.0, bank="sketch")[0].note
    assert "The time of condensing, that of a sketch or of experts apart, is made up for" in note
    assert saved(2.0, 25.0, seconds=0)[0].note.endswith("after 1 network.")
    others = saved(2.0, 25.0, seconds=0, method="imported")[0].note
    assert others.endswith("What it took to make the set is not known.")


@pytest.mark.parametrize("seconds", [(None, 2.0), (2.0, None)])
def test_time_that_was_not_measured_is_left_out(seconds):
    assert saved(*seconds) == []


def test_the_page_of_an_evaluation_says_the_time_it_measured(tmp_path, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "tiny", PROTOCOL)
    source = tiny_source()
    found = lqm.evaluate(
        chosen(source, tmp_path / "run"),
        source=source,
        protocol="tiny",
        baselines=("full",),
        show_progress=False,
    )
    ratio = found.baselines["full"].training_seconds / found.score.training_seconds
    words = read_page(lqm.write_report(tmp_path / "run", source=source)).words
    assert f"How much training time is saved? random {ratio:.1f} times" in words

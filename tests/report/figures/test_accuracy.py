from statistics import stdev

import pytest

from lqm.report.figures.accuracy import draw_accuracy_by_budget, draw_accuracy_by_step
from tests.report.figures.making import (
    IMAGES,
    NODES,
    curves,
    drawn,
    entry,
    found,
    image_run,
    node_run,
    title,
)


def points(*pairs):
    return [pytest.approx(pair) for pair in pairs]


def evaluated(*accuracies):
    return [
        {"step": 100 * number, "accuracies": [accuracy - 0.02, accuracy, accuracy + 0.02], "protocol": "tiny"}
        for number, accuracy in enumerate(accuracies, start=1)
    ]


def test_accuracy_along_the_steps_with_random_and_full_records_to_compare(tmp_path, digits):
    real = {"random": found(0.2, 0.4), "herding": found(0.3), "full": found(0.9, records=1442)}
    noted = [entry(0.7, baselines=real)]
    runs = [
        image_run(tmp_path / "a", digits, distance="mean", evaluations=evaluated(0.5, 0.6), scores=noted),
        image_run(tmp_path / "b", digits, evaluations=evaluated(0.55, 0.7)),
        image_run(tmp_path / "c", digits, distance="energy"),
    ]
    figure = drawn(draw_accuracy_by_step, *runs)[0]["accuracy-by-step"]
    panel = figure.axes[0]
    lines = curves(panel)
    assert lines["dm + mean"] == points((100, 50), (200, 60))
    assert lines["dm + lqm"] == points((100, 55), (200, 70))
    assert {name: line[0][1] for name, line in lines.items() if "real" in name} == {
        "random (real)": pytest.approx(30),
        "full (real)": pytest.approx(90),
    }
    low, high = panel.collections[0].get_datalim(panel.transData).intervaly
    assert (low, high) == (pytest.approx(48), pytest.approx(62))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [*lines]


def test_random_records_are_as_many_as_those_of_the_runs_and_all_of_them_are_known_from_any(tmp_path, digits):
    real = {"random": found(0.6, records=50), "full": found(0.9, records=1442)}
    other = [entry(0.8, records=50, baselines=real)]
    runs = [
        image_run(tmp_path / "a", digits, evaluations=evaluated(0.5), scores=[entry(0.5)]),
        image_run(tmp_path / "b", digits, per_class=5, scores=other),
    ]
    assert [*curves(drawn(draw_accuracy_by_step, *runs)[0]["accuracy-by-step"].axes[0])] == [
        "dm + lqm, 2 a class",
        "full (real)",
    ]


def test_evaluations_beyond_the_steps_of_the_set_are_not_drawn(tmp_path, digits):
    """A run of 300 steps that is being taken further."""
    run = image_run(tmp_path / "a", digits, evaluations=evaluated(0.5, 0.6, 0.7, 0.8))
    lines = curves(drawn(draw_accuracy_by_step, run)[0]["accuracy-by-step"].axes[0])
    assert lines["dm + lqm"] == points((100, 50), (200, 60), (300, 70))


def test_what_another_protocol_found_of_real_records_is_not_compared_with(tmp_path, digits):
    other = entry(0.7, protocol=IMAGES | {"epochs": 9}, baselines={"full": found(0.9)})
    run = image_run(tmp_path / "a", digits, evaluations=evaluated(0.5), scores=[other])
    assert [*curves(drawn(draw_accuracy_by_step, run)[0]["accuracy-by-step"].axes[0])] == ["dm + lqm"]


def test_runs_by_other_protocols_and_sources_have_figures_of_their_own(tmp_path, digits):
    runs = [
        image_run(tmp_path / "a", digits, evaluations=evaluated(0.5)),
        image_run(tmp_path / "b", digits, evaluations=evaluated(0.5), evaluation=IMAGES | {"name": "x"}),
    ]
    assert [*drawn(draw_accuracy_by_step, *runs)[0]] == ["accuracy-by-step-tiny", "accuracy-by-step-x"]
    runs[1] = node_run(tmp_path / "c")
    assert [*drawn(draw_accuracy_by_step, *runs)[0]] == ["accuracy-by-step-digits"]


def test_without_evaluations_along_the_way_it_is_said_how_to_get_them(tmp_path, digits):
    assert drawn(draw_accuracy_by_step, image_run(tmp_path / "a", digits)) == (
        {},
        {"accuracy against step": "none of these runs was condensed with --evaluate-every"},
    )


def test_accuracy_by_budget_is_the_mean_over_seeds_beside_real_records(tmp_path, digits):
    def run(per_class, seed, accuracy, **more):
        real = {"random": found(accuracy - 0.2, accuracy - 0.1), "full": found(0.9, 0.8)}
        scores = [entry(accuracy, accuracy + 0.1, baselines=real)]
        folder = tmp_path / f"{per_class}-{seed}-{len(more)}"
        return image_run(folder, digits, per_class=per_class, seed=seed, scores=scores, **more)

    runs = [run(10, 0, 0.7), run(1, 0, 0.4), run(1, 1, 0.6), run(1, 0, 0.3, distance="mean")]
    figure = drawn(draw_accuracy_by_budget, *runs)[0]["accuracy-by-budget"]
    panel = figure.axes[0]
    lines = curves(panel)
    assert lines["dm + lqm"] == points((1, 55), (10, 75))
    assert lines["dm + mean"] == points((1, 35))
    assert [point[0] for point in lines["random (real)"]] == [1, 10]
    assert lines["random (real)"][1] == pytest.approx((10, 55))
    assert lines["full (real)"][0][1] == pytest.approx(85)
    low, high = panel.collections[0].get_datalim(panel.transData).intervaly
    over_seeds, over_networks = 100 * stdev([0.45, 0.65]), 100 * stdev([0.7, 0.8])
    assert (low, high) == (pytest.approx(55 - over_seeds), pytest.approx(75 + over_networks))
    assert panel.get_xscale() == "log"
    assert [text.get_text() for text in panel.get_xticklabels()] == ["1", "10"]
    assert "accuracy by tiny with convnet:width=8; shaded: sample deviation over runs" in title(figure)


def test_settings_may_change_with_the_budget_but_never_share_a_point(tmp_path, digits):
    def run(per_class, start):
        folder = tmp_path / f"{per_class}{start}"
        scores = [entry(0.5)]
        return image_run(folder, digits, per_class=per_class, settings={"start": start}, scores=scores)

    lines = curves(drawn(draw_accuracy_by_budget, run(1, "a"), run(2, "b"))[0]["accuracy-by-budget"].axes[0])
    assert {name: len(line) for name, line in lines.items()} == {"dm + lqm": 2}
    runs = [run(3, "a"), run(4, "b"), run(4, "a")]
    lines = curves(drawn(draw_accuracy_by_budget, *runs)[0]["accuracy-by-budget"].axes[0])
    assert {name: len(line) for name, line in lines.items()} == {
        "dm + lqm, init a": 2,
        "dm + lqm, init b": 1,
    }


def test_only_runs_that_were_judged_in_the_same_way_share_a_figure(tmp_path, digits):
    both = [entry(0.5), entry(0.5, protocol=IMAGES | {"network": "mlp"})]
    runs = [image_run(tmp_path / str(n), digits, per_class=n, scores=both) for n in (1, 2)]
    assert [*drawn(draw_accuracy_by_budget, *runs)[0]] == [
        "accuracy-by-budget-tiny-convnet-width=8",
        "accuracy-by-budget-tiny-mlp",
    ]
    runs = [node_run(tmp_path / f"n{n}", n, scores=[entry(0.5, protocol=NODES)]) for n in (4, 8)]
    figure = drawn(draw_accuracy_by_budget, *runs)[0]["accuracy-by-budget"]
    assert figure.axes[0].get_xlabel() == "nodes"
    assert curves(figure.axes[0])["cat + lqm"] == points((4, 50), (8, 50))


def test_one_budget_is_no_curve(tmp_path, digits):
    figures, left_out = drawn(draw_accuracy_by_budget, image_run(tmp_path / "a", digits, scores=[entry(0.5)]))
    assert not figures
    assert "condense with another --per-class or --budget" in left_out["accuracy against budget"]

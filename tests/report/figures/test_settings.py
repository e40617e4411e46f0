from statistics import stdev

import pytest

from lqm.report.figures.latent_bars import draw_cvm, draw_extremes
from tests.report.figures.making import IMAGES, NODES, bars, drawn, entry, image_run, node_run, title


def labels(figure):
    return [text.get_text() for text in figure.axes[-1].get_xticklabels()]


def test_bars_are_the_noted_statistics_before_and_after_the_training(tmp_path, digits):
    runs = [
        image_run(tmp_path / "mean", digits, distance="mean", scores=[entry(0.5, cvm=0.2)]),
        image_run(tmp_path / "lqm", digits, scores=[entry(0.5, cvm=0.1), entry(0.5, cvm=0.3, seed=1)]),
    ]
    figure = drawn(draw_cvm, *runs)[0]["cvm"]
    assert bars(figure.axes[0]) == ({"mean": [0.2], "lqm": [0.2]}, {"mean": [], "lqm": []})
    assert bars(figure.axes[1])[0] == {"mean": [0.4], "lqm": [0.4]}
    assert labels(figure) == ["digits\ndm\n20 images"]
    assert "compared within a setting only, where sets have as many records" in title(figure)
    assert "error bars" not in title(figure)


def test_extreme_values_are_in_percent(tmp_path, digits):
    run = image_run(tmp_path / "run", digits, scores=[entry(0.5, extremes=0.03)])
    figure = drawn(draw_extremes, run)[0]["extremes"]
    assert [bars(panel)[0]["lqm"] for panel in figure.axes] == [[3.0], [6.0]]


def test_runs_that_differ_by_seed_alone_share_a_bar_with_their_deviation(tmp_path, digits):
    runs = [
        image_run(tmp_path / str(seed), digits, seed=seed, scores=[entry(0.5, cvm=cvm)])
        for seed, cvm in enumerate((0.1, 0.3))
    ]
    figure = drawn(draw_cvm, *runs, tmp_path / "0")[0]["cvm"]
    heights, errors = bars(figure.axes[0])
    assert heights["lqm"] == [pytest.approx(0.2)]
    assert errors["lqm"] == [pytest.approx(stdev([0.1, 0.3]))]
    assert "error bars: sample deviation over runs that differ by seed alone" in title(figure)


def test_a_single_run_has_its_deviation_over_networks(tmp_path, digits):
    noted = entry(0.5, cvm=0.2)
    for when in ("before", "after"):
        noted[when]["by_network"] = [0.1, 0.3]
    run = image_run(tmp_path / "run", digits, scores=[noted])
    figure = drawn(draw_cvm, run)[0]["cvm"]
    assert bars(figure.axes[0])[1]["lqm"] == [pytest.approx(stdev([0.1, 0.3]))]
    assert title(figure).endswith("error bars: sample deviation over networks")
    assert "error bars" not in title(drawn(draw_extremes, run)[0]["extremes"])
    others = [
        image_run(tmp_path / str(seed), digits, distance="mean", seed=seed, scores=[entry(0.5)])
        for seed in (0, 1)
    ]
    words = "deviation over runs that differ by seed alone, of a single one over networks"
    assert words in " ".join(title(drawn(draw_cvm, run, *others)[0]["cvm"]).split())


def test_a_copy_of_a_run_does_not_count_twice(tmp_path, digits):
    runs = [image_run(tmp_path / name, digits, scores=[entry(0.5, cvm=0.1)]) for name in "ab"]
    runs.append(image_run(tmp_path / "c", digits, seed=1, scores=[entry(0.5, cvm=0.4)]))
    assert bars(drawn(draw_cvm, *runs)[0]["cvm"].axes[0])[0]["lqm"] == [pytest.approx(0.25)]


def test_a_copy_that_was_judged_by_another_seed_adds_its_score(tmp_path, digits):
    runs = [
        image_run(tmp_path / str(seed), digits, scores=[entry(0.5, seed=seed, cvm=cvm)])
        for seed, cvm in enumerate((0.1, 0.3))
    ]
    for given in (runs, runs[::-1]):
        assert bars(drawn(draw_cvm, *given)[0]["cvm"].axes[0])[0]["lqm"] == [pytest.approx(0.2)]


def test_methods_sizes_and_sources_are_settings_and_a_distance_that_one_lacks_has_no_bar(tmp_path, digits):
    noted = [entry(0.5, cvm=0.1)]
    many = [entry(0.5, cvm=0.4, records=100)]
    nodes = [entry(0.5, protocol=NODES, cvm=0.5, records=4)]
    runs = [
        image_run(tmp_path / "a", digits, distance="mean", per_class=10, scores=many),
        image_run(tmp_path / "b", digits, scores=noted),
        image_run(tmp_path / "c", digits, method="datadam", scores=noted),
        node_run(tmp_path / "d", scores=nodes),
    ]
    figure = drawn(draw_cvm, *runs)[0]["cvm"]
    assert labels(figure) == [
        "digits\ndatadam\n20 images",
        "digits\ndm\n20 images",
        "digits\ndm\n100 images",
        "papers\ncat\n4 nodes",
    ]
    heights = bars(figure.axes[0])[0]
    assert heights["lqm"] == [0.1, 0.1, pytest.approx(float("nan"), nan_ok=True), 0.5]
    assert heights["mean"][2] == 0.4


def test_ways_of_judging_the_same_data_are_kept_apart(tmp_path, digits):
    longer = IMAGES | {"name": "longer", "epochs": 9}
    noted = [entry(0.5, cvm=0.1), entry(0.5, cvm=0.3, protocol=longer)]
    figure = drawn(draw_cvm, image_run(tmp_path / "a", digits, scores=noted))[0]["cvm"]
    assert labels(figure) == [
        f"digits\ndm\n20 images\n{name}\nconvnet:width=8" for name in ("longer", "tiny")
    ]
    assert bars(figure.axes[0])[0]["lqm"] == [0.3, 0.1]


def test_runs_with_other_settings_do_not_share_a_bar(tmp_path, digits):
    runs = [
        image_run(tmp_path / start, digits, settings={"start": start}, scores=[entry(0.5, cvm=cvm)])
        for start, cvm in (("noise", 0.1), ("random", 0.3))
    ]
    heights = bars(drawn(draw_cvm, *runs)[0]["cvm"].axes[0])[0]
    assert heights == {"dm + lqm, init noise": [0.1], "dm + lqm, init random": [0.3]}


def test_runs_that_were_not_evaluated_have_no_bars(tmp_path, digits):
    run = image_run(tmp_path / "a", digits)
    why = "none of these runs was evaluated; run `lqm evaluate` on them"
    assert drawn(draw_cvm, run) == ({}, {"Cramér-von Mises statistic by setting": why})
    assert drawn(draw_extremes, run) == ({}, {"extreme values by setting": why})

from dataclasses import replace
from statistics import fmean

import pytest
import torch

from lqm.evaluation.diagnostics import extreme_share
from lqm.evaluation.latents import ClassMatch, Latents
from lqm.report.figures.latent_bars import draw_extremes_by_class
from lqm.report.figures.style import house_style
from tests.report.figures.making import bars, drawn, image_run, node_run, subjects, title


def test_bars_are_the_share_of_each_class_and_their_mean(tmp_path, digits):
    runs = [image_run(tmp_path / name, digits, distance=name, seed=n) for n, name in enumerate("ab")]
    figures, _ = drawn(draw_extremes_by_class, *runs)
    heights, errors = bars(figures["extremes-by-class"].axes[0])
    assert [*heights] == ["dm + a", "dm + b"]
    assert errors == {"dm + a": [], "dm + b": []}
    (origin,), _ = subjects(runs)
    for match, own in zip(origin.latents.matches, heights.values(), strict=True):
        shares = [100 * extreme_share(origin.latents.real[c], match[c].own).item() for c in range(10)]
        assert own == pytest.approx([*shares, fmean(shares)])
    names = [text.get_text() for text in figures["extremes-by-class"].axes[0].get_xticklabels()]
    assert names == [*map(str, range(10)), "mean"]
    assert "under a fresh ConvNet-3 of width 8" in title(figures["extremes-by-class"])


def test_seeds_share_bars_and_of_very_many_classes_the_worst_are_shown(tmp_path, digits):
    names = [f"$c_{number}$" for number in range(30)]
    runs = [image_run(tmp_path / str(seed), digits, per_class=1, seed=seed, names=names) for seed in (0, 1)]

    def matches(shift):
        return {c: ClassMatch(torch.zeros(1, 2), torch.zeros(2), (c + shift) / 100) for c in range(30)}

    found = Latents("net", dict.fromkeys(range(30), torch.zeros(2, 2)), [matches(0), matches(2)])
    with house_style():
        (origin,), _ = subjects(runs)
        origin = replace(origin)
        origin.__dict__["latents"] = found
        ((_, figure),) = draw_extremes_by_class([origin])
    heights, errors = bars(figure.axes[0])
    assert heights["dm + lqm"] == pytest.approx([*range(11, 31), 15.5])
    assert errors["dm + lqm"] == pytest.approx([2**0.5] * 21)
    assert "the 20 worst of 30 classes; error bars" in title(figure)
    assert figure.axes[0].get_xticklabels()[0].get_text() == "$c_10$"


def test_a_class_that_a_set_lacks_has_no_bar(tmp_path, digits):
    runs = [image_run(tmp_path / name, digits, distance=name) for name in "ab"]
    with house_style():
        (origin,), _ = subjects(runs)
        del origin.latents.matches[1][3]
        ((_, figure),) = draw_extremes_by_class([origin])
    assert bars(figure.axes[0])[0]["dm + b"][3] == pytest.approx(float("nan"), nan_ok=True)


def test_without_the_data_the_figure_is_left_out(tmp_path):
    figures, left_out = drawn(draw_extremes_by_class, node_run(tmp_path / "a"))
    assert not figures
    assert "--source" in left_out["extreme values by class of papers"]

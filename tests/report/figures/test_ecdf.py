import numpy as np
import pytest
import torch

from lqm.distances.levels import cramer_von_mises_levels
from lqm.distances.quantiles import column_quantiles
from lqm.evaluation.diagnostics import cramer_von_mises, ecdf
from lqm.evaluation.latents import ClassMatch, Latents
from lqm.report.figures.ecdf import distribution_figure, draw_ecdf, typical_class
from lqm.report.figures.style import house_style
from tests.report.figures.making import drawn, image_run, node_run, subjects, title


def normal(count, seed):
    return torch.randn(count, generator=torch.Generator().manual_seed(seed))


def steps(line):
    """Values and shares of a drawn distribution function, without the foot of its first step."""
    x, y = line.get_data()
    assert y[0] == 0
    assert x[0] == x[1]
    return x[1:], y[1:]


def test_a_panel_shows_the_real_values_the_best_points_and_what_was_kept():
    real, own = normal(50, 0), normal(10, 1)
    figure = distribution_figure(real, {"mean": own, "$lqm$": normal(4, 2)}, "a feature")
    panel = figure.axes[0]
    best = column_quantiles(real[:, None], cramer_von_mises_levels(10).levels)[:, 0]
    for line, sample in zip(panel.lines, (real, best, own), strict=True):
        for drawn_values, values in zip(steps(line), ecdf(sample), strict=True):
            np.testing.assert_allclose(drawn_values, values.numpy())
    statistic = cramer_von_mises(real[:, None], own[:, None], ties="ecdf").item()
    assert panel.get_title() == f"mean\nCramér-von Mises {statistic:.3f}"
    assert len(steps(figure.axes[1].lines[1])[0]) == 4, "the best points are as many as the set's own"
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()


@pytest.mark.parametrize(("sets", "grid"), [(1, (1, 1)), (4, (1, 4)), (5, (2, 3)), (8, (2, 4))])
def test_panels_stand_four_in_a_row_at_most(sets, grid):
    figure = distribution_figure(normal(9, 0), {str(n): normal(3, n) for n in range(sets)}, "")
    assert len(figure.axes) == sets
    assert figure.axes[0].get_gridspec().get_geometry() == grid
    assert figure.get_figwidth() == (3.4 if sets == 1 else 7.0)
    lowest = figure.axes[-grid[1] :]
    assert all(panel.get_xlabel() and panel.xaxis.get_tick_params()["labelbottom"] for panel in lowest)


def test_a_set_without_the_class_is_said_to_have_nothing_of_it():
    figure = distribution_figure(normal(9, 0), {"first": None, "second": normal(3, 1)}, "")
    assert figure.axes[0].get_title() == "first\nnothing of this class"
    assert len(figure.axes[0].lines) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "condensed"


def test_the_feature_is_the_one_in_which_the_first_run_strays_farthest_and_then_a_typical_one(
    tmp_path, digits
):
    runs = [image_run(tmp_path / name, digits, distance=name, seed=n) for n, name in enumerate("ab")]
    figures, left_out = drawn(draw_ecdf, *runs)
    assert [*figures] == ["ecdf", "ecdf-typical"]
    assert not left_out
    (origin,), _ = subjects(runs)
    label, feature = origin.latents.strays(0)
    assert title(figures["ecdf"]) == (
        f"digits, class '{label}', feature {feature} of a fresh ConvNet-3 of width 8: where dm + a strays "
        "farthest beyond the real values"
    )
    label = typical_class(origin.latents)
    assert title(figures["ecdf-typical"]).startswith(
        f"digits, class '{label}', feature {origin.latents.typical(label)} of a fresh ConvNet-3 of width 8"
    )
    for panel, match in zip(figures["ecdf-typical"].axes, origin.latents.matches, strict=True):
        own = match[label].own[:, origin.latents.typical(label)]
        np.testing.assert_allclose(steps(panel.lines[2])[0], ecdf(own)[0].numpy())


def test_a_run_that_strays_nowhere_is_not_accused(tmp_path, digits):
    run = image_run(tmp_path / "run", digits)
    with house_style():
        (origin,), _ = subjects([run])
        for label, match in origin.latents.matches[0].items():
            match.own.copy_(origin.latents.real[label][: len(match.own)])
        (first, _) = draw_ecdf([origin])
    assert "this set strays in no feature, and comes nearest to it here" in title(first.figure)


def test_of_very_many_runs_eight_are_shown_each_by_one_seed(tmp_path, digits):
    runs = [
        image_run(tmp_path / f"{distance}-{seed}", digits, per_class=1, distance=distance, seed=seed)
        for distance in "abcde"
        for seed in (0, 1)
    ]
    figure = drawn(draw_ecdf, *runs)[0]["ecdf"]
    assert len(figure.axes) == 5
    assert title(figure).endswith("; 5 of 10 runs")


def test_the_typical_class_is_one_that_all_sets_have_and_the_median_of_these():
    def match(**means):
        return {int(name[1]): ClassMatch(None, torch.full((3,), mean), 0.0) for name, mean in means.items()}

    real = dict.fromkeys(range(4), torch.zeros(2, 3))
    latents = Latents("", real, [match(c0=1.0, c1=5.0, c2=3.0, c3=2.0), match(c0=1.0, c1=5.0, c2=3.0)])
    assert typical_class(latents) == 2


def test_every_source_has_figures_of_its_own_and_one_that_is_gone_is_said_to_be(tmp_path, digits):
    figures, left_out = drawn(draw_ecdf, image_run(tmp_path / "digits", digits), node_run(tmp_path / "nodes"))
    assert [*figures] == ["ecdf-digits", "ecdf-typical-digits"]
    ((what, why),) = left_out.items()
    assert what == "distributions of latent features of papers"
    assert "name the new place with --source, or that of a named source with --data-dir" in why

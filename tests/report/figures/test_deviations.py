"""Every ± and error bar is the sample deviation, by n - 1, as NumPy has it with ddof=1."""

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from lqm.evaluation.accuracy_matrix import AccuracyMatrices
from lqm.evaluation.scores import Score
from lqm.evaluation.spread import Spread
from lqm.report.figures.style import LinePlot, grouped_bars, look
from tests.report.figures.making import bars

VALUES = (0.61, 0.67, 0.64, 0.70, 0.58)


def test_spreads_scores_and_streams():
    expected = np.std(VALUES, ddof=1)
    assert Spread(VALUES).deviation == pytest.approx(expected)
    assert Score(10, VALUES, None, None).deviation == pytest.approx(expected)
    repeats = torch.tensor(VALUES, dtype=torch.float64).view(-1, 1, 1)
    assert AccuracyMatrices(repeats).average[-1].deviation == pytest.approx(expected)
    assert Spread(VALUES).percent() == f"{100 * np.mean(VALUES):.1f} ± {100 * expected:.1f}"


def test_error_bars():
    panel = Figure().subplots()
    grouped_bars(panel, [[Spread(VALUES), Spread(VALUES[:2])]], ["lqm"], 100)
    expected = [100 * np.std(VALUES, ddof=1), 100 * np.std(VALUES[:2], ddof=1)]
    assert bars(panel)[1]["lqm"] == pytest.approx(expected)


def test_shades():
    plot = LinePlot("step")
    plot.curve(look(0), [1, 2], [Spread(VALUES), Spread(VALUES[:2])], "lqm")
    corners = plot.panel.collections[0].get_paths()[0].vertices
    for place, values in ((1, VALUES), (2, VALUES[:2])):
        heights = corners[corners[:, 0] == place, 1]
        assert (heights.max() - heights.min()) / 2 == pytest.approx(100 * np.std(values, ddof=1))

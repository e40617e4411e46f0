"""The forest plot: what is drawn is what the comparisons say."""

import pytest

from lqm.report.figures.forest import forest_figure, write_forest
from lqm.report.figures.style import house_style
from lqm.studies.pairs import comparisons
from lqm.utils.errors import DataError
from tests.studies.making import EVIL, line, small_study


def test_marks_stand_at_the_means_and_lines_end_where_intervals_do():
    found = comparisons(small_study())
    with house_style():
        (panel,) = forest_figure(found).axes
    marks = [own.get_xdata()[0] for own in panel.lines if own.get_marker() not in ("", "None", None)]
    assert marks == pytest.approx([10, 0], abs=1e-9)
    thick = [tuple(own.get_xdata()) for own in panel.lines if own.get_linewidth() == 2.2]
    for drawn, each in zip(thick, found, strict=True):
        assert drawn == pytest.approx([100 * end for end in each.paired.interval])
    assert [label.get_text() for label in panel.get_yticklabels()] == [
        "digits, dm, 1 a class",
        "digits, dm, 10 a class",
    ]
    assert panel.get_xlabel() == "points of accuracy over mean"


def test_each_side_is_in_the_legend_once():
    more = [
        line("wasserstein", seed, 0.3 + 0.01 * seed, per_class=size) for seed in range(3) for size in (1, 10)
    ]
    with house_style():
        figure = forest_figure(comparisons(small_study() + more))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["lqm", "wasserstein"]


def test_files_are_written_with_hostile_names_as_text(tmp_path):
    lines = [line(side, 0, 0.5, source=EVIL + "$x_1$") for side in ("mean", EVIL)]
    png, svg = write_forest(comparisons(lines), tmp_path / "forest")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "&lt;script&gt;" in svg.read_text()
    assert "<script>" not in svg.read_text()


def test_of_nothing_nothing_is_drawn(tmp_path):
    with pytest.raises(DataError, match="there is none"):
        write_forest([], tmp_path / "forest")

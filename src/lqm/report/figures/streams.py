"""Streams of tasks: what was known after each, and on average."""

import math
from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure
from torch import Tensor

from lqm.evaluation.streams import stream_title
from lqm.report.figures.style import COLUMN, PAGE, LinePlot, look, new_figure, plain, set_title
from lqm.report.figures.subjects import Drawing, Tasks, file_names

# Runs from dark blue to yellow, evenly in lightness: readable in grey and by colour-blind readers.
_COLOURS = "cividis"
_NUMBERED = 20
_LARGEST_CELL, _BESIDE = 0.36, 2.1
_POINTS_AN_INCH, _SMALLEST_LETTERS = 25, 4.5


def draw_matrices(groups: Sequence[Tasks]) -> Iterator[Drawing]:
    """The accuracy matrix of each stream, as the mean over its repeats."""
    found = [(f"{stream.label}{group.suffix}", stream) for group in groups for stream in group.streams]
    for stem, (_, stream) in zip(file_names([label for label, _ in found]), found, strict=True):
        title = f"{plain(stream.label, 120)}; {plain(stream_title(stream.result), 120)}"
        yield Drawing(f"accuracy-matrix-{stem}", matrix_figure(stream.mean, title))


def draw_average_accuracy(groups: Sequence[Tasks]) -> Iterator[Drawing]:
    """AA after each task, a line a stream; streams of other tasks have a figure of their own."""
    for group in groups:
        plot = LinePlot("after task", y_label="average accuracy %")
        tasks = range(len(group.streams[0].average))
        for number, stream in enumerate(group.streams):
            plot.curve(look(number), tasks, stream.average, stream.label)
        plot.panel.set_xticks(tasks[:: math.ceil(len(tasks) / _NUMBERED)])
        title = plain(stream_title(group.streams[0].result), 120)
        figure = plot.finish(f"{title}; shaded: sample deviation over repeats")
        yield Drawing(f"average-accuracy{group.suffix}", figure)


def matrix_figure(matrix: Tensor, title: str) -> Figure:
    """An accuracy matrix, with its numbers in percent if they fit; nothing above the diagonal.

    Shapes: matrix [K, K]: row k after task k, column i of task i.
    """
    tasks = len(matrix)
    cell = min(_LARGEST_CELL, (PAGE - _BESIDE) / tasks)
    letters = min(8.0, _POINTS_AN_INCH * cell)
    figure = new_figure(max(COLUMN, _BESIDE + cell * tasks), max(2.0, 1.0 + cell * tasks))
    panel = figure.subplots()
    image = panel.imshow(100 * matrix.numpy(), cmap=_COLOURS, vmin=0, vmax=100)
    for k in range(tasks):
        for i in range(k + 1 if letters >= _SMALLEST_LETTERS else 0):
            shade = "black" if matrix[k, i] > 0.46 else "white"
            panel.text(
                i, k, f"{100 * matrix[k, i]:.0f}", ha="center", va="center", color=shade, fontsize=letters
            )
    numbered = range(0, tasks, math.ceil(tasks / _NUMBERED))
    panel.set_xticks(numbered)
    panel.set_yticks(numbered)
    panel.set_xlabel("accuracy on task")
    panel.set_ylabel("after task")
    figure.colorbar(image, ax=panel, label="accuracy %", shrink=0.8)
    set_title(figure, title)
    return figure

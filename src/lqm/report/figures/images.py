"""Contact sheets: the images of a set, a row a class, or in a grid where there is one of each."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.cells import cell_len

from lqm.condensed import CondensedImages
from lqm.condensed.drawing import as_colours
from lqm.evaluation.cases import Case
from lqm.report.figures.style import COLUMN, PAGE, new_figure, plain, set_title
from lqm.report.figures.subjects import Drawing, LeftOut, Origin, file_names

Tile = np.ndarray[Any, np.dtype[np.uint8]]

_MOST_CLASSES, _MOST_OF_A_CLASS = 100, 20
_LARGEST = 0.6
_SMALLEST, _TALLEST = 0.22, 9.0
_LETTER = 0.075
_LONGEST_BESIDE, _LONGEST_BELOW = 20, 11


def draw_images(origins: Sequence[Origin]) -> Iterator[Drawing | LeftOut]:
    """A sheet for each set of images."""
    found = [
        (f"{case.label}{origin.suffix}", case)
        for origin in origins
        for case in origin.cases
        if isinstance(case.condensed, CondensedImages)
    ]
    if not found:
        yield LeftOut("contact sheets", "these runs hold nodes of graphs, not images")
    for stem, (_, case) in zip(file_names([label for label, _ in found]), found, strict=True):
        yield Drawing(f"images-{stem}", sheet_figure(case))


def sheet_figure(case: Case) -> Figure:
    """The images as they are stored, mosaics whole; the first of very many classes or images."""
    condensed = case.condensed
    counts = condensed.labels.bincount(minlength=len(condensed.class_names)).tolist()
    classes = [label for label, count in enumerate(counts) if count]
    shown = classes[:_MOST_CLASSES]
    chosen = [condensed.data[condensed.labels == label][:_MOST_OF_A_CLASS] for label in shown]
    rows = [[np.asarray(as_colours(image)) for image in images] for images in chosen]
    names = [condensed.class_names[label] for label in shown]
    title = f"{plain(case.manifest['source']['name'])}, {plain(case.label, 120)}"
    if len(shown) < len(classes):
        title += f", the first {len(shown)} of {len(classes)} classes"
    if max(counts) > _MOST_OF_A_CLASS:
        title += f", the first {_MOST_OF_A_CLASS} of {max(counts)} of a class"
    draw = _grid if max(counts) == 1 else _rows
    return draw(rows, names, title)


def _rows(rows: Sequence[Sequence[Tile]], names: Sequence[str], title: str) -> Figure:
    """A row a class, the names to the left."""
    side = len(rows[0][0])
    pitch = side + _gap(side)
    sheet = _sheet(rows, pitch, pitch)
    labels = [plain(name, _LONGEST_BESIDE) for name in names]
    beside = 0.2 + _LETTER * max(map(cell_len, labels))
    figure, panel = _around(sheet, max(map(len, rows)), beside, title)
    panel.set_yticks([row * pitch + side / 2 - 0.5 for row in range(len(rows))], labels)
    return figure


def _grid(rows: Sequence[Sequence[Tile]], names: Sequence[str], title: str) -> Figure:
    """One image of each class, the names below."""
    columns = math.ceil(math.sqrt(len(rows)))
    side = len(rows[0][0])
    wide, high = side + _gap(side), side + math.ceil(0.3 * side)
    tiles = [row[0] for row in rows]
    lines = [tiles[start : start + columns] for start in range(0, len(tiles), columns)]
    # The last line needs the room of its names too.
    sheet = _sheet(lines, wide, high, below=high - side)
    figure, panel = _around(sheet, columns, 0.1, title)
    for number, name in enumerate(names):
        row, column = divmod(number, columns)
        place = (column * wide + side / 2 - 0.5, row * high + side)
        panel.text(*place, plain(name, _LONGEST_BELOW), ha="center", va="top", fontsize=5.5)
    panel.set_yticks([])
    return figure


def _gap(side: int) -> int:
    return math.ceil(side / 12)


def _sheet(lines: Sequence[Sequence[Tile]], wide: int, high: int, below: int = 0) -> Tile:
    """Tiles on white, so far from each other, [H, W, 3]."""
    side = len(lines[0][0])
    shape = (high * (len(lines) - 1) + side + below, wide * (max(map(len, lines)) - 1) + side, 3)
    sheet = np.full(shape, 255, dtype=np.uint8)
    for row, line in enumerate(lines):
        for column, tile in enumerate(line):
            sheet[row * high :, column * wide :][:side, :side] = tile
    return sheet


def _around(sheet: Tile, columns: int, beside: float, title: str) -> tuple[Figure, Axes]:
    """A figure for a sheet, every pixel of it a sharp square."""
    slope = sheet.shape[0] / sheet.shape[1]
    width = min(_LARGEST * columns, PAGE - beside, max(_SMALLEST * columns, _TALLEST / slope))
    figure = new_figure(max(width + beside, COLUMN), width * slope + 0.1)
    panel = figure.subplots()
    panel.imshow(sheet, interpolation="none")
    panel.spines[:].set_visible(False)
    panel.set_xticks([])
    panel.tick_params(axis="y", length=0)
    set_title(figure, title)
    return figure, panel

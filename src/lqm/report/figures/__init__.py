"""Figures of runs, as files for a paper: PNG and SVG, one file of code a figure."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from lqm.utils.extras import missing

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise missing("a figure", "matplotlib", "figures") from error

from lqm.report.figures.accuracy import draw_accuracy_by_budget, draw_accuracy_by_step
from lqm.report.figures.ecdf import draw_ecdf
from lqm.report.figures.images import draw_images
from lqm.report.figures.latent_bars import draw_cvm, draw_extremes, draw_extremes_by_class
from lqm.report.figures.streams import draw_average_accuracy, draw_matrices
from lqm.report.figures.subjects import Drawing, LeftOut, Origin, Tasks

FIGURES: dict[str, Callable[[Sequence[Origin]], Iterable[Drawing | LeftOut]]] = {
    "ecdf": draw_ecdf,
    "cvm": draw_cvm,
    "extremes": draw_extremes,
    "extremes-by-class": draw_extremes_by_class,
    "images": draw_images,
    "accuracy-by-step": draw_accuracy_by_step,
    "accuracy-by-budget": draw_accuracy_by_budget,
}
STREAM_FIGURES: dict[str, Callable[[Sequence[Tasks]], Iterable[Drawing]]] = {
    "accuracy-matrix": draw_matrices,
    "average-accuracy": draw_average_accuracy,
}


def draw_all(origins: Sequence[Origin], tasks: Sequence[Tasks]) -> Iterator[Drawing | LeftOut]:
    """All figures that can be drawn, and what is left out."""
    for draw in FIGURES.values() if origins else ():
        yield from draw(origins)
    for draw_streams in STREAM_FIGURES.values() if tasks else ():
        yield from draw_streams(tasks)

"""Figures of runs, as files for a paper: PNG and SVG, one file of code a figure."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lqm.engine.progress import warn
from lqm.report.figures.accuracy_by_budget import draw_accuracy_by_budget
from lqm.report.figures.accuracy_by_step import draw_accuracy_by_step
from lqm.report.figures.ecdf import draw_ecdf
from lqm.report.figures.extremes import draw_extremes_by_class
from lqm.report.figures.images import draw_images
from lqm.report.figures.settings import draw_cvm, draw_extremes
from lqm.report.figures.streams import draw_average_accuracy, draw_matrices
from lqm.report.figures.style import house_style, save
from lqm.report.figures.subjects import Drawing, LeftOut, Origin, Tasks, read_subjects
from lqm.utils.errors import ArtifactError, ConfigError, DataError

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


def write_figures(
    runs: Sequence[str | Path], to: str | Path, *, source: Any = None, data_dir: str | Path | None = None
) -> list[Path]:
    """Draw all figures that runs have what it needs for; what is left out is said.

    Args:
        runs: folders of runs or of saved sets, or of streams of tasks.
        to: the folder for the figures, each as PNG and SVG; those of the same names are replaced.
        source: where the real data are, if they have moved: a name, a path or an object as for `condense`.
        data_dir: where named sources are, if they have moved.

    Returns:
        The paths written.

    Raises:
        LqmError: when a run is damaged, `to` is no folder, or nothing can be drawn.
    """
    folders = [Path(runs)] if isinstance(runs, str | Path) else [Path(run) for run in runs]
    if not folders:
        raise ConfigError("there is nothing to draw; name one or more runs, or folders of `lqm continual`")
    folder = Path(to)
    found = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not found.is_dir():
        raise ArtifactError(f"{found} is a file; choose a folder for the figures")
    origins, tasks = read_subjects(folders, source, data_dir)
    paths: list[Path] = []
    with house_style():
        drawings: list[Iterable[Drawing | LeftOut]] = []
        if origins:
            drawings += [draw(origins) for draw in FIGURES.values()]
        if tasks:
            drawings += [draw(tasks) for draw in STREAM_FIGURES.values()]
        for drawn in (drawn for figures in drawings for drawn in figures):
            if isinstance(drawn, LeftOut):
                warn(f"no {drawn.what}: {drawn.why}")
            else:
                paths += save(drawn.figure, folder / drawn.stem)
    if not paths:
        raise DataError("nothing of these runs can be drawn; the lines above say what is missing")
    return paths

"""Figures of runs for a paper."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from lqm.api.checking import check_options, check_runs
from lqm.api.evaluation_result import evaluator_of
from lqm.api.types import SourceLike
from lqm.evaluation.cases import Case
from lqm.evaluation.origins import source_of
from lqm.report.figures import draw_all
from lqm.report.figures.forest import draw_forests
from lqm.report.figures.style import house_style, save
from lqm.report.figures.subjects import LeftOut, read_subjects
from lqm.studies.folder import is_study, read_results
from lqm.studies.pairs import comparisons
from lqm.utils.errors import ArtifactError, ConfigError, DataError
from lqm.utils.log import warn
from lqm.utils.paths import as_path


def write_figures(
    runs: Sequence[str | Path],
    to: str | Path,
    *,
    source: SourceLike | None = None,
    data_dir: str | Path | None = None,
) -> list[Path]:
    """Draw all figures that can be drawn of runs; a warning names what is left out, and why.

    Args:
        runs: folders of runs or of saved sets, of streams of tasks, or of studies.
        to: the folder for the figures, each as PNG and SVG; those of the same names are replaced.
        source: where the real data are, if they have moved: a name, a path or an object as for `condense`.
        data_dir: where named sources are, if they have moved.

    Returns:
        The paths written.

    Raises:
        LqmError: when a run is damaged, `to` is no folder, or nothing can be drawn.
    """
    check_options(source=source, data_dir=data_dir)
    folders = check_runs(runs)
    if not folders:
        raise ConfigError("there is nothing to draw; name one or more runs, or folders of `lqm continual`")
    folder = as_path(to, "to")
    found = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not found.is_dir():
        raise ArtifactError(f"{found} is a file; choose a folder for the figures")

    def find_source(case: Case, several: bool) -> Any:
        """The real data; of several, a place that does not lead to one is that of another."""
        every = [(source, data_dir), (None, data_dir), (source, None), (None, None)]
        *places, last = every if several else every[:1]
        for place in places:
            with suppress(DataError):
                return source_of(case.evaluator, case.manifest, *place)
        return source_of(case.evaluator, case.manifest, *last)

    studies = [read_results(path) for path in folders if is_study(path)]
    names = [lines[0].study.name for lines in studies]
    others = [path for path in folders if not is_study(path)]
    origins, tasks = read_subjects(others, evaluator_of, find_source)
    paths: list[Path] = []
    with house_style():
        for drawn in chain(draw_all(origins, tasks), draw_forests(names, [*map(comparisons, studies)])):
            if isinstance(drawn, LeftOut):
                warn(f"no {drawn.what}: {drawn.why}")
            else:
                paths += save(drawn.figure, folder / drawn.stem)
    if not paths:
        raise DataError("nothing of these runs can be drawn; the lines above say what is missing")
    return paths

"""One page about runs, or about a study."""

import os
from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from lqm.api.checking import check_options, check_runs
from lqm.api.evaluation_result import evaluator_of
from lqm.api.types import SourceLike
from lqm.condensed import CondensedImages
from lqm.engine.randomness import seeded
from lqm.evaluation.cases import Case, each_once, latents_of, read_cases
from lqm.evaluation.evaluator import Evaluator
from lqm.evaluation.latents import Latents, measure
from lqm.evaluation.origins import source_of
from lqm.evaluation.streams import StreamRun, is_stream, read_streams
from lqm.graphs.continual import memory_latents
from lqm.graphs.continual.planning import unsplit
from lqm.graphs.evaluation import NODES
from lqm.graphs.networks import describe, make_network
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.stream import make_stream
from lqm.images.inits import init_again
from lqm.images.nearest import nearest
from lqm.images.sources import ImageSource
from lqm.report.page import require_ours, write_page
from lqm.report.page.content import Page, Real, page_of_sets, require_one_source
from lqm.report.page.gallery import RealImages
from lqm.report.page.streams import page_of_streams, require_same_tasks
from lqm.report.page.study import page_of_study
from lqm.studies.folder import is_study, read_results
from lqm.studies.lines import CellLine
from lqm.utils.errors import ArtifactError, ConfigError, DataError
from lqm.utils.log import warn
from lqm.utils.pixels import pixels


def write_report(
    runs: str | Path | Sequence[str | Path],
    out: str | Path | None = None,
    *,
    source: SourceLike | None = None,
    data_dir: str | Path | None = None,
) -> Path:
    """Write one self-contained HTML page about runs on the same data, or about a study.

    Args:
        runs: folders of condensed sets of images or of nodes, or of streams of tasks; or the folder of a
            study, or its `cells.jsonl`; or several folders of one study, such as one of each machine.
        out: the file; by default `report.html` in the run's folder, or in that which the runs share.
        source: where the real data are, a name, a path or an object, if they have moved or were made in
            Python; without them the page shows neither neighbours nor latent features.
        data_dir: where named sources are, if they have moved.

    Returns:
        The path of the page.

    Raises:
        LqmError: when a run is damaged, the runs are not of the same data, or something else stands at `out`.
    """
    check_options(out=out, source=source, data_dir=data_dir)
    folders = each_once(check_runs(runs))
    if not folders:
        raise ConfigError("there is nothing to report on; name one or more runs")
    studies = [folder for folder in folders if is_study(folder)]
    path = Path(out) if out is not None else _common(folders) / "report.html"
    require_ours(path)
    if studies:
        write_page(_studies(studies, folders), path)
        return path
    streams = [folder for folder in folders if is_stream(folder)]
    if streams and len(streams) < len(folders):
        other = next(folder for folder in folders if folder not in streams)
        raise ConfigError(f"{streams[0]} is a stream of tasks and {other} is not; give a report to each kind")
    write_page(_streams(streams, source, data_dir) if streams else _sets(folders, source, data_dir), path)
    return path


def _studies(studies: Sequence[Path], named: Sequence[Path]) -> Page:
    """The page of a study, whose cells may stand in several folders, such as one a machine or a few seeds."""
    if other := next((path for path in named if path not in studies), None):
        raise ConfigError(f"{studies[0]} is a study, which has a page of its own; give another to {other}")
    lines = {study: read_results(study) for study in studies}
    first = lines[studies[0]][0].study
    for study, own in lines.items():
        if own[0].study != first:
            raise ConfigError(
                f"{study} and {studies[0]} are not of the same study ('{own[0].study.name}', not "
                f"'{first.name}', or of another scale); give a report to each"
            )
    cells: dict[tuple[str, int], CellLine] = {}
    for line in (line for own in lines.values() for line in own):
        # What stands in two folders was made twice, and counts once.
        cells.setdefault((line.cell, line.seed), line)
    return page_of_study([*cells.values()])


def _common(folders: Sequence[Path]) -> Path:
    if len(folders) == 1:
        return folders[0].parent if folders[0].is_file() else folders[0]
    shared = os.path.commonpath([os.path.dirname(os.path.abspath(folder)) for folder in folders])
    return Path(shared if any(folder.is_absolute() for folder in folders) else os.path.relpath(shared))


def _sets(folders: Sequence[Path], source: Any, data_dir: str | Path | None) -> Page:
    cases = read_cases(folders, evaluator_of)
    require_one_source(cases)
    known = next((case for case in cases if case.manifest.get("origin")), cases[0])
    data, missing = _real_data(known.evaluator, known.manifest, source, data_dir)
    return page_of_sets(cases, _real(cases, data) if data else None, missing, data)


def _real(cases: Sequence[Case], data: Any) -> Real:
    latents = latents_of(cases, data)
    if isinstance(data, GraphSource):
        return Real(len(data.train), len(data.test), latents, by_class=[len(own) for own in data.by_class])
    train, test = len(data.train.labels), len(data.test.labels)
    if not isinstance(data, ImageSource):
        return Real(train, test, latents)
    sets = [case.condensed for case in cases if isinstance(case.condensed, CondensedImages)]
    inits = [init_again(condensed, data) for condensed in sets]
    return Real(train, test, latents, images=real_images(data), inits=inits)


def real_images(source: ImageSource) -> RealImages:
    """The training images of a source, among which a page finds neighbours."""
    images, labels = source.train.images, source.train.labels
    return RealImages(
        image=lambda place: pixels(images[place]),
        label=lambda place: int(labels[place]),
        nearest=lambda cells, count: nearest(cells, images, count),
    )


def _streams(folders: Sequence[Path], source: Any, data_dir: str | Path | None) -> Page:
    streams = read_streams(folders)
    require_same_tasks(streams)
    latents, missing = _memory_latents(streams, source, data_dir)
    return page_of_streams(streams, latents, missing)


def _memory_latents(
    streams: Sequence[StreamRun], source: Any, data_dir: str | Path | None
) -> tuple[Latents | None, str]:
    """The features of the memories of the first repeats under a fresh classifier; or none, and the reason."""
    if not any(stream.memories for stream in streams):
        return None, ""
    config = streams[0].config
    if isinstance(source, GraphSource):
        source = unsplit(source)
    manifest = {"source": config["source"], "origin": streams[0].result.get("origin")}
    data, missing = _real_data(NODES, manifest, source, data_dir)
    if data is None:
        return None, missing
    known = signature(make_stream).parameters
    tasks = make_stream(data, **{name: word for name, word in config["stream"].items() if name in known})
    width = tasks.tasks[0].graph.width
    for stream in streams:
        for memory in stream.memories:
            if memory.features.shape[1] != width or len(stream.memories) != len(tasks.tasks):
                raise ArtifactError(
                    f"{memory.path} does not fit the graph of {stream.folder}, whose nodes have {width} "
                    f"features and make {len(tasks.tasks)} tasks; restore it from a copy"
                )
    spec = config["settings"].get("classifier", "gcn")
    with seeded(config["seed"], "report"):
        network = make_network(spec, width, len(tasks.class_names))
    memories = [stream.memories for stream in streams]
    return measure(describe(spec), memory_latents(network, tasks, memories)), ""


def _real_data(
    evaluator: Evaluator, manifest: Mapping[str, Any], source: Any, data_dir: str | Path | None
) -> tuple[Any, str]:
    """The real data; or none, and the reason, if they are not where they were and were not named."""
    try:
        return source_of(evaluator, manifest, source, data_dir), ""
    except DataError as error:
        if source is not None or data_dir is not None:
            raise
        warn(f"{error}; the page is made without the real data")
        # The sentence may say where they were on this machine, and the page may be given away.
        gone = f"'{manifest['source']['name']}' is not where it was"
        return None, gone if manifest.get("origin") else str(error)

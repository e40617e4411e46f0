"""What figures are drawn from: sets by the data that they were condensed from, and streams of tasks."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from lqm.condensed import CondensedSet
from lqm.condensed.export import safe_names
from lqm.evaluation.cases import Case, each_once, latents_of, read_cases
from lqm.evaluation.evaluator import Evaluator
from lqm.evaluation.labels import distinct_labels, key_of
from lqm.evaluation.latents import Latents
from lqm.evaluation.streams import StreamRun, is_stream, read_stream, read_streams, tasks_of


class Drawing(NamedTuple):
    """A figure, and the name of its files."""

    stem: str
    figure: Figure


class LeftOut(NamedTuple):
    """What could not be drawn, and why, with what would help."""

    what: str
    why: str


@dataclass(frozen=True, eq=False)
class Origin:
    """Sets that were condensed from the same data; file names end in the suffix, if there are other data."""

    name: str
    suffix: str
    cases: list[Case]
    find_source: Callable[[], Any] = field(repr=False)

    @cached_property
    def latents(self) -> Latents:
        """The features of real and condensed records; DataError if the data are not found."""
        return latents_of(self.cases, self.find_source())


@dataclass(frozen=True)
class Tasks:
    """Streams of the same tasks, evaluated in the same way; `suffix` is as that of `Origin`."""

    suffix: str
    streams: list[StreamRun]


def read_subjects(
    folders: Sequence[Path],
    evaluator_of: Callable[[CondensedSet], Evaluator],
    find_source: Callable[[Case, bool], Any],
) -> tuple[list[Origin], list[Tasks]]:
    """Load runs, each of them once.

    `find_source` finds the real data of a set, given whether there are several sources.
    """
    once = each_once(folders)
    streams = [folder for folder in once if is_stream(folder)]
    cases = read_cases([folder for folder in once if folder not in streams], evaluator_of)
    by_source: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_source[key_of(case.manifest["source"])].append(case)
    names = [found[0].manifest["source"]["name"] for found in by_source.values()]
    several = len(by_source) > 1
    origins = [
        Origin(name, suffix, _relabelled(found), partial(find_source, found[0], several))
        for name, suffix, found in zip(names, suffixes(names), by_source.values(), strict=True)
    ]
    return origins, _tasks(streams)


def file_names(labels: Sequence[str]) -> list[str]:
    """Labels as names of files, no two the same.

    Example:
        >>> file_names(["dm + lqm", "dm + lqm, seed 1", "a/b", "a b"])
        ['dm-lqm', 'dm-lqm-seed-1', 'a-b', 'a-b-2']
    """
    return safe_names([re.sub(r"[^\w.=-]+", "-", label).strip("-") for label in labels])


def suffixes(names: Sequence[str]) -> list[str]:
    """What the file names of several figures end in; nothing for a single one."""
    return [f"-{name}" for name in file_names(names)] if len(names) > 1 else [""] * len(names)


def _relabelled(cases: Sequence[Case]) -> list[Case]:
    labels = distinct_labels([case.manifest for case in cases], [case.folder for case in cases])
    return [replace(case, label=label) for case, label in zip(cases, labels, strict=True)]


def _tasks(folders: Sequence[Path]) -> list[Tasks]:
    by_tasks: defaultdict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        by_tasks[tasks_of(read_stream(folder))].append(folder)
    groups = [read_streams(found) for found in by_tasks.values()]
    ends = suffixes([streams[0].config["source"]["name"] for streams in groups])
    return [Tasks(suffix, streams) for suffix, streams in zip(ends, groups, strict=True)]

"""Condensed sets that are shown together: read, labelled, and encoded by one network."""

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lqm.condensed import CondensedSet, load_described
from lqm.evaluation.evaluator import Evaluator, refuse_memory
from lqm.evaluation.labels import budget_of, distinct_labels, key_of, made_of
from lqm.evaluation.latents import Latents, measure
from lqm.evaluation.origins import require_fits


@dataclass(frozen=True)
class Case:
    """One of the sets that are shown together, with a short label unlike the others'."""

    label: str
    condensed: CondensedSet
    folder: Path
    evaluator: Evaluator = field(repr=False)

    @property
    def manifest(self) -> dict[str, Any]:
        """Where the set comes from, how it was made, and what it scored."""
        return self.condensed.manifest

    @property
    def records(self) -> int:
        """How many a network is trained on: cells of mosaics, nodes with a label."""
        cells: int = self.manifest.get("mosaic", 1) ** 2
        return cells * int((self.condensed.labels >= 0).sum())


def read_cases(
    folders: Sequence[str | Path], evaluator_of: Callable[[CondensedSet], Evaluator]
) -> list[Case]:
    """Load sets, each of them once; what is damaged, or the memory of a stream, is refused."""
    sets = {folder: load_described(folder) for folder in each_once(folders)}
    for condensed in sets.values():
        refuse_memory(condensed.manifest)
    labels = distinct_labels([condensed.manifest for condensed in sets.values()], [*sets])
    return [
        Case(label, condensed, path, evaluator_of(condensed))
        for label, (path, condensed) in zip(labels, sets.items(), strict=True)
    ]


def each_once(folders: Sequence[str | Path]) -> list[Path]:
    """Folders as they were first named, each of them once, by whatever names it was given."""
    once: dict[str, Path] = {}
    for folder in folders:
        once.setdefault(os.path.realpath(folder), Path(folder))
    return [*once.values()]


def latents_of(cases: Sequence[Case], source: Any, *, seed: int = 0) -> Latents:
    """Encode sets of one source by the first network, before its training, of an evaluation by `seed`.

    That network, and how it is fed, are those of the first set.
    """
    for case in cases:
        require_fits(case.condensed, source)
    evaluator, source = cases[0].evaluator, cases[0].condensed.prepared(source)
    protocol = evaluator.protocol_of(cases[0].condensed)
    network = evaluator.fresh_network(source, protocol.network, seed, 0)
    sets = [evaluator.as_records(case.condensed) for case in cases]
    return measure(protocol.kind, evaluator.latents(network, sets, source))


def alike(cases: Sequence[Case]) -> dict[str, list[int]]:
    """The numbers of the runs that differ by their seed alone, by a label for each group of them."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for number, case in enumerate(cases):
        groups[key_of([made_of(case.manifest), budget_of(case.manifest)])].append(number)
    first = [cases[numbers[0]] for numbers in groups.values()]
    seedless = [{name: case.manifest[name] for name in case.manifest if name != "seed"} for case in first]
    labels = distinct_labels(seedless, [case.folder for case in first])
    return dict(zip(labels, groups.values(), strict=True))

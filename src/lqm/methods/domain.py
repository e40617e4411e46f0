"""A kind of data: all that the public functions need to know of images, or of graphs."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from lqm.banks import Experts, Sketch
from lqm.condensed import CondensedSet
from lqm.distances import Distance
from lqm.evaluation.audit.auditor import Auditor
from lqm.evaluation.evaluator import Evaluator
from lqm.methods.problem import Problem
from lqm.methods.spec import MethodSpec
from lqm.recipes import Recipe
from lqm.utils.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What was decided for a run, or for a sketch, before its problem is put together.

    Attributes:
        request: as it was asked.
        source: the data.
        recipe: method, settings and protocol.
        spec: of the method.
        settings: of the method, complete.
        device: where to compute.
        before: the environment in which the run began, if it is resumed.
        distance: what is matched, if anything.
        sketch: in place of passes over the data, if there is one.
        experts: opens a bank of experts, if there is to be one.
        sketching: whether this is for a sketch, which depends on no budget.
    """

    request: Any
    source: Any
    recipe: Recipe
    spec: MethodSpec
    settings: Any
    device: torch.device
    before: Mapping[str, Any]
    distance: Distance | None = None
    sketch: Sketch | None = None
    experts: Callable[[], Experts] | None = None
    sketching: bool = False


@dataclass(frozen=True)
class Prepared:
    """A problem, and what there is to record and to say of it.

    Attributes:
        problem: what the method is told.
        size: how large the set becomes, or what else of a sketch, for the configuration.
        settings: of the method, as they are recorded where that differs.
        compute: how networks are run, for the environment.
        notes: what the user should know, a line each.
        augmentation: the operations that records undergo while they are matched.
        lengths: of a condensed set, by class, how long its features are beside the real ones, if that counts.
    """

    problem: Problem
    size: Mapping[str, Any]
    settings: Mapping[str, Any]
    compute: Mapping[str, Any]
    notes: tuple[str, ...]
    augmentation: tuple[str, ...] = ()
    lengths: Callable[[Any], Sequence[Any]] | None = None


@dataclass(frozen=True)
class Domain:
    """One kind of data.

    Attributes:
        name: such as `images`.
        article: the same in a sentence, such as `a graph`.
        condensed: the class of its condensed sets.
        names: the names of its sources.
        owns: whether a source, looked for in a folder of data, is of this kind.
        options: the fields of a request that are for this kind alone.
        instead: what to give in place of an option of the other kind.
        methods: the methods by name.
        default_method: the one that is taken if none is given, unless a source has a recipe called best.
        load: the source that a request names.
        check: refuses what can be refused before any data is read.
        recipe: the recipe for a source: (source, method, its name, images a class, device).
        prepare: puts the problem together.
        all_records: the `real_batch` that stands for all records of a class.
        evaluator: how a set is evaluated.
        auditor: how it is found out what a set gives away.
    """

    name: str
    article: str
    condensed: type[CondensedSet]
    names: Collection[str]
    owns: Callable[[object, str | Path | None], bool]
    options: tuple[str, ...]
    instead: Mapping[str, str]
    methods: Mapping[str, MethodSpec]
    default_method: str
    load: Callable[[Any], Any]
    check: Callable[[Any], None]
    recipe: Callable[[Any, str | None, str | None, int | None, torch.device], Recipe]
    prepare: Callable[[Choices], Prepared]
    all_records: Callable[[Any], int]
    evaluator: Evaluator
    auditor: Auditor


def require_per_class(per_class: int, source: Any, records: str) -> int:
    """The budget, if every class of a source has as many training records; `records` is what these are.

    Raises:
        DataError: naming the smallest class.
    """
    count, name = min(zip(source.train.labels.bincount().tolist(), source.class_names, strict=True))
    if count < per_class:
        raise DataError(
            f"class '{name}' of '{source.name}' has {count} training {records}, fewer than "
            f"per_class = {per_class}; ask for at most {count}"
        )
    return per_class

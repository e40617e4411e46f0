"""Condense: a source, a method and a distance become a condensed set."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Unpack, overload

import torch

from lqm.api.checking import check_types, request_of
from lqm.api.domains import domain_of_set
from lqm.api.evaluate import score_entry
from lqm.api.given import given_source
from lqm.api.memory import within_memory
from lqm.api.options import CondenseOptions
from lqm.api.planning import REMEDY, plan_condensation
from lqm.api.requests import CondenseRequest
from lqm.api.types import GraphData, HubData, ImagesOrRows, Labels, SourceLike
from lqm.condensed import CondensedImages, CondensedNodes, CondensedSet, CondensedTable, load
from lqm.engine import Config, RunFolder, resolve_device
from lqm.engine.events import require_tensorboard
from lqm.engine.loop import PeriodicEvaluation
from lqm.engine.progress import Evaluated
from lqm.engine.stopping import unwound_at_sigterm
from lqm.evaluation.faults import faults_of
from lqm.evaluation.spread import Spread
from lqm.images.sources import ImageSource
from lqm.methods.plan import Following, Plan, learn
from lqm.tabular.sources import TableSource
from lqm.utils.errors import ArtifactError, ConfigError
from lqm.utils.log import warn


@overload
def condense(source: ImageSource | HubData, **options: Unpack[CondenseOptions]) -> CondensedImages: ...
@overload
def condense(
    source: ImagesOrRows, **options: Unpack[CondenseOptions]
) -> CondensedImages | CondensedTable: ...
@overload
def condense(source: GraphData, **options: Unpack[CondenseOptions]) -> CondensedNodes: ...
@overload
def condense(source: TableSource, **options: Unpack[CondenseOptions]) -> CondensedTable: ...
@overload
def condense(
    source: str | Path, **options: Unpack[CondenseOptions]
) -> CondensedImages | CondensedNodes | CondensedTable: ...
@overload
def condense(
    source: SourceLike, y: Labels | None = None, **options: Unpack[CondenseOptions]
) -> CondensedSet: ...
def condense(source: SourceLike, y: Labels | None = None, **options: Unpack[CondenseOptions]) -> CondensedSet:
    """Learn a small set that stands in for a large one.

    Args:
        source: a name (`digits`, `digits-knn`, `wine`) or a path; arrays or tensors, with `y`: images
            [N, H, W], [N, C, H, W] or [N, H, W, C], or rows of features [N, F]; a dataset of torch or of
            Hugging Face; a pandas frame with the paths of images, or of numbers with `label`, the name of its
            column of labels; PyG's `Data`; or a source. See `load_source` for images, `load_graph` for
            graphs and `load_table` for tables.
        y: the labels of arrays, whole numbers or texts.
        **options: see `CondenseRequest`; among them `method`, `distance` (a name or an object with the two
            halves of a `Distance`), `per_class` or `budget`, `settings`, `seed` and `out`. Of data that are
            handed over also `class_names`, whose numbers the labels are, and `test`, what to evaluate by in
            the form of the source, such as `(X_test, y_test)`; without it `test_fraction` is held out.

    Returns:
        `CondensedImages`, `CondensedNodes` or `CondensedTable`.

    Raises:
        LqmError: for anything that can't be used, before any work starts.
    """
    data, words = given_source(source, y, options)
    return run_condensation(request_of(CondenseRequest, source=data, **words))


@within_memory("condensing", REMEDY)
def run_condensation(request: CondenseRequest) -> CondensedSet:
    """See `condense`."""
    check_types(request)
    if request.out is not None:
        return _condense(request)
    with unwound_at_sigterm(), TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        return _condense(request, Path(scratch))


def _condense(request: CondenseRequest, scratch: Path | None = None) -> CondensedSet:
    device = resolve_device(request.device)
    _check_following(request)
    plan = plan_condensation(request, device, scratch)
    evaluation = None
    if request.evaluate_every:
        evaluation = PeriodicEvaluation(lambda: _evaluate(plan, device), request.evaluate_every)
    following = Following(
        request.show_progress, request.checkpoint_seconds, evaluation, request.tensorboard, request.callback
    )

    def scored(condensed: CondensedSet) -> CondensedSet:
        """With the last evaluation along the way, if there are any, recorded as one of `lqm evaluate`."""
        return (
            condensed.with_score(score_entry(condensed, plan.source, seed=0, device=device))
            if evaluation
            else condensed
        )

    def checked(condensed: CondensedSet) -> CondensedSet:
        """The same, with its real data if nobody else can find them, after a warning of what is wrong."""
        if plan.source.origin is None:
            condensed = replace(condensed, real=plan.source)
        lengths = plan.lengths(condensed) if plan.lengths else ()
        for line in faults_of(condensed, domain_of_set(condensed).evaluator, lengths=lengths):
            warn(f"warning: {line}")
        return condensed

    if request.out is None:
        return scored(checked(learn(plan, None, following)))
    with RunFolder(Path(request.out), plan.config, plan.record["environment"], steps=plan.steps) as folder:
        finished = _finished(folder.path, plan.config | {"steps": plan.steps})
        if finished and (evaluation or request.tensorboard):
            warn("there are no steps left to evaluate along the way, or to write event files of")
        if finished:
            return checked(finished)
        return scored(checked(learn(plan, folder, following).write(folder.path)))


def _check_following(request: CondenseRequest) -> None:
    """Refuse ways to follow a run that can't be."""
    if request.tensorboard:
        if request.out is None:
            raise ConfigError("tensorboard writes to the run's folder, and there is none; give one as out")
        require_tensorboard()


def _evaluate(plan: Plan, device: torch.device) -> Evaluated:
    """What `lqm evaluate` would find of the set as it is now."""
    found = score_entry(plan.result(), plan.source, seed=0, device=device)
    return {
        "accuracy": found["accuracy"],
        "deviation": Spread(found["accuracies"]).deviation,
        "accuracies": list(found["accuracies"]),
        "protocol": found["protocol"]["name"],
        **{name: found["before"][name] for name in ("cramer_von_mises", "extremes")},
    }


def _finished(folder: Path, config: Config) -> CondensedSet | None:
    """The set of a run that has ended already, unless it is missing, damaged, or of fewer steps."""
    if not (folder / "manifest.json").exists():
        return None
    try:
        condensed = load(folder)
    except ArtifactError as error:
        warn(f"{error}; making it again from the last checkpoint")
        return None
    if any(condensed.manifest.get(name) != value for name, value in config.items()):
        return None
    warn(f"{folder} is finished already, after {config['steps']} steps")
    return condensed

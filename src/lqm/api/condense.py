"""Condense: a source, a method and a distance become a small set."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import pstdev
from typing import Any

import torch

from lqm.banks import Sketch
from lqm.condensed import CondensedSet, load
from lqm.distances import DISTANCES, Distance
from lqm.engine import Config, RunFolder, recorded, resolve_device, run
from lqm.engine.events import require_tensorboard
from lqm.engine.loop import Judge
from lqm.engine.progress import Verdict, warn
from lqm.evaluating import score_entry
from lqm.graphs.methods import METHODS as GRAPH_METHODS
from lqm.graphs.planning import plan_nodes
from lqm.graphs.sources import GRAPHS, is_graph
from lqm.images.methods import METHODS as IMAGE_METHODS
from lqm.images.networks import NetworkMaker
from lqm.images.planning import plan_images
from lqm.images.sources import SOURCES
from lqm.methods.plan import Plan, distance_record
from lqm.utils.errors import ArtifactError, ConfigError, DataError
from lqm.utils.names import choose


def condense(
    source: Any,
    *,
    method: str | None = None,
    distance: str | Distance | None = None,
    per_class: int | None = None,
    budget: int | str | None = None,
    recipe: str | None = None,
    seed: int = 0,
    settings: dict[str, Any] | None = None,
    network: str | NetworkMaker | None = None,
    data_dir: str | Path | None = None,
    size: int | None = None,
    test_fraction: float | None = None,
    augmentation: str | Sequence[str] | None = None,
    compile: str | None = None,
    precision: str | None = None,
    sketch: str | Path | None = None,
    features: str | None = None,
    split: str | None = None,
    out: str | Path | None = None,
    device: str = "auto",
    checkpoint_seconds: float = 10.0,
    evaluate_every: int | None = None,
    tensorboard: bool = False,
    show_progress: bool = True,
) -> Any:
    """Learn a small set that stands in for a large one.

    Args:
        source: a name (`digits`, `digits-knn`), a path, an `ImageSource`, a `GraphSource` or PyG's `Data`;
            see `load_source` for images and `load_graph` for graphs.
        method: how the synthetic set is learned; for images `dm` unless a recipe says otherwise, for
            graphs `cat`.
        distance: what is matched: a name (`lqm` if there is none), or an object with the two halves of a
            `Distance`.
        per_class: of images: synthetic ones of each class; 10 unless a recipe says otherwise.
        budget: of a graph: synthetic nodes, or a share of its nodes such as `1%`, the default.
        recipe: of images: the name of one of the source's recipes; by default the one that suits method and
            budget.
        seed: everything random follows from it.
        settings: the method's settings that differ from the recipe and the paper's defaults.
        network: of images: such as `convnet:width=64`; or a function of an image's shape and the number
            of classes that returns a module of your own.
        data_dir: where the named sources are; see `load_source` for this and the next three.
        size: scale and cut every image to a square of so many pixels.
        test_fraction: share of each class to hold out, if the images have no test set.
        augmentation: the operations that leave an image's label right.
        compile: of images: whether networks are compiled: `on`, `off`, or `auto`, if the run is long.
        precision: of images: `fp32`, `bf16`, or `auto`, the faster one if a trial finds that it works.
        sketch: a folder that `lqm.sketch` made of the same source, in place of passes over the real data.
        features: what the nodes of a graph without features are described by; see `load_graph`.
        split: `published` or `random`, of the nodes of a graph; see `load_graph`.
        out: a run folder; a run that was stopped there goes on from its last checkpoint.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
        checkpoint_seconds: time between checkpoints.
        evaluate_every: score the set as it is after every so many steps and after the last one, as `evaluate`
            would; shown, and kept in the run folder. It changes nothing about the set.
        tensorboard: write event files for TensorBoard to the run folder.
        show_progress: whether to show the steps and the time left.

    Returns:
        `CondensedImages` or `CondensedNodes`.

    Raises:
        LqmError: for anything that can't be used, before any work starts.
    """
    where = resolve_device(device)
    _check_following(evaluate_every, tensorboard, out)
    if isinstance(distance, str):
        distance = choose(distance, DISTANCES, "distance")
    distance_record(distance)
    graph = is_graph(source, data_dir)
    of_images: dict[str, Any] = {
        "per_class": per_class,
        "recipe": recipe,
        "network": network,
        "size": size,
        "test_fraction": test_fraction,
        "augmentation": augmentation,
        "compile": compile,
        "precision": precision,
    }
    of_graphs: dict[str, Any] = {"budget": budget, "features": features, "split": split}
    refuse_options(source, method, graph=graph, options=of_images if graph else of_graphs)
    common: dict[str, Any] = {
        "method": method,
        "distance": distance,
        "seed": seed,
        "settings": settings or {},
        "data_dir": data_dir,
        "device": where,
        "show_progress": show_progress,
        "sketch": Sketch(sketch, _encoders_before(out)) if sketch is not None else None,
    }
    if graph:
        plan = plan_nodes(source, **common, **of_graphs)
    else:
        plan = plan_images(source, **common, **of_images, before=recorded(out)["environment"])
    how = {"checkpoint_seconds": checkpoint_seconds, "show_progress": show_progress}
    judge = Judge(lambda: _judged(plan, where), evaluate_every) if evaluate_every else None
    following = {"judge": judge, "tensorboard": tensorboard}

    def scored(condensed: CondensedSet) -> CondensedSet:
        """With the last evaluation along the way, if there are any, noted as one of `lqm evaluate`."""
        entry = score_entry(condensed, plan.source, seed=0, device=where) if judge else None
        return condensed.with_score(entry) if entry else condensed

    if out is None:
        return scored(_learn(plan, None, how, following))
    with RunFolder(Path(out), plan.config, plan.record["environment"], steps=plan.steps) as folder:
        finished = _finished(folder.path, plan.config | {"steps": plan.steps})
        if finished and (judge or tensorboard):
            warn("there are no steps left to evaluate along the way, or to write event files of")
        return finished or scored(_learn(plan, folder, how, following).write(folder.path))


def _check_following(evaluate_every: Any, tensorboard: bool, out: str | Path | None) -> None:
    """Refuse ways to follow a run that can't be."""
    if evaluate_every is not None and (not isinstance(evaluate_every, int) or evaluate_every < 1):
        raise ConfigError(
            f"evaluate_every = {evaluate_every!r} can't be used: it should be a whole number, at least 1"
        )
    if tensorboard:
        if out is None:
            raise ConfigError("tensorboard writes to the run's folder, and there is none; give one as out")
        require_tensorboard()


def _encoders_before(out: str | Path | None) -> int | None:
    """How many encoders a run that is taken up again began with: its sketch may have got more since."""
    sketch = recorded(out)["config"].get("sketch")
    return int(sketch["encoders"]) if sketch else None


def refuse_options(source: Any, method: str | None, *, graph: bool, options: dict[str, Any]) -> None:
    """Refuse an unknown name, what is for images in the case of a graph, and the other way round."""
    kind, other = ("a graph", "images") if graph else ("images", "graphs")
    if not graph and isinstance(source, str) and not Path(source).expanduser().exists():
        if Path(source).suffix or "/" in source:
            raise DataError(f"there is no {Path(source).expanduser()}; name a file or folder that is there")
        try:
            choose(source, {**SOURCES, **GRAPHS}, "source")
        except ConfigError as error:
            raise ConfigError(
                f"{error}, or the path of a folder of class folders, a .npz, a .parquet or a graph"
            ) from None
    own, others = (GRAPH_METHODS, IMAGE_METHODS) if graph else (IMAGE_METHODS, GRAPH_METHODS)
    if method in others and method not in own:
        raise ConfigError(
            f"method '{method}' is for {other}, and '{source}' is {kind}; choose one of {', '.join(own)}"
        )
    given = [name for name, value in options.items() if value is not None]
    if given:
        instead = {"per_class": "; give a budget instead", "budget": "; give per_class instead"}
        raise ConfigError(
            f"{given[0]} is for {other}, and '{source}' is {kind}{instead.get(given[0], '; leave it out')}"
        )


def _learn(
    plan: Plan, folder: RunFolder | None, how: dict[str, Any], following: dict[str, Any]
) -> CondensedSet:
    if how["show_progress"]:
        for line in plan.words:
            warn(line)
    seconds = 0.0
    if plan.start and not _begun(folder):
        with _below(folder, plan) as place:
            seconds = run(plan.start.method, plan.start.steps, place, name=plan.start.title, **how)
        plan.start.then()
    seconds += run(plan.learner, plan.steps, folder, name=plan.title, **how, **following)
    return _described(plan, seconds=round(seconds, 3))


def _described(plan: Plan, **more: Any) -> CondensedSet:
    """The set as it is now, with all that is to be said of it."""
    result = plan.learner.result()
    return replace(result, manifest={**plan.config, **plan.record, **more, **result.manifest})


def _judged(plan: Plan, device: torch.device) -> Verdict:
    """What `lqm evaluate` would find of the set as it is now."""
    found = score_entry(_described(plan), plan.source, seed=0, device=device)
    return {
        "accuracy": found["accuracy"],
        "deviation": pstdev(found["accuracies"]),
        "accuracies": list(found["accuracies"]),
        "protocol": found["protocol"]["name"],
        **{name: found["before"][name] for name in ("cramer_von_mises", "extremes")},
    }


def _begun(folder: RunFolder | None) -> bool:
    """Whether a run has made steps already, and so needs no start."""
    return folder is not None and (folder.path / "checkpoints").exists()


def _below(folder: RunFolder | None, plan: Plan) -> AbstractContextManager[Any]:
    """A folder of its own for choosing the start, so that it too goes on where it was stopped."""
    if folder is None:
        return nullcontext()
    return RunFolder(folder.path / "start", plan.config, plan.record["environment"])


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

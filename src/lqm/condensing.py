"""Condense: a source, a method and a distance become a small set."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import Any

import torch

from lqm.condensed import CondensedSet, load
from lqm.coresets import RULES
from lqm.distances import DISTANCES, Distance
from lqm.engine import Config, RunFolder, environment, resolve_device, run
from lqm.engine.progress import warn
from lqm.engine.randomness import seeded
from lqm.errors import ArtifactError, ConfigError, DataError
from lqm.images.evaluation import PROTOCOLS
from lqm.images.methods import METHODS, ImageMethod
from lqm.images.methods.matching import Matching
from lqm.images.networks import NetworkMaker, factory_name, make_network
from lqm.images.sources import ImageSource, load_source
from lqm.names import choose
from lqm.recipes import Recipe, fitting_recipe, named_recipe
from lqm.settings import make_settings


def condense(
    source: str | Path | ImageSource,
    *,
    method: str | None = None,
    distance: str | Distance | None = None,
    per_class: int | None = None,
    recipe: str | None = None,
    seed: int = 0,
    settings: dict[str, Any] | None = None,
    network: str | NetworkMaker | None = None,
    data_dir: str | Path | None = None,
    size: int | None = None,
    test_fraction: float | None = None,
    augmentation: Sequence[str] | None = None,
    out: str | Path | None = None,
    device: str = "auto",
    checkpoint_seconds: float = 10.0,
    show_progress: bool = True,
) -> CondensedSet:
    """Learn a small set that stands in for a large one.

    Args:
        source: a name (`digits`), a path, or an `ImageSource`; see `load_source`.
        method: how the synthetic set is learned; `dm` unless a recipe says otherwise.
        distance: what is matched: a name (`lqm` if there is none), or an object with the two halves of a
            `Distance`.
        per_class: synthetic pictures of each class; 10 unless a recipe says otherwise.
        recipe: the name of one of the source's recipes; by default the one that suits method and budget.
        seed: everything random follows from it.
        settings: the method's settings that differ from the recipe and the paper's defaults.
        network: such as `convnet:width=64`; or a function of a picture's shape and the number of classes that
            returns a module of your own.
        data_dir: where the named sources are; see `load_source` for this and the next three.
        size: scale and cut every picture to a square of so many pixels.
        test_fraction: share of each class to hold out, if the source has no test set.
        augmentation: the operations that leave a picture's label right.
        out: a run folder; a run that was stopped there goes on from its last checkpoint.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
        checkpoint_seconds: time between checkpoints.
        show_progress: whether to show the steps and the time left.

    Raises:
        LqmError: for anything that can't be used, before any work starts.
    """
    where = resolve_device(device)
    if isinstance(network, str):
        settings, network = {**(settings or {}), "network": network}, None
    if method is not None:
        make_settings(choose(method, METHODS, "method").Settings, settings or {})
    if per_class is not None and (not isinstance(per_class, int) or per_class < 1):
        raise ConfigError(f"per_class = {per_class!r} can't be used: it should be a whole number, at least 1")
    if isinstance(distance, str):
        distance = choose(distance, DISTANCES, "distance")
    elif distance is not None:
        _distance_options(distance)
    data = load_source(
        source,
        data_dir=data_dir,
        size=size,
        test_fraction=test_fraction,
        augmentation=augmentation,
        show_progress=show_progress,
    )
    plan = _recipe(data, recipe, method, per_class, where)
    kind = METHODS[plan.method]
    matched = _distance(kind, plan.method, distance)
    count = _per_class(plan.per_class, data)
    resolved = make_settings(kind.Settings, plan.settings | (settings or {}))
    fixed = asdict(resolved)
    steps = fixed.pop("steps")
    if network is not None:
        with seeded(seed, "record"):
            made = make_network(network, data.shape, len(data.class_names))
        fixed["network"] = f"{factory_name(network)} {hashlib.sha256(repr(made).encode()).hexdigest()[:12]}"
    config: Config = {
        "source": data.record,
        "method": plan.method,
        "distance": _distance_options(matched) if matched else None,
        "per_class": count,
        "seed": seed,
        "settings": fixed,
    }
    machine = environment(where)
    description = {
        **config,
        "recipe": plan.name,
        "steps": steps,
        "origin": data.origin,
        "evaluation": asdict(PROTOCOLS[plan.protocol]),
        "environment": machine,
    }

    how: dict[str, Any] = {"checkpoint_seconds": checkpoint_seconds, "show_progress": show_progress}
    learner = kind(data, matched, count, seed, resolved, where, network=network)

    def learn(folder: RunFolder | None) -> CondensedSet:
        if show_progress:
            words = ", ".join(f"{name}={value}" for name, value in {"steps": steps, **fixed}.items())
            warn((f"recipe {plan.name}: " if plan.name else "settings: ") + words)
        seconds = 0.0
        if isinstance(learner, Matching) and learner.settings.start in RULES and not _begun(folder):
            chooser = learner.start_chooser()
            with _below(folder, config, machine) as place:
                seconds = run(chooser, chooser.steps, place, name=f"start by {chooser.rule}", **how)
            learner.start_from(chooser.chosen())
        name = f"{plan.method} + {matched.name}" if matched else plan.method
        seconds += run(learner, steps, folder, name=name, **how)
        result = learner.result()
        return replace(result, manifest=description | {"seconds": round(seconds, 3)} | result.manifest)

    if out is None:
        return learn(None)
    with RunFolder(Path(out), config, machine) as folder:
        finished = _finished(folder.path, config | {"steps": steps})
        return finished or learn(folder).write(folder.path)


def _begun(folder: RunFolder | None) -> bool:
    """Whether a run has made steps already, and so needs no start."""
    return folder is not None and (folder.path / "checkpoints").exists()


def _below(folder: RunFolder | None, config: Config, machine: dict[str, Any]) -> AbstractContextManager[Any]:
    """A folder of its own for choosing the start, so that it too goes on where it was stopped."""
    return RunFolder(folder.path / "start", config, machine) if folder else nullcontext()


def _recipe(
    data: ImageSource, name: str | None, method: str | None, per_class: int | None, device: torch.device
) -> Recipe:
    """The recipe of that name, or the one that suits method and budget: dm and 10 unless they are given."""
    if name is None:
        wanted = 10 if per_class is None else per_class
        fitting = fitting_recipe(data.recipes, method or "dm", wanted, cpu=device.type == "cpu")
        return replace(fitting, per_class=wanted)
    found = named_recipe(data.recipes, name)
    for what, own, given in (("method", found.method, method), ("per_class", found.per_class, per_class)):
        if given not in (None, own):
            raise ConfigError(
                f"recipe '{name}' is for {what} = {own!r}, not {given!r}; leave one of them out"
            )
    return found


def _distance(kind: ImageMethod, method: str, distance: Distance | None) -> Distance | None:
    """The distance that a method is to match by, if it matches."""
    if kind.matches:
        return distance or DISTANCES["lqm"]
    if distance is not None:
        raise ConfigError(
            f"method '{method}' chooses real pictures and matches no distance; leave the distance out"
        )
    return None


def _distance_options(distance: Distance) -> dict[str, Any]:
    """A distance as the manifest records it, after checking that it is one."""
    if isinstance(distance, type) or not all(hasattr(distance, part) for part in ("name", "target", "loss")):
        raise ConfigError(
            f"{distance!r} is no distance; pass a name, or an object with a name, a target and a loss"
        )
    options: dict[str, Any] = asdict(distance) if is_dataclass(distance) else {}
    try:
        recorded: dict[str, Any] = json.loads(json.dumps(options | {"name": distance.name}))
    except TypeError as error:
        raise ConfigError(f"the options of distance '{distance.name}' can't be recorded: {error}") from None
    return recorded


def _per_class(per_class: int, source: ImageSource) -> int:
    """The budget, if every class has as many pictures."""
    count, name = min(zip(source.train.labels.bincount().tolist(), source.class_names, strict=True))
    if count < per_class:
        raise DataError(
            f"class '{name}' of '{source.name}' has {count} training pictures, fewer than "
            f"per_class = {per_class}; ask for at most {count}"
        )
    return per_class


def _finished(folder: Path, config: Config) -> CondensedSet | None:
    """The set of a run that has ended already, unless it is missing, damaged, or of fewer steps."""
    if not (folder / "manifest.json").exists():
        return None
    try:
        small = load(folder)
    except ArtifactError as error:
        warn(f"{error}; making it again from the last checkpoint")
        return None
    if any(small.manifest.get(name) != value for name, value in config.items()):
        return None
    warn(f"{folder} is finished already, after {config['steps']} steps")
    return small

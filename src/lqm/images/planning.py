"""From what the user asked for to a condensation of images that is ready to begin."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from lqm.banks import (
    Sketch,
    advice,
    require_fine_enough,
    require_same_source,
    sketched_method,
    sketched_settings,
)
from lqm.distances import Distance
from lqm.engine import environment
from lqm.engine.compute import Compute, decide
from lqm.engine.randomness import seeded
from lqm.images.evaluation import PROTOCOLS
from lqm.images.methods import METHODS
from lqm.images.methods.matching import Matching
from lqm.images.networks import NetworkMaker, factory_name, make_network
from lqm.images.sources import ImageSource, load_source
from lqm.methods.plan import Plan, Stage, distance_for, distance_record, in_words, titled
from lqm.methods.rules import RULES
from lqm.recipes import Recipe, fitting_recipe, named_recipe
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.names import choose
from lqm.utils.settings import make_settings


def plan_images(
    source: str | Path | ImageSource,
    *,
    method: str | None,
    distance: Distance | None,
    seed: int,
    settings: dict[str, Any],
    device: torch.device,
    show_progress: bool,
    per_class: int | None = None,
    recipe: str | None = None,
    network: str | NetworkMaker | None = None,
    data_dir: str | Path | None = None,
    size: int | None = None,
    test_fraction: float | None = None,
    augmentation: str | Sequence[str] | None = None,
    compile: str | None = None,
    precision: str | None = None,
    sketch: Sketch | None = None,
    before: Mapping[str, Any] | None = None,
) -> Plan:
    """See `lqm.condense`; `before` is the environment in which the run began, if it is taken up again."""
    if isinstance(network, str):
        settings, network = {**settings, "network": network}, None
    if method is not None:
        make_settings(choose(method, METHODS, "method").Settings, settings)
    if per_class is not None and (not isinstance(per_class, int) or per_class < 1):
        raise ConfigError(f"per_class = {per_class!r} can't be used: it should be a whole number, at least 1")
    data = load_source(
        source,
        data_dir=data_dir,
        size=size,
        test_fraction=test_fraction,
        augmentation=augmentation,
        show_progress=show_progress,
    )
    if sketch:
        require_same_source(sketch, data.record)
        method = sketched_method(sketch, method, METHODS)
    chosen = recipe_for(data, recipe, method, per_class, device)
    kind = METHODS[chosen.method]
    matched = distance_for(chosen.method, matches=kind.matches, distance=distance)
    count = _per_class(chosen.per_class, data)
    if sketch:
        if network is not None:
            raise ConfigError("a sketch has encoders of its own; leave the network out")
        assert isinstance(kind, type)
        assert issubclass(kind, Matching)
        settings = sketched_settings(sketch, kind.Settings, settings, kind.schedule_settings)
    resolved = make_settings(kind.Settings, chosen.settings | settings)
    fixed = asdict(resolved)
    steps = fixed.pop("steps")
    if network is not None:
        with seeded(seed, "record"):
            made = make_network(network, data.shape, len(data.class_names))
        fixed["network"] = f"{factory_name(network)} {hashlib.sha256(repr(made).encode()).hexdigest()[:12]}"
    learner = kind(data, matched, count, seed, resolved, device, network=network)
    compute, about_compute = Compute(), tuple[str, ...]()
    if not isinstance(learner, Matching):
        for name, value in (("compile", compile), ("precision", precision)):
            if value is not None:
                raise ConfigError(f"{name} has no part in method '{chosen.method}'; leave it out")
    else:
        if sketch:
            require_fine_enough(sketch, matched, learner.records)
            learner.recall_from(sketch)
        numbers, named = steps * learner.numbers, network is None
        compute, about_compute = decide(
            compile or "auto", precision or "fp32", device, numbers=numbers, named=named, before=before
        )
        learner.run_by(compute)
    heading = f"recipe {chosen.name}: " if chosen.name else "settings: "
    return Plan(
        learner,
        steps,
        source=data,
        config={
            "source": data.record,
            "method": chosen.method,
            "distance": distance_record(matched),
            "per_class": count,
            "seed": seed,
            "settings": fixed,
            **({"sketch": sketch.identity} if sketch else {}),
        },
        record={
            "recipe": chosen.name,
            "steps": steps,
            "origin": data.origin,
            "evaluation": asdict(PROTOCOLS[chosen.protocol]),
            "environment": environment(device) | asdict(compute),
        },
        title=titled(chosen.method, matched),
        words=(
            heading + in_words({"steps": steps, **fixed}),
            *about_compute,
            *advice(sketch, steps),
        ),
        start=_start(learner) if isinstance(learner, Matching) else None,
    )


def _start(learner: Matching) -> Stage | None:
    if learner.settings.start not in RULES:
        return None
    chooser = learner.own.start_chooser()
    return Stage(
        chooser,
        chooser.steps,
        f"start by {chooser.rule}",
        then=lambda: learner.own.start_from(chooser.chosen()),
    )


def recipe_for(
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


def _per_class(per_class: int, source: ImageSource) -> int:
    """The budget, if every class has as many images."""
    count, name = min(zip(source.train.labels.bincount().tolist(), source.class_names, strict=True))
    if count < per_class:
        raise DataError(
            f"class '{name}' of '{source.name}' has {count} training images, fewer than "
            f"per_class = {per_class}; ask for at most {count}"
        )
    return per_class

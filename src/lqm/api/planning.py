"""From a request to a condensation that is ready to begin: the same for every kind of data."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from lqm.api.domains import domain_of
from lqm.api.expert_source import experts_for
from lqm.api.requests import CondenseRequest
from lqm.banks import (
    Sketch,
    advice,
    require_fine_enough,
    require_same_source,
    sketched_method,
    sketched_settings,
)
from lqm.condensed.artefact import read_manifest
from lqm.distances import Distance
from lqm.engine import environment, recorded
from lqm.methods.condensation import Condensation
from lqm.methods.domain import Choices, Domain
from lqm.methods.named_distance import named_distance
from lqm.methods.plan import Plan, as_text, distance_for, distance_record, titled
from lqm.recipes import Recipe
from lqm.utils.effects import BANK, effective
from lqm.utils.errors import LqmError
from lqm.utils.memory import memory_for, memory_for_reading
from lqm.utils.names import choose
from lqm.utils.old_names import begun_with, current_settings
from lqm.utils.settings import make_settings

# What makes the work of a step smaller.
REMEDY = "give a --max-memory, or a smaller network, real_batch, per_class or budget"


def plan_condensation(request: CondenseRequest, device: torch.device, scratch: Path | None = None) -> Plan:
    """Everything decided, checked and put together; nothing learned yet.

    Args:
        request: what to condense, and how.
        device: where to compute.
        scratch: a folder for what is needed while it is learned, if the request names none.

    Raises:
        LqmError: for anything that can't be used.
    """
    distance = chosen_distance(request.distance)
    domain = domain_of(request)
    given = given_settings(request)
    if request.method is not None:
        make_settings(choose(request.method, domain.methods, f"method for {domain.name}").settings, given)
    domain.check(request)
    before = recorded(request.out)
    sketch = open_sketch(request.sketch, before["config"])
    with memory_for_reading(request.source):
        source = domain.load(request)
    method = request.method
    if sketch:
        require_same_source(sketch, source.record)
        method = sketched_method(sketch, method)
    recipe = _recipe(request, domain, source, method, before["config"], device)
    spec = domain.methods[recipe.method]
    if request.recipe is not None:
        given = recipe.settings | current_settings(given)
    matched = distance_for(recipe.method, matches=spec.matches, distance=distance, default=spec.distance)
    if sketch:
        given = sketched_settings(sketch, spec.settings, given, spec.live_settings)
    begun = begun_with(before, recipe.method, [field.name for field in fields(spec.settings)])
    settings = make_settings(spec.settings, recipe.settings | begun | current_settings(given))
    experts = experts_for(request, recipe.method, spec, settings, source, scratch)
    choices = Choices(
        request=request,
        source=source,
        recipe=recipe,
        spec=spec,
        settings=settings,
        distance=matched,
        device=device,
        sketch=sketch,
        experts=experts.open if experts else None,
        before=before["environment"],
    )
    with memory_for("the networks and the synthetic set", "give a smaller network, per_class or budget"):
        prepared = domain.prepare(choices)
        built = spec.build(prepared.problem, settings)
    if sketch and isinstance(built, Condensation):
        require_fine_enough(sketch, matched, max(built.synthetic.counts))
    fixed = dict(prepared.settings)
    steps = fixed.pop("steps")
    given_too = (BANK,) if request.experts else ()
    shown = effective(settings, prepared.settings, *given_too)
    if sketch:
        shown = {name: value for name, value in shown.items() if name not in spec.live_settings}
    if prepared.augmentation:
        shown["augmentation"] = prepared.augmentation
    heading = f"recipe {recipe.name}: " if recipe.name else "settings: "
    return Plan(
        built,
        steps,
        source=source,
        config={
            "source": source.record,
            "method": recipe.method,
            "distance": distance_record(matched),
            **prepared.size,
            "seed": request.seed,
            "settings": fixed,
            **({"steps": steps} if spec.scheduled else {}),
            **({"sketch": sketch.identity} if sketch else {}),
            **({"experts": experts.record} if experts else {}),
        },
        record={
            "recipe": recipe.name,
            "steps": steps,
            "origin": source.origin,
            "evaluation": _asked_before(request) or domain.evaluator.protocols[recipe.protocol].record,
            "environment": environment(device) | dict(prepared.compute),
        },
        title=titled(recipe.method, matched),
        notes=(*prepared.notes, heading + as_text(shown), *advice(sketch, steps)),
        experts=experts.open if experts else None,
        lengths=prepared.lengths,
        init=built.synthetic.init_stage() if isinstance(built, Condensation) else None,
    )


def _recipe(
    request: CondenseRequest,
    domain: Domain,
    source: Any,
    method: str | None,
    begun: Mapping[str, Any],
    device: torch.device,
) -> Recipe:
    """The recipe that is asked for; else that of the method by which a run was begun, or of the usual one.

    A network of the user's own goes with no experts, which the best recipe of a source may need.
    """
    implied = method is None and request.recipe is None
    if implied and not isinstance(request.network, str | None):
        method = domain.default_method
    recipe = domain.recipe(source, method, request.recipe, request.per_class, device)
    if implied and begun.get("method", recipe.method) != recipe.method:
        return domain.recipe(source, begun["method"], None, request.per_class, device)
    return recipe


def _asked_before(request: CondenseRequest) -> dict[str, Any] | None:
    """The protocol of the set that a run goes on from, unless a recipe has another."""
    if request.out is None or request.recipe is not None:
        return None
    try:
        return read_manifest(Path(request.out)).get("evaluation")
    except (OSError, LqmError):
        return None


def chosen_distance(distance: str | Distance | None) -> Distance | None:
    """The distance of that name, or the object itself, if it is one."""
    if isinstance(distance, str):
        return named_distance(distance)
    distance_record(distance)
    return distance


def given_settings(request: Any) -> dict[str, Any]:
    """The settings of a request, with the network among them if it has a name."""
    named = {"network": request.network} if isinstance(request.network, str) else {}
    return {**(request.settings or {}), **named}


def open_sketch(path: str | Path | None, config: dict[str, Any]) -> Sketch | None:
    """The sketch; a run that is resumed uses as many encoders as it began with, though there may be more."""
    if path is None:
        return None
    before = config.get("sketch")
    return Sketch(path, before.get("encoders") if before else None)

"""Images as a kind of data: how a source is found, and how a problem is put together."""

from dataclasses import asdict, replace
from typing import Any

import torch

from lqm.condensed import CondensedImages
from lqm.distances import DISTANCES
from lqm.engine.compute import Compute, decide
from lqm.images.auditing import AUDITOR
from lqm.images.evaluation import IMAGES as EVALUATOR
from lqm.images.memory import images_at_once
from lqm.images.methods import METHODS
from lqm.images.networks import count_activations
from lqm.images.problem import ImageProblem, preprocessed
from lqm.images.sources import SOURCES, ImageSource, load_source
from lqm.methods.domain import Choices, Domain, Prepared, require_per_class
from lqm.methods.networks import own_network, own_record
from lqm.recipes import Recipe, chosen_recipe
from lqm.utils.errors import ConfigError
from lqm.utils.settings import Count, check


def _load(request: Any) -> ImageSource:
    return load_source(
        request.source,
        data_dir=request.data_dir,
        size=request.size,
        test_fraction=request.test_fraction,
        augmentation=request.operations,
        validation=request.validation,
        show_progress=request.show_progress,
    )


def _check(request: Any) -> None:
    check("per_class", request.per_class, Count | None)


def _recipe(
    source: ImageSource,
    method: str | None,
    name: str | None,
    per_class: int | None,
    device: torch.device,
) -> Recipe:
    return chosen_recipe(source.recipes, name, method, per_class, cpu=device.type == "cpu")


def _prepare(choices: Choices) -> Prepared:
    source, settings, request = choices.source, choices.settings, choices.request
    count = 1 if choices.sketching else require_per_class(choices.recipe.per_class, source, "images")
    own = own_network(request, banked=bool(choices.sketching or choices.sketch or choices.experts))
    problem = ImageProblem(
        class_names=source.class_names,
        counts=(count,) * len(source.class_names),
        distance=choices.distance or DISTANCES["lqm"],
        seed=request.seed,
        device=choices.device,
        sketch=choices.sketch,
        experts=choices.experts,
        source=preprocessed(source, settings),
        network=own,
    )
    recorded = asdict(settings)
    if own is not None:
        recorded["network"] = own_record(own, problem.fresh_network("", "record", 0))
    compute, notes = _compute(choices, problem, named=own is None)
    size = {} if choices.sketching else {"per_class": count}
    problem = replace(problem, compute=compute, at_once=_at_once(choices, problem))
    operations = settings.operations(source.augmentation) if hasattr(settings, "operations") else ()
    return Prepared(problem, size, recorded, asdict(compute), notes, tuple(operations))


def _at_once(choices: Choices, problem: ImageProblem) -> int | None:
    """Images that go through a network at once with gradients, where a limit of memory was chosen."""
    settings = choices.settings
    if not hasattr(settings, "images_per_step"):
        return None
    live = choices.sketch is None
    # Networks that learn have all their images at once, and gradients of gradients twice as much.
    learning = getattr(settings, "student_batch", 0) if live else 0
    if hasattr(settings, "differentiated_twice"):
        learning = 2 * settings.differentiated_twice(problem.classes, problem.per_class)
    elif hasattr(settings, "kept_whole"):
        learning = settings.kept_whole(problem.classes, problem.per_class)
    return images_at_once(problem, settings, live=live, learning=learning, synthetic=not choices.sketching)


def _compute(choices: Choices, problem: ImageProblem, *, named: bool) -> tuple[Compute, tuple[str, ...]]:
    """How networks are run, and what the user should know of it."""
    request, settings, spec = choices.request, choices.settings, choices.spec
    learns = hasattr(settings, "images_per_step")
    for name, value in (("compile", request.compile), ("precision", request.precision)):
        if value is not None and not learns:
            raise ConfigError(f"{name} has no part in method '{choices.recipe.method}'; leave it out")
    if not learns:
        return Compute(), ()
    if not spec.compiles and request.compile == "on":
        raise ConfigError(
            f"method '{choices.recipe.method}' differentiates most of its passes twice, which compiling does "
            "not make faster; use --compile off"
        )
    activations = 0.0
    if spec.compiles:
        records = problem.per_class * getattr(settings, "mosaic", 1) ** 2
        images = settings.images_per_step(problem.classes, records, live=choices.sketch is None)
        network = problem.fresh_network(settings.network, "check", 0)
        activations = settings.steps * images * count_activations(network, problem.source.shape)
    return decide(
        (request.compile or "auto") if spec.compiles else "off",
        request.precision or "fp32",
        choices.device,
        activations=activations,
        named=named,
        before=choices.before,
    )


IMAGES = Domain(
    name="images",
    article="images",
    condensed=CondensedImages,
    names=SOURCES,
    owns=lambda source, data_dir: True,
    options=(
        "per_class",
        "network",
        "size",
        "test_fraction",
        "augmentation",
        "compile",
        "precision",
        "experts",
    ),
    instead={"budget": "give per_class instead"},
    methods=METHODS,
    default_method="dm",
    load=_load,
    check=_check,
    recipe=_recipe,
    prepare=_prepare,
    all_records=lambda source: max(len(images) for images in source.by_class),
    evaluator=EVALUATOR,
    auditor=AUDITOR,
)

"""From what the user asked for to a sketch of images that is ready to be made."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from lqm.banks import FINENESS, SketchPlan, SketchWriter, settings_to_sketch, sketch_config
from lqm.distances import DISTANCES
from lqm.engine import environment
from lqm.engine.compute import decide
from lqm.engine.randomness import generator, seeded
from lqm.images.methods import METHODS
from lqm.images.methods.matching import Matching
from lqm.images.methods.sketched import sketched
from lqm.images.planning import recipe_for
from lqm.images.sources import ImageSource, load_source
from lqm.methods.plan import in_words
from lqm.utils.errors import ConfigError
from lqm.utils.names import choose
from lqm.utils.settings import make_settings


def plan_image_sketch(
    source: str | Path | ImageSource,
    *,
    method: str | None,
    encoders: int,
    max_per_class: int,
    real_batch: int | None,
    seed: int,
    settings: dict[str, Any],
    device: torch.device,
    show_progress: bool,
    network: str | None = None,
    data_dir: str | Path | None = None,
    size: int | None = None,
    test_fraction: float | None = None,
    augmentation: str | Sequence[str] | None = None,
    compile: str | None = None,
    precision: str | None = None,
    before: Mapping[str, Any] | None = None,
) -> SketchPlan:
    """See `lqm.sketch`."""
    name = method or "dm"
    kind = choose(name, METHODS, "method")
    if not (isinstance(kind, type) and issubclass(kind, Matching)):
        raise ConfigError(f"method '{name}' chooses real records and needs no sketch; choose one that learns")
    given = settings | ({} if network is None else {"network": network})
    make_settings(kind.Settings, given)
    settings_to_sketch(name, kind.view_settings, given)
    data = load_source(
        source,
        data_dir=data_dir,
        size=size,
        test_fraction=test_fraction,
        augmentation=augmentation,
        show_progress=show_progress,
    )
    whole = max(len(images) for images in data.by_class)
    recipe = recipe_for(data, None, name, None, device)
    looked_at = {} if real_batch is None else {"real_batch": real_batch}
    chosen = {**recipe.settings, "real_batch": whole, **given, **looked_at}
    resolved = make_settings(kind.Settings, chosen)
    # An encoder of a sketch serves itself alone.
    resolved = replace(resolved, real_batch=min(resolved.real_batch, whole), reuse=1, window=1)
    learner = kind(data, DISTANCES["mean"], 1, seed, resolved, device)
    compute, about_compute = decide(
        compile or "auto", precision or "fp32", device, numbers=encoders * learner.numbers, before=before
    )
    learner.run_by(compute)
    if learner.sees_all_at_once and resolved.real_batch * len(data.class_names) > Matching.real_at_once:
        most = max(1, Matching.real_at_once // len(data.class_names))
        raise ConfigError(
            f"{resolved.network} normalises by its batch, so all real images would have to go through it "
            f"at once; give --real-batch {most} or less"
        )
    fixed = {name: asdict(resolved)[name] for name in kind.view_settings}
    return SketchPlan(
        config=sketch_config(data.record, name, max_per_class, seed, fixed),
        environment=environment(device) | asdict(compute),
        words=(f"sketch for {name}: " + in_words(fixed), *about_compute),
        add=lambda writer, number: _add(learner, writer, number, FINENESS * max_per_class),
    )


def _add(learner: Matching, writer: SketchWriter, number: int, size: int) -> None:
    """Make encoder number n and what it leaves behind of the real images, and write both."""
    with seeded(learner.seed, "sketch forward", number):
        state = learner.encoder_state(number, lambda earlier: writer.read(earlier).below("encoder"))
        sight, _ = learner.encoder(state)
        glances = learner.glances(sight, generator(learner.seed, "sketch batch", number))
        found = sketched(glances, size)
    writer.write(number, found | {f"encoder.{name}": part for name, part in state.items()})

"""From what the user asked for to a sketch of a graph that is ready to be made."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from lqm.banks import FINENESS, SketchPlan, SketchWriter, settings_to_sketch, sketch_config
from lqm.distances import DISTANCES
from lqm.distances.grid import quantile_grid
from lqm.engine import environment
from lqm.graphs.methods import METHODS
from lqm.graphs.methods.cat import CaT
from lqm.graphs.population import population
from lqm.graphs.sketching import remembered_weights
from lqm.graphs.sources import load_graph
from lqm.methods.plan import in_words
from lqm.utils.errors import ConfigError
from lqm.utils.names import choose
from lqm.utils.settings import make_settings


def plan_graph_sketch(
    source: Any,
    *,
    method: str | None,
    max_per_class: int,
    real_batch: int | None,
    seed: int,
    settings: dict[str, Any],
    device: torch.device,
    show_progress: bool,
    features: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
) -> SketchPlan:
    """See `lqm.sketch`."""
    name = method or "cat"
    kind = choose(name, METHODS, "method for graphs")
    if not (isinstance(kind, type) and issubclass(kind, CaT)):
        raise ConfigError(f"method '{name}' chooses real records and needs no sketch; choose one that learns")
    resolved = make_settings(kind.Settings, settings | ({"real_batch": real_batch} if real_batch else {}))
    settings_to_sketch(name, kind.view_settings, settings)
    data = load_graph(source, features=features, split=split, data_dir=data_dir, show_progress=show_progress)
    real = population(data.graph, data.by_class, data.class_names, resolved.hops)
    learner = kind(real, DISTANCES["mean"], [1] * len(data.by_class), seed, resolved, device)
    fixed = {name: asdict(resolved)[name] for name in kind.view_settings}
    return SketchPlan(
        config=sketch_config(data.record, name, max_per_class, seed, fixed),
        environment=dict(environment(device)),
        words=(*data.notes, f"sketch for {name}: " + in_words(fixed)),
        add=lambda writer, number: _add(learner, writer, number, FINENESS * max_per_class),
    )


def _add(learner: CaT, writer: SketchWriter, number: int, size: int) -> None:
    encoder = learner.encoder(learner.seed, number)
    tensors = {"weights": remembered_weights(encoder)}
    for classes, samples in learner.embeddings(encoder, number):
        for label, sample in zip(classes, samples, strict=True):
            tensors[f"grid.{label}"] = quantile_grid(sample, size)
            tensors[f"mean.{label}"] = sample.mean(dim=0)
    writer.write(number, tensors)

"""Sketch: one pass over the real data for each of many encoders, kept for many condensations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lqm.api.condense import refuse_options
from lqm.banks import Sketch, SketchWriter
from lqm.engine import recorded, resolve_device
from lqm.engine.progress import Progress, warn
from lqm.graphs.sketch_planning import plan_graph_sketch
from lqm.graphs.sources import is_graph
from lqm.images.sketch_planning import plan_image_sketch
from lqm.utils.errors import ConfigError


def sketch(
    source: Any,
    *,
    out: str | Path,
    method: str | None = None,
    encoders: int = 200,
    max_per_class: int = 50,
    real_batch: int | None = None,
    seed: int = 0,
    settings: dict[str, Any] | None = None,
    network: str | None = None,
    data_dir: str | Path | None = None,
    size: int | None = None,
    test_fraction: float | None = None,
    augmentation: str | Sequence[str] | None = None,
    compile: str | None = None,
    precision: str | None = None,
    features: str | None = None,
    split: str | None = None,
    device: str = "auto",
    show_progress: bool = True,
) -> Sketch:
    """Note what many encoders leave behind of the real data, so that condensing needs no more of it.

    A sketch that was stopped goes on after its last encoder, and one of 200 encoders asked for 400 gets 200
    more. `condense(..., sketch=...)` uses it for every budget up to `max_per_class`, every seed, and every
    distance that looks at one feature at a time.

    Args:
        source: what to sketch, as for `condense`.
        out: the folder of the sketch.
        method: whose encoders and features: `dm` (default), `datadam` or `idm`, whose encoders are snapshots
            of networks that learn; of graphs `cat` (default) or `puma`.
        encoders: how many.
        max_per_class: synthetic records of a class that the sketch is to be fine enough for.
        real_batch: real records of each class that an encoder looks at; all of them if not given.
        seed: of the encoders.
        settings: the method's settings on which what an encoder sees depends, such as `network`.
        network: the same as the setting.
        data_dir: where the named sources are; this and the next three as for `load_source`.
        size: scale and cut every image to a square of so many pixels.
        test_fraction: share of each class to hold out, if the images have no test set.
        augmentation: the operations that leave an image's label right.
        compile: as for `condense`, like the next one.
        precision: `fp32`, `bf16` or `auto`.
        features: of a graph, as for `load_graph`, like the next one.
        split: `published` or `random`.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
        show_progress: whether to show the encoders and the time left.

    Raises:
        LqmError: for anything that can't be used, before any work starts.
    """
    for name, value in (("encoders", encoders), ("max_per_class", max_per_class), ("real_batch", real_batch)):
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ConfigError(f"{name} = {value!r} can't be used: it should be a whole number, at least 1")
    graph = is_graph(source, data_dir)
    of_images: dict[str, Any] = {
        "network": network,
        "size": size,
        "test_fraction": test_fraction,
        "augmentation": augmentation,
        "compile": compile,
        "precision": precision,
    }
    of_graphs: dict[str, Any] = {"features": features, "split": split}
    refuse_options(source, method, graph=graph, options=of_images if graph else of_graphs)
    common: dict[str, Any] = {
        "method": method,
        "max_per_class": max_per_class,
        "real_batch": real_batch,
        "seed": seed,
        "settings": settings or {},
        "data_dir": data_dir,
        "device": resolve_device(device),
        "show_progress": show_progress,
    }
    if graph:
        plan = plan_graph_sketch(source, **common, **of_graphs)
    else:
        before = recorded(out)["environment"]
        plan = plan_image_sketch(source, encoders=encoders, before=before, **common, **of_images)
    with SketchWriter(Path(out), plan.config, plan.environment) as writer:
        finished = writer.finished()
        missing = [number for number in range(encoders) if number not in finished]
        if show_progress:
            for line in plan.words:
                warn(line)
            if len(missing) < encoders:
                warn(f"{encoders - len(missing)} of {encoders} encoders are there already")
        with Progress("sketch", len(missing), shown=show_progress) as bar:
            for done, number in enumerate(missing, start=1):
                plan.add(writer, number)
                bar.update(done, {})
    return Sketch(out)

"""The keyword arguments of the public functions, for type checkers; the requests say what each means."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from lqm.api.types import Callback, DistanceLike, Names, NetworkLike, Settings, TestLike


class EngineOptions(TypedDict, total=False):
    """Keyword arguments of every function whose work is done in pieces; see `EngineRequest`."""

    engine: str
    address: str | None
    jobs: int | None
    threads: int | None


class ContinualOptions(EngineOptions, total=False):
    """Keyword arguments of `lqm.continual`; see `ContinualRequest`."""

    out: str | Path | None
    method: str
    distance: DistanceLike | None
    budget: int | str | None
    classes_per_task: int
    order: str
    order_seed: int
    remainder: str
    inter_task_edges: bool
    scoring: str
    repeats: int
    recipe: str | None
    sketch: str | Path | None
    settings: Settings | None
    seed: int
    split_seed: int
    features: str | None
    normalise_features: bool
    validation: bool
    data_dir: str | Path | None
    device: str
    max_memory: str | int | None
    show_progress: bool


class SourceOptions(TypedDict, total=False):
    """Keyword arguments of every function that looks at data; see `SourceRequest`.

    `test` is what to evaluate by, in the form of the source, and `class_names` are the names of the classes
    whose numbers the labels are: they say more of data that are handed over.
    """

    test: TestLike | None
    class_names: Sequence[str] | None
    data_dir: str | Path | None
    size: int | None
    test_fraction: float | None
    augmentation: Names | None
    features: str | None
    split: str | None
    normalise_features: bool
    label: str | None
    validation: bool
    device: str
    max_memory: str | int | None
    show_progress: bool
    compile: str | None
    precision: str | None


class CondenseOptions(SourceOptions, total=False):
    """Keyword arguments of `lqm.condense`; see `CondenseRequest`."""

    out: str | Path | None
    method: str | None
    distance: DistanceLike | None
    per_class: int | None
    budget: int | str | None
    recipe: str | None
    sketch: str | Path | None
    experts: str | Path | None
    network: NetworkLike | None
    settings: Settings | None
    seed: int
    checkpoint_seconds: float
    evaluate_every: int | None
    tensorboard: bool
    callback: Callback | None


class SketchOptions(EngineOptions, SourceOptions, total=False):
    """Keyword arguments of `lqm.sketch`; see `SketchRequest`."""

    method: str | None
    encoders: int
    max_per_class: int
    real_batch: int | None
    experts: str | Path | None
    network: str | None
    settings: Settings | None
    seed: int
    classes_per_task: int | None
    order: str
    order_seed: int
    inter_task_edges: bool
    remainder: str
    split_seed: int


class ExpertsOptions(EngineOptions, SourceOptions, total=False):
    """Keyword arguments of `lqm.experts`; see `ExpertsRequest`."""

    networks: int
    epochs: int
    network: str | None
    settings: Settings | None
    seed: int

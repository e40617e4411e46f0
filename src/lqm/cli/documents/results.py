"""Documents of commands that compute something."""

from pydantic.dataclasses import dataclass

from lqm.cli.documents.base import STRICT, DifferenceEntry, Document, SpreadEntry


@dataclass(frozen=True, kw_only=True, config=STRICT)
class CondensedEntry:
    """One condensed set.

    Attributes:
        folder: of the run.
        source: the name of the data.
        method: by which it was condensed.
        distance: what was matched; null where nothing is.
        per_class: images or rows a class; null for nodes.
        budget: nodes in all; null for images and rows.
        records: images, nodes or rows in the set.
        classes: how many.
        seed: from which everything random follows.
        steps: that were made.
        recipe: whose settings it has; null if none was used.
        seconds: of all steps.
        peak_memory: bytes at most while it was condensed; null of sets of earlier versions.
        sheet: an image that shows all images of the set; null for nodes and rows.
    """

    folder: str
    source: str
    method: str
    distance: str | None
    per_class: int | None
    budget: int | None
    records: int
    classes: int
    seed: int
    steps: int
    recipe: str | None
    seconds: float
    peak_memory: int | None
    sheet: str | None


@dataclass(frozen=True, kw_only=True, config=STRICT)
class CondenseDocument(Document):
    """What was condensed.

    Attributes:
        runs: one entry for each combination of `--per-class`, `--budget` and `--seed`.
    """

    command: str = "condense"
    runs: list[CondensedEntry]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class SketchDocument(Document):
    """A sketch.

    Attributes:
        folder: where it is.
        source: the name of the data.
        method: that it is for.
        encoders: that looked at the data.
        max_per_class: records a class that it is fine enough for.
        bytes: that it takes on the disk.
        next: a command that uses it.
    """

    command: str = "sketch"
    folder: str
    source: str
    method: str
    encoders: int
    max_per_class: int
    bytes: int
    next: str


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ExpertsDocument(Document):
    """A bank of experts.

    Attributes:
        folder: where it is.
        source: the name of the data.
        networks: that were trained.
        epochs: of each; there is one snapshot more.
        bytes: that it takes on the disk.
        next: a command that uses it.
    """

    command: str = "experts"
    folder: str
    source: str
    networks: int
    epochs: int
    bytes: int
    next: str


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ContinualDocument(Document):
    """How well a stream of tasks was learned.

    Attributes:
        folder: of the run.
        source: the name of the graph.
        method: of the memory.
        distance: what was matched; null where nothing is.
        budget: nodes that were kept of a task, or their share; null if nothing is kept.
        tasks: the names of the classes of each.
        repeats: how often it was learned.
        average_accuracy: after the last task.
        average_accuracy_after: after each task.
        backward_transfer: below 0 where tasks were forgotten; null if there is one task only.
        matrices: for each repeat, the accuracy on task i after task k as row k, column i; null for i > k.
        memory_nodes: kept of each task, in the first repeat.
        memory_seconds: of each repeat, for all memories.
        learning_seconds: of each repeat, for the classifier.
        warnings: what is wrong with the memories.
    """

    command: str = "continual"
    folder: str
    source: str
    method: str
    distance: str | None
    budget: int | str | None
    tasks: list[list[str]]
    repeats: int
    average_accuracy: SpreadEntry
    average_accuracy_after: list[SpreadEntry]
    backward_transfer: SpreadEntry | None
    matrices: list[list[list[float | None]]]
    memory_nodes: list[int]
    memory_seconds: list[float]
    learning_seconds: list[float]
    warnings: list[str]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ScoreEntry:
    """Networks of one kind that were trained on one set.

    Attributes:
        network: their kind.
        training_set: `condensed`, or how real records were chosen: random, full, ...
        records: that they were trained on.
        accuracy: on the test records, over networks.
        by_class: the accuracy on each class, over networks; null for a class without test records.
        cramer_von_mises: the statistic of the latent features before the training.
        extremes: the share of extreme values before the training.
        seconds: of training and testing, whenever that was; null where it is not known.
    """

    network: str
    training_set: str
    records: int
    accuracy: SpreadEntry
    by_class: list[float | None]
    cramer_von_mises: float
    extremes: float
    seconds: float | None


@dataclass(frozen=True, kw_only=True, config=STRICT)
class EvaluateDocument(Document):
    """What a condensed set is worth.

    Attributes:
        run: where the set is.
        source: the name of the real data.
        protocol: how networks were trained, by name.
        epochs: of a training on the condensed set.
        networks: of each kind.
        verdict: what the set is worth beside real records, in one line.
        scores: by kind of network and training set.
        class_names: in the order of `by_class`.
        warnings: what is wrong with the set.
        not_kept: why a score is not in the manifest on the disk; empty if all are.
    """

    command: str = "evaluate"
    run: str
    source: str
    protocol: str
    epochs: int
    networks: int
    verdict: str
    scores: list[ScoreEntry]
    class_names: list[str]
    warnings: list[str]
    not_kept: str


@dataclass(frozen=True, kw_only=True, config=STRICT)
class DemoEntry:
    """Networks that were trained on sets of one kind.

    Attributes:
        training_set: by mean, by lqm, random or full.
        records: in each of the sets.
        accuracy: over seeds, each the mean of its networks.
    """

    training_set: str
    records: int
    accuracy: SpreadEntry


@dataclass(frozen=True, kw_only=True, config=STRICT)
class DemoDocument(Document):
    """Mean and quantile matching, compared.

    Attributes:
        rows: the least accurate first.
        difference: of lqm less mean, in pairs by seed.
        page: the report.
    """

    command: str = "demo"
    rows: list[DemoEntry]
    difference: DifferenceEntry
    page: str

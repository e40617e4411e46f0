"""Documents of commands that list what is there."""

from pydantic.dataclasses import dataclass

from lqm.cli.documents.base import STRICT, DifferenceEntry, Document, SpreadEntry, Value


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ComparedEntry:
    """Runs that differ by their seed alone, or the repeats of a stream.

    Attributes:
        folders: where they are.
        method: of the condensation, or of the stream.
        distance: what was matched; null where nothing was.
        budget: images a class, nodes in all, or what a stream keeps of a task; null if it keeps nothing.
        steps: of the condensation; null for a stream.
        seconds: of the condensation, or of one repeat of a stream: the mean.
        accuracy: over runs where there are several, else over networks; of a stream the average accuracy
            after the last task; null before an evaluation.
        cramer_von_mises: the statistic of the latent features before the training; null as above.
        extremes: the share of extreme values before the training; null as above.
        backward_transfer: of a stream of several tasks; else null.
    """

    folders: list[str]
    method: str
    distance: str | None
    budget: int | str | None
    steps: int | None
    seconds: float
    accuracy: SpreadEntry | None
    cramer_von_mises: float | None
    extremes: float | None
    backward_transfer: SpreadEntry | None


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ComparisonEntry:
    """What was made of the same data and evaluated in the same way.

    Attributes:
        title: source and protocol in words.
        source: the name of the data.
        protocol: by which they were evaluated; null before an evaluation, and for streams.
        rows: what is compared.
        differences: of pairs, where there are several seeds.
    """

    title: str
    source: str
    protocol: str | None
    rows: list[ComparedEntry]
    differences: list[DifferenceEntry]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class CompareDocument(Document):
    """Runs and streams side by side.

    Attributes:
        runs: tables of condensed sets.
        streams: tables of streams.
        copies: folders whose sets are equal byte for byte, together; they count once.
    """

    command: str = "compare"
    runs: list[ComparisonEntry]
    streams: list[ComparisonEntry]
    copies: list[list[str]]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class RunEntry:
    """A run, a sketch, a bank of experts, a stream or a saved set.

    Attributes:
        folder: where it is.
        state: running, stopped, done or broken.
        changed: when something in it last changed, in seconds since 1970.
        method: null where it is not known, as below.
        distance: what is matched.
        source: the name of the data.
        size: records a class or in all, in words.
        steps: made, and of how many if it has not ended, in words.
        accuracy: by the set's own protocol; of a stream, the average accuracy; null before an evaluation.
        problem: why it is broken; empty if it is not.
    """

    folder: str
    state: str
    changed: float
    method: str | None
    distance: str | None
    source: str | None
    size: str | None
    steps: str | None
    accuracy: SpreadEntry | None
    problem: str


@dataclass(frozen=True, kw_only=True, config=STRICT)
class RunsDocument(Document):
    """What runs there are, the newest first.

    Attributes:
        runs: one entry each.
    """

    command: str = "runs"
    runs: list[RunEntry]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class RecipeEntry:
    """Settings that have a name.

    Attributes:
        source: what `lqm condense` is given with it; `own` for any images, `graphs` for any graph.
        recipe: the name, for `--recipe`.
        method: of the condensation.
        per_class: images a class that it is for; null if for every budget.
        settings: all of the method's, complete.
        protocol: how the result is evaluated.
        paper: the accuracy in percent that papers report, by distance.
        cost: what it takes on two cores, in words; empty where it was not measured.
    """

    source: str
    recipe: str
    method: str
    per_class: int | None
    settings: dict[str, Value | None]
    protocol: str
    paper: dict[str, float]
    cost: str


@dataclass(frozen=True, kw_only=True, config=STRICT)
class RecipesDocument(Document):
    """The recipes of one source or of all.

    Attributes:
        recipes: one entry each.
    """

    command: str = "recipes"
    recipes: list[RecipeEntry]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class CachedEntry:
    """Files of one kind.

    Attributes:
        kind: the name, for `--clean`.
        files: how many.
        bytes: of all of them.
        last_used: when one was used last, in seconds since 1970; null without files.
        longest_unused: when the one was used that was not used for longest.
    """

    kind: str
    files: int
    bytes: int
    last_used: float | None
    longest_unused: float | None


@dataclass(frozen=True, kw_only=True, config=STRICT)
class CacheDocument(Document):
    """What is kept to be used again.

    Attributes:
        folder: where it is.
        bytes: that it takes.
        limit: bytes that it takes at most.
        deleted_files: by this command.
        deleted_bytes: by this command.
        kinds: one entry each.
    """

    command: str = "cache"
    folder: str
    bytes: int
    limit: int
    deleted_files: int
    deleted_bytes: int
    kinds: list[CachedEntry]

"""From what the user asked for to a stream that is ready to be learned."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
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
from lqm.engine import Config
from lqm.graphs.budget import parse_budget, shares
from lqm.graphs.continual.describe import describe_budget
from lqm.graphs.continual.methods import CONTINUAL_METHODS, ContinualMethod
from lqm.graphs.continual.settings import divide_settings
from lqm.graphs.networks import make_network
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.sources.splits import random_split
from lqm.graphs.stream import Stream
from lqm.methods.plan import as_text, distance_for, distance_record
from lqm.utils.effects import effective
from lqm.utils.errors import ConfigError
from lqm.utils.names import choose
from lqm.utils.old_names import current_settings
from lqm.utils.settings import make_settings

SCORINGS = dict.fromkeys(("class", "task"))


@dataclass(frozen=True, eq=False)
class Request:
    """What can be checked before any data is read.

    Attributes:
        learning: settings of the classifier, of the method's kind.
        memory: settings of the memory, of the method's kind.
        given: those of them that were given, by name.
        scoring: `class` or `task`.
    """

    name: str
    method: ContinualMethod
    distance: Distance | None
    budget: int | str | None
    learning: Any
    memory: Any
    given: Mapping[str, Any]
    scoring: str


@dataclass(frozen=True, eq=False)
class ContinualPlan:
    """A stream and how it is to be learned.

    Attributes:
        request: method, distance, settings and the way of scoring.
        stream: the tasks.
        counts: nodes of each class in the memory of each task; empty without a memory.
        config: what makes the run this run; another one is refused in the same folder.
        notes: what the user should know before it begins, a line each.
        origin: the words with which the graph is found again; None if it was made in Python.
        sketch: of the same stream, in place of passes over its nodes.
    """

    request: Request
    stream: Stream
    counts: Sequence[Sequence[int]]
    config: Config
    notes: tuple[str, ...]
    origin: dict[str, Any] | None
    sketch: Sketch | None = None


def check_request(
    method: str,
    distance: Distance | None,
    budget: int | str | None,
    settings: Mapping[str, Any],
    scoring: str,
) -> Request:
    """What was asked for, if it goes together.

    Raises:
        ConfigError: when it does not.
    """
    kind = choose(method, CONTINUAL_METHODS, "continual method")
    choose(scoring, SCORINGS, "way of scoring")
    learning, memory = divide_settings(settings, (kind.learning, kind.memory))
    if kind.has_memory and budget is None:
        raise ConfigError(
            f"method '{method}' needs a budget, the nodes that it keeps of each task; "
            "give a number such as 4, or a share of the task's nodes such as 1%"
        )
    if not kind.has_memory and budget is not None:
        kept = "keeps whole tasks" if kind.keeps else "keeps nothing of a task"
        raise ConfigError(f"method '{method}' {kept} and takes no budget; leave the budget out")
    if not kind.has_memory and distance is not None:
        raise ConfigError(f"method '{method}' matches no distance; leave the distance out")
    if budget is not None:
        count = parse_budget(budget, 1)
        budget = str(budget).strip() if "%" in str(budget) else count
    matched = distance_for(method, matches=kind.condense is not None, distance=distance)
    given = {name: getattr(memory, name) for name in current_settings(settings) if hasattr(memory, name)}
    return Request(method, kind, matched, budget, learning, memory, given, scoring)


def plan_continual(
    request: Request,
    source: GraphSource,
    stream: Stream,
    seed: int,
    words: Mapping[str, Any],
    sketch: Sketch | None = None,
) -> ContinualPlan:
    """The plan for a stream of a source; `words` are those with which the stream was made.

    Raises:
        ConfigError: when a task has fewer training nodes than the budget, there is no such classifier, or a
            sketch is of something else.
    """
    record = stream_source(source)
    if words.get("validation") and getattr(request.learning, "pseudo_labels", "none") == "validation":
        raise ConfigError(
            "pseudo_labels = validation would let nodes that settings are chosen by join the memory; set it "
            "to none or test, or leave validation out"
        )
    if sketch:
        request = _with_sketch(request, sketch, record, words)
    with torch.device("meta"):  # whether it can be made is seen without weights
        make_network(request.learning.classifier, stream.tasks[0].graph.width, len(stream.class_names))
    tasks = " | ".join(", ".join(stream.names(task)) for task in stream.tasks)
    budget, notes = request.budget, [*stream.notes, f"{len(stream.tasks)} tasks: {tasks}"]
    counts: list[list[int]] = []
    if budget is not None:
        wanted = [parse_budget(budget, task.nodes) for task in stream.tasks]
        counts = _counts(wanted, stream)
        if sketch:
            require_fine_enough(sketch, request.distance, max(map(max, counts)))
            notes += advice(sketch, request.memory.steps)
        notes.append(describe_budget(budget, wanted, counts, real=request.method.store is not None))
    settings = asdict(request.learning) | asdict(request.memory)
    return ContinualPlan(
        request,
        stream,
        counts,
        config={
            "source": record,
            "stream": dict(words),
            "method": request.name,
            "distance": distance_record(request.distance),
            "budget": request.budget,
            "scoring": request.scoring,
            "seed": seed,
            "settings": settings,
            **({"sketch": sketch.identity} if sketch else {}),
        },
        notes=(*notes, "settings: " + as_text(_shown(request, sketch))),
        origin=source.origin,
        sketch=sketch,
    )


def _shown(request: Request, sketch: Sketch | None) -> dict[str, Any]:
    """The settings that have an effect."""
    shown = effective(request.learning) | effective(request.memory)
    live = request.method.condense.live_settings if sketch and request.method.condense else ()
    return {name: value for name, value in shown.items() if name not in live}


def stream_source(source: GraphSource) -> dict[str, Any]:
    """What tells the source of a stream from another: features, edges, labels and names, but no split."""
    return {part: word for part, word in unsplit(source).record.items() if part != "split"}


def _with_sketch(
    request: Request, sketch: Sketch, record: Mapping[str, Any], words: Mapping[str, Any]
) -> Request:
    """A request whose memory has the settings of a sketch of the same stream."""
    condense = request.method.condense
    if condense is None:
        raise ConfigError(f"method '{request.name}' condenses nothing; leave the sketch out")
    if request.learning.pseudo_labels != "none":
        raise ConfigError("pseudo-labels add nodes that a sketch has not seen; leave one of the two out")
    require_same_source(sketch, record, words)
    sketched_method(sketch, request.name)
    settings = sketched_settings(sketch, condense.settings, request.given, condense.live_settings)
    return replace(request, memory=make_settings(condense.settings, settings))


def unsplit(source: GraphSource) -> GraphSource:
    """A source with the split of `random_split`, whatever it came with, since a stream does not use it.

    That follows from the labels: the fingerprint then says features, edges, labels and names only.
    """
    return replace(source, **random_split(source.graph.labels, source.name)._asdict())


def _counts(wanted: Sequence[int], stream: Stream) -> list[list[int]]:
    counts = []
    for task, budget in zip(stream.tasks, wanted, strict=True):
        if budget > len(task.train):
            names = ", ".join(f"'{name}'" for name in stream.names(task))
            raise ConfigError(
                f"the budget of {budget} nodes is more than the {len(task.train)} training nodes of task "
                f"{task.number} ({names}); ask for at most {len(task.train)}"
            )
        counts.append(shares(budget, [len(nodes) for nodes in task.by_class]))
    return counts

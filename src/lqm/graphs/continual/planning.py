"""From what the user asked for to a stream that is ready to be learned."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lqm.distances import Distance
from lqm.engine import Config
from lqm.errors import ConfigError
from lqm.graphs.budget import parse_budget, shares
from lqm.graphs.continual.methods import CONTINUAL_METHODS, ContinualMethod
from lqm.graphs.continual.settings import divide_settings
from lqm.graphs.source import GraphSource
from lqm.graphs.stream import Stream
from lqm.names import choose
from lqm.planning import distance_for, distance_record

SCORINGS = dict.fromkeys(("class", "task"))


@dataclass(frozen=True, eq=False)
class Request:
    """What can be checked before any data is read.

    Attributes:
        learning: settings of the classifier, of the method's kind.
        memory: settings of the memory, of the method's kind.
        scoring: `class` or `task`.
    """

    name: str
    method: ContinualMethod
    distance: Distance | None
    budget: int | str | None
    learning: Any
    memory: Any
    scoring: str


@dataclass(frozen=True, eq=False)
class ContinualPlan:
    """A stream and how it is to be learned.

    Attributes:
        request: method, distance, settings and the way of judging.
        stream: the tasks.
        counts: nodes of each class in the memory of each task; empty without a memory.
        config: what makes the run this run; another one is refused in the same folder.
    """

    request: Request
    stream: Stream
    counts: Sequence[Sequence[int]]
    config: Config


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
    return Request(method, kind, matched, budget, learning, memory, scoring)


def plan_continual(
    request: Request, source: GraphSource, stream: Stream, seed: int, words: Mapping[str, Any]
) -> ContinualPlan:
    """The plan for a stream of a source; `words` are those with which the stream was made.

    Raises:
        ConfigError: when a task has fewer training nodes than the budget.
    """
    counts = [] if request.budget is None else _counts(request.budget, stream)
    record = {name: part for name, part in source.record.items() if name != "split"}
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
            "settings": asdict(request.learning) | asdict(request.memory),
        },
    )


def _counts(budget: int | str, stream: Stream) -> list[list[int]]:
    counts = []
    for task in stream.tasks:
        wanted = parse_budget(budget, task.nodes)
        if wanted > len(task.train):
            names = ", ".join(f"'{name}'" for name in stream.names(task))
            raise ConfigError(
                f"the budget of {wanted} nodes is more than the {len(task.train)} training nodes of task "
                f"{task.number} ({names}); ask for at most {len(task.train)}"
            )
        counts.append(shares(wanted, [len(nodes) for nodes in task.by_class]))
    return counts

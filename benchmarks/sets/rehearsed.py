"""What memories are worth, from the lines of `benchmarks.sets.replay`."""

from collections.abc import Sequence
from typing import Any

from benchmarks.sets.replay import MEMORIES
from lqm.evaluation.markdown import markdown
from lqm.evaluation.paired import Paired
from lqm.evaluation.spread import Spread, in_points

_HEADER = (
    "memory",
    "accuracy % after the last task",
    "average over tasks %",
    "less reservoir, points",
    "less random, points",
    "seconds of the memory",
)
# Memories of real images, with which the others are compared.
_REAL = ("reservoir", "random")


def table(lines: Sequence[dict[str, Any]]) -> str:
    """A row for each memory, as Markdown; differences are of pairs of the same seed."""
    by_memory = {
        name: {line["seed"]: line for line in lines if line["memory"] == name}
        for name in MEMORIES
        if any(line["memory"] == name for line in lines)
    }
    seeds = sorted(set.intersection(*(set(own) for own in by_memory.values())))
    last = {name: [own[seed]["after"][-1] for seed in seeds] for name, own in by_memory.items()}
    rows = []
    for name, own in by_memory.items():
        average = [sum(own[seed]["after"]) / len(own[seed]["after"]) for seed in seeds]
        seconds = sum(own[seed]["memory_seconds"] for seed in seeds) / len(seeds)
        rows.append(
            (
                name,
                Spread(tuple(last[name])).percent(),
                Spread(tuple(average)).percent(),
                *("" if name == other else _difference(last[name], last[other]) for other in _REAL),
                f"{seconds:.1f}",
            )
        )
    return f"{markdown(_HEADER, rows)}\n\n{len(seeds)} seeds; ± is the sample standard deviation over them."


def _difference(own: Sequence[float], other: Sequence[float]) -> str:
    """The mean of paired differences with its 95 % interval, and whether chance explains it."""
    found = Paired(tuple(a - b for a, b in zip(own, other, strict=True)))
    if found.interval is None:
        return in_points(found.mean)
    low, high = map(in_points, found.interval)
    return f"{in_points(found.mean)} ({low} to {high})"

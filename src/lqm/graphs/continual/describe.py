"""Sentences about a memory and a run."""

from collections.abc import Sequence

from lqm.engine import Config
from lqm.utils.sentences import counted

_PSEUDO_LABELS = {
    "none": "",
    "validation": ", with pseudo-labels on validation nodes",
    "test": ", with pseudo-labels on test nodes (transductive)",
}


def describe_budget(
    budget: int | str, wanted: Sequence[int], counts: Sequence[Sequence[int]], *, real: bool
) -> str:
    """What a budget comes to.

    Args:
        budget: as it was asked for.
        wanted: what that is for each task.
        counts: nodes of each class that are kept, by task.
        real: whether they are nodes of the graph, not synthetic ones.

    Example:
        >>> describe_budget(1, [1, 1], [[1, 1], [1, 1]], real=False)
        'memory: 2 synthetic nodes a task (1 of each class), not 1: each class of a task gets at least one'
    """
    totals = [sum(task) for task in counts]
    kind = "real" if real else "synthetic"
    nodes = counted_span(totals, f"{kind} node", f"{kind} nodes")
    every = {count for task in counts for count in task}
    each = f"{min(every)} of each class" if len(every) == 1 else f"{_span([*every])} of a class, by its share"
    over = sum(total > asked for total, asked in zip(totals, wanted, strict=True))
    more = ""
    if over:
        where = "" if over == len(totals) else f" in {counted(over, 'task', 'tasks')} of {len(totals)}"
        asked = f"not {_span(wanted)}" if over == len(totals) else f"more than {budget}"
        more = f", {asked}{where}: each class of a task gets at least one"
    return f"memory: {nodes} a task ({each}){more}"


def describe_run(config: Config, kept: Sequence[int]) -> str:
    """Method, distance, memory and source of a run.

    Args:
        config: of the run.
        kept: how many nodes with a label are kept of each task; empty without a memory.
    """
    distance, budget = config["distance"], config["budget"]
    method = config["method"] + (f" + {distance['name']}" if distance else "")
    share = f" ({budget})" if isinstance(budget, str) else ""
    memory = f", {counted_span(kept, 'node', 'nodes')} a task{share}" if kept else ""
    pseudo_labels = _PSEUDO_LABELS[config["settings"].get("pseudo_labels", "none")]
    scored = ", scored on validation nodes" if config["stream"].get("validation") else ""
    where = f"{config['source']['name']} ({config['scoring']}-incremental)"
    return f"{method}{memory}, on {where}{pseudo_labels}{scored}"


def counted_span(numbers: Sequence[int], one: str, many: str) -> str:
    """The least and the greatest of some numbers, with the word that goes with them.

    Example:
        >>> counted_span([1, 1], "node", "nodes"), counted_span([4, 2], "node", "nodes")
        ('1 node', '2 to 4 nodes')
    """
    return f"{_span(numbers)} {one if max(numbers) == 1 else many}"


def _span(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"

"""How many synthetic nodes each class gets."""

from collections.abc import Sequence

from lqm.utils.errors import ConfigError


def parse_budget(budget: int | str, nodes: int) -> int:
    """A number of nodes, or a share of the graph's nodes such as `1%`, as a number of nodes, at least 1.

    Example:
        >>> parse_budget("1%", 2708), parse_budget("0.3%", 100), parse_budget(40, 2708)
        (27, 1, 40)
    """
    text = str(budget).strip()
    try:
        if text.endswith("%") and 0 < (share := float(text[:-1])) <= 100:
            return max(1, round(share / 100 * nodes))
        if (count := int(text)) >= 1:
            return count
    except ValueError:
        pass
    raise ConfigError(
        f"budget = {budget!r} can't be used; give a number of nodes such as 40, or a share such as 1%"
    )


def shares(budget: int, sizes: Sequence[int]) -> list[int]:
    """Nodes of each class: the budget times its share of the training nodes, rounded down, at least 1.

    The rest goes one by one, from the first class on, to classes with nodes left. If the minimum of 1 exceeds
    the budget, the largest counts shrink; the sum exceeds the budget only if it is below one per class.

    Example:
        >>> shares(10, [70, 20, 10]), shares(4, [90, 5, 5]), shares(2, [5, 5, 5])
        ([7, 2, 1], [2, 1, 1], [1, 1, 1])
    """
    total = sum(sizes)
    if budget > total:
        raise ConfigError(
            f"the budget of {budget} is more than there are training nodes ({total}); ask for fewer"
        )
    counts = [max(1, budget * size // total) for size in sizes]
    while sum(counts) > max(budget, len(sizes)):
        counts[max(range(len(counts)), key=lambda c: (counts[c], -c))] -= 1
    while sum(counts) < budget:
        for label, size in enumerate(sizes):
            if sum(counts) < budget and counts[label] < size:
                counts[label] += 1
    return counts

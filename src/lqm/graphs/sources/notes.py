"""Words for what was done to a graph while it was read."""


def counted(number: int, one: str, many: str) -> str:
    """A number with the word that goes with it.

    Example:
        >>> counted(3312, "edge was", "edges were")
        '3,312 edges were'
    """
    return f"{number:,} {one if number == 1 else many}"

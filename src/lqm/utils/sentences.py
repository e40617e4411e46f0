"""Parts of messages."""


def reason(error: Exception) -> str:
    """What an error of another library says, in one line and without a full stop."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def first_line(error: Exception) -> str:
    """The first line of what an error of another library says, where the others are for its developers."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def counted(number: int, one: str, many: str) -> str:
    """A number with the word that goes with it.

    Example:
        >>> counted(3312, "edge was", "edges were")
        '3,312 edges were'
    """
    return f"{number:,} {one if number == 1 else many}"

"""Words for sentences about what went wrong."""


def reason(error: Exception) -> str:
    """What an error of another library says, in one line and without a full stop."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def first_line(error: Exception) -> str:
    """The first line of what an error of another library says, where the others are for its developers."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]

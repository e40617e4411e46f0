"""Words for sentences about what went wrong."""


def reason(error: Exception) -> str:
    """What an error of another library says, in one line and without a full stop."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__

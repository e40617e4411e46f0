"""How long a command takes to load, which the next one takes again."""

import time

_began: list[float] = []


def begin_loading() -> None:
    """A command begins, before anything that takes time is imported."""
    _began[:] = [time.monotonic()]


def loading_seconds(loaded_at: float) -> float:
    """From there to the moment at which all was imported; none if that was before.

    Example:
        >>> begin_loading()
        >>> loading_seconds(time.monotonic() + 60) > 59, loading_seconds(0.0)
        (True, 0.0)
    """
    return max(0.0, loaded_at - _began[0]) if _began else 0.0

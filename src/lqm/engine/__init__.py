"""The argmin in S* = argmin D(phi(T), phi(S)): the loop, its run folder and its randomness."""

from lqm.engine.environment import environment, resolve_device
from lqm.engine.loop import Method, run
from lqm.engine.run import Metrics, RunFolder
from lqm.engine.run_record import Config, recorded

__all__ = [
    "Config",
    "Method",
    "Metrics",
    "RunFolder",
    "environment",
    "recorded",
    "resolve_device",
    "run",
]

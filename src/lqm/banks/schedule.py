"""Which encoder of a sketch a step uses, and how often is too often."""

import torch

from lqm.banks.sketch import Sketch
from lqm.engine.randomness import generator

# In a trial on CIFAR-10 a bank of 20 encoders was overfitted, and one of 100 not up to 30 uses of each.
_ENOUGH_ENCODERS, _USES = 100, 30


def encoder_of_step(seed: int, step: int, encoders: int) -> int:
    """All encoders in a random order, then all of them in another."""
    turn, place = divmod(step, encoders)
    return int(torch.randperm(encoders, generator=generator(seed, "sketch", turn))[place])


def overuse(encoders: int, steps: int) -> str | None:
    """A warning if so many steps are too many for so few encoders.

    Example:
        >>> overuse(20, 100)
        'the sketch has 20 encoders for 100 steps; fewer than 100 may be overfitted'
        >>> overuse(200, 1000) is None
        True
    """
    if encoders < _ENOUGH_ENCODERS and steps > encoders:
        return (
            f"the sketch has {encoders} encoders for {steps:,} steps; fewer than {_ENOUGH_ENCODERS} may be "
            "overfitted"
        )
    if steps > _USES * encoders:
        return (
            f"the sketch has {encoders} encoders for {steps:,} steps; beyond {_USES} uses of each they may "
            f"be overfitted, so {-(-steps // _USES):,} encoders would be better"
        )
    return None


def advice(sketch: Sketch | None, steps: int) -> tuple[str, ...]:
    """What to warn of before a run of so many steps by a sketch, if there is one, a line each."""
    warning = overuse(sketch.encoders, steps) if sketch else None
    return (warning,) if warning else ()

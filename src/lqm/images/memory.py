"""How the work on images is split to fit a limit of memory that was chosen."""

from math import prod
from typing import Any

from lqm.images.networks import count_activations
from lqm.images.problem import REAL_AT_ONCE, ImageProblem
from lqm.utils.limits import require_room, working_memory

# Measured: what a layer keeps of each activation for the gradients, with room for its workspace; copies of
# the real images of a group, and of the synthetic ones with gradient and momentum.
_BYTES_AN_ACTIVATION, _COPIES, _BYTES_A_PIXEL = 6, 4, 4
# Fewer images at once are convolved in another way, with other last bits; so many more are encoded at once.
_FEWEST, _ENCODED = 8, 32


def images_at_once(
    problem: ImageProblem, settings: Any, *, live: bool = True, learning: int = 0, synthetic: bool = True
) -> int | None:
    """How many images may go through a network at once with gradients; None if no limit was chosen.

    Args:
        problem: what is condensed.
        settings: of the method.
        live: whether real images are looked at.
        learning: images that a network learns from at once, which can't be split.
        synthetic: whether there are synthetic images to learn.

    Raises:
        ConfigError: when even the smallest part takes more than there is.
    """
    room = working_memory()
    if room is None:
        return None
    shape = problem.source.shape
    each = _BYTES_AN_ACTIVATION * count_activations(
        problem.fresh_network(settings.network, "check", 0), shape
    )
    batch = getattr(settings, "real_batch", 0) if live else 0
    real = min(problem.classes * batch, max(REAL_AT_ONCE, batch))
    kept = problem.classes * problem.per_class if synthetic else 0
    fixed = (real + kept) * prod(shape) * _BYTES_A_PIXEL * _COPIES + (_ENCODED * each if real else 0)
    require_room(
        fixed + max(_FEWEST if synthetic else 0, learning) * each,
        "give a smaller network, real_batch or per_class",
    )
    return max(_FEWEST, (room - fixed) // each)

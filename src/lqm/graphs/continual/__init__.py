"""Learning classes that arrive task after task, with a memory of a few nodes or without."""

from lqm.evaluation.accuracy_matrix import average_accuracies, backward_transfer
from lqm.evaluation.spread import Spread
from lqm.graphs.continual.latents import memory_latents
from lqm.graphs.continual.methods import CONTINUAL_METHODS, ContinualMethod
from lqm.graphs.continual.planning import ContinualPlan, check_request, plan_continual
from lqm.graphs.continual.repeat import Repeat, RepeatContext, learn_repeat

__all__ = [
    "CONTINUAL_METHODS",
    "ContinualMethod",
    "ContinualPlan",
    "Repeat",
    "RepeatContext",
    "Spread",
    "average_accuracies",
    "backward_transfer",
    "check_request",
    "learn_repeat",
    "memory_latents",
    "plan_continual",
]

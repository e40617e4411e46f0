"""Learning classes that arrive task after task, with a memory of a few nodes or without."""

from lqm.graphs.continual.latents import memory_latents
from lqm.graphs.continual.methods import CONTINUAL_METHODS, ContinualMethod
from lqm.graphs.continual.planning import ContinualPlan, check_request, plan_continual
from lqm.graphs.continual.repeat import Place, Repeat, learn_repeat
from lqm.graphs.continual.scores import Spread, average_accuracies, backward_transfer

__all__ = [
    "CONTINUAL_METHODS",
    "ContinualMethod",
    "ContinualPlan",
    "Place",
    "Repeat",
    "Spread",
    "average_accuracies",
    "backward_transfer",
    "check_request",
    "learn_repeat",
    "memory_latents",
    "plan_continual",
]

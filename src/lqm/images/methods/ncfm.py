"""NCFM: the steps of DANCE by a distance of characteristic functions, whose frequencies may be learned."""

from dataclasses import replace
from typing import Annotated, Literal

import torch
from pydantic.dataclasses import dataclass

from lqm.images.methods import dance
from lqm.images.methods.dance import DANCESettings
from lqm.images.networks import Embedding
from lqm.images.problem import ImageProblem
from lqm.methods.condensation import Condensation
from lqm.methods.sampler import LearnedFrequencies, Sampler
from lqm.utils.effects import OnlyIf, Unless
from lqm.utils.settings import Count, NotNegative, Positive, Share


@dataclass(frozen=True, config={"extra": "forbid"})
class NCFMSettings(DANCESettings):
    """Wang et al. 2025, "Dataset distillation with neural characteristic function"; as its code.

    Attributes:
        optimizer: of the images; for `sgd` the paper has a rate of 0.01.
        weight_decay: of the images.
        sampler: frequencies are drawn from a normal distribution, or by a network that learns to find those
            at which the real and the synthetic images differ most.
        sampler_rate: of that network, which ascends by SGD.
    """

    steps: Count = 20_000
    learning_rate: Positive = 0.001
    momentum: Annotated[Share, OnlyIf("optimizer", "sgd")] = 0.5
    real_batch: Count = 1024
    pairs: Count = 20
    optimizer: Literal["adamw", "sgd"] = "adamw"
    weight_decay: Annotated[NotNegative, Unless("optimizer", "sgd")] = 5e-4
    sampler: Literal["normal", "learned"] = "normal"
    sampler_rate: Annotated[Positive, OnlyIf("sampler", "learned")] = 1e-3


def build(problem: ImageProblem, settings: NCFMSettings) -> Condensation:
    """The steps of DANCE, with another optimiser; a sampler ascends where the images descend.

    S <- AdamW(S, gradient of D(phi_l(A(T_c)), phi_l(A(S_c)); t)) for each c,  t = sampler(noise) or noise

    One optimiser holds all classes, whose moments and decay move on those that have no gradient.
    """
    optimizer = None
    if settings.optimizer == "adamw":
        decay = settings.weight_decay

        def optimizer(images: torch.Tensor) -> torch.optim.Optimizer:
            return torch.optim.AdamW([images], lr=settings.learning_rate, weight_decay=decay)

    if settings.sampler == "normal":
        return dance.build(problem, settings, optimizer)
    ((features,),) = problem.readout_shapes(settings.network, Embedding)
    sampler = Sampler(features, settings.sampler_rate, problem)
    learned = replace(problem, distance=LearnedFrequencies(problem.distance, sampler))
    return dance.build(learned, settings, optimizer, beside=[sampler.learnable])


NCFM = replace(dance.DANCE, settings=NCFMSettings, build=build, distance="ncfm")

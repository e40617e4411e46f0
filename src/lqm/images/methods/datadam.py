"""DataDAM: matching where the network looks, beside what it finds."""

from typing import Literal

import torch
from pydantic.dataclasses import dataclass

from lqm.distances.mean import Mean
from lqm.images.encoders import FreshEncoders
from lqm.images.methods.dm import DMSettings
from lqm.images.methods.matching import match_readouts
from lqm.images.networks.attention import Attention
from lqm.images.problem import ImageProblem
from lqm.images.synthetic import SyntheticImages
from lqm.methods.condensation import Condensation
from lqm.methods.objectives.features import FeatureMatching
from lqm.methods.spec import MethodSpec
from lqm.utils.errors import ConfigError
from lqm.utils.settings import Count, NotNegative, Positive


@dataclass(frozen=True, config={"extra": "forbid"})
class DataDAMSettings(DMSettings):
    """Sajedi et al. 2023, "DataDAM: efficient dataset distillation with attention matching"; as the paper.

    Attributes:
        power: p in the attention; the paper's 4 (its code takes 1).
        attention: how attention maps are compared: by their mean as in the paper, or by the run's distance.
        attention_weight: of each layer's attention.
        embedding_weight: of the latent features, relative to attention_weight (the paper's task balance).
    """

    steps: Count = 8_000
    real_batch: Count = 64
    power: Positive = 4.0
    attention: Literal["mean", "distance"] = "mean"
    attention_weight: Positive = 100.0
    embedding_weight: NotNegative = 0.01


def build(problem: ImageProblem, settings: DataDAMSettings) -> Condensation:
    """DM, with attention maps a_l of all layers but the last beside the latent features.

    loss of class c = w * (sum over layers l of D_a(a_l(T_c), a_l(S_c)) + balance * D(phi(T_c), phi(S_c)))
    """
    attention = Attention.of(settings.power)
    _require_attention(problem, settings)
    synthetic = SyntheticImages(problem, settings)
    of_maps = Mean() if settings.attention == "mean" else problem.distance
    objective = FeatureMatching(
        problem.distance,
        synthetic.counts,
        distances=lambda readouts: [of_maps] * (readouts - 1) + [problem.distance],
        weigh=lambda losses: (
            settings.attention_weight
            * (torch.stack(losses[:-1]).sum(dim=0) + settings.embedding_weight * losses[-1])
        ),
    )
    encoders = FreshEncoders(problem, settings.network, attention)
    per_class = settings.update == "per-class"
    return match_readouts(problem, settings, synthetic, objective, encoders, encoders, per_class=per_class)


def _require_attention(problem: ImageProblem, settings: DataDAMSettings) -> None:
    """Refuse a network without two convolutional layers whose activations are modules."""
    if len(problem.readout_shapes(settings.network, Attention.of(settings.power))) < 2:
        raise ConfigError(
            "this network has no attention maps to match: it needs two layers of convolution and "
            "activation, the latter as modules such as nn.ReLU; choose another, such as convnet"
        )


DATADAM = MethodSpec(DataDAMSettings, build, sketch_settings=("network", "real_batch", "power"))

"""CAFE and CAFE+DSA: matching of every layer under networks that train on S for as long as that pays."""

from collections.abc import Sequence
from typing import Annotated

import torch
from pydantic.dataclasses import dataclass
from torch import Tensor

from lqm.images.methods.settings import Init, MatchingSettings
from lqm.images.networks.activations import LayerMaps
from lqm.images.problem import ImageProblem
from lqm.images.real import RealImages, siamese
from lqm.images.synthetic import SyntheticImages
from lqm.images.trained import TrainedUntilSteady
from lqm.methods.condensation import Condensation, Pass
from lqm.methods.objectives.discrimination import DiscriminativeMatching
from lqm.methods.objectives.features import FeatureMatching
from lqm.methods.spec import MethodSpec
from lqm.methods.targets import LiveTargets
from lqm.utils.effects import Unless
from lqm.utils.errors import ConfigError
from lqm.utils.settings import Count, NotNegative, Positive

# Tenths of the steps after which the learning rate is halved.
_HALVINGS = (6, 8, 9)


@dataclass(frozen=True, config={"extra": "forbid"})
class CAFESettings(MatchingSettings):
    """Wang et al. 2022, "CAFE: learning to condense dataset by aligning features"; as its code.

    Attributes:
        steps: networks, each of which gives S several updates.
        learning_rate: of the images; halved after 60, 80 and 90 % of the steps.
        layer_weight: of the map of each activation layer but the last.
        class_weight: of the cross-entropy of real images that are scored by the centres of S.
        outer: updates of S under one network, at most.
        inner: epochs of the network on S between two updates, at most.
        query_batch: real images of each class by which the network's accuracy is measured.
        accuracy_window: how many of the last accuracies are compared.
        outer_range: a step ends when those after its last updates differ by less.
        inner_range: the training between two updates ends when those after its last epochs differ by more.
        network_rate: of the network's SGD.
        train_batch: synthetic images in a step of that.
        augmented: whether the images of a class undergo one operation, the same on both sides, and those
            that the network trains on one of their own.
    """

    steps: Count = 2_000
    learning_rate: Positive = 0.1
    init: Init = "noise"
    layer_weight: NotNegative = 0.1
    class_weight: NotNegative = 0.01
    outer: Count = 50
    inner: Annotated[Count, Unless("outer", 1)] = 50
    query_batch: Count = 128
    accuracy_window: Count = 10
    outer_range: NotNegative = 0.04
    inner_range: Annotated[NotNegative, Unless("outer", 1)] = 0.03
    network_rate: Annotated[Positive, Unless("outer", 1)] = 0.01
    train_batch: Annotated[Count, Unless("outer", 1)] = 256
    augmented: bool = False

    def operations(self, allowed: Sequence[str]) -> list[str]:
        """All of them, or none."""
        return [*allowed] if self.augmented else []

    def rate(self, step: int) -> float:
        """The learning rate of a step."""
        passed = sum(10 * step >= tenths * self.steps for tenths in _HALVINGS)
        return float(self.learning_rate * 0.5**passed)

    def images_per_step(self, classes: int, records: int, *, live: bool) -> float:
        """Those of as many updates and epochs as there are at least."""
        updates, epochs = (min(most, self.accuracy_window) for most in (self.outer, self.inner))
        queries = classes * self.query_batch * (updates + (updates - 1) * epochs)
        return updates * super().images_per_step(classes, records, live=live) + queries

    def kept_whole(self, classes: int, per_class: int) -> int:
        """Images whose maps are all in memory at once."""
        return max(self.train_batch, self.real_batch + classes * per_class)


@dataclass(frozen=True, config={"extra": "forbid"})
class CAFEDSASettings(CAFESettings):
    """CAFE with siamese augmentation; as the same code."""

    augmented: bool = True


def weigh_layers(losses: list[Tensor], layer_weight: float) -> Tensor:
    """The losses of all maps and of the latent features, each [C], put together.

    The latent features count twice: in the paper as the last pooled map, and as the same flattened.
    """
    *early, last, features = losses
    return torch.stack([layer_weight * loss for loss in early] + [last, 2 * features]).sum(dim=0)


def build(problem: ImageProblem, settings: CAFESettings) -> Condensation:
    """At each step, match all layers under a fresh network that trains on S between the updates.

    S <- clip(S - rate * gradient of sum over classes c of loss_c)
    loss_c = sum over layers l of w_l * D(f_l(T_c), f_l(S_c)) + class_weight * CE(T_c . centres of S, c)
    """
    _require_maps(problem, settings)
    synthetic = SyntheticImages(problem, settings, rate=settings.rate)
    encoders = TrainedUntilSteady(problem, settings, LayerMaps)
    matching = FeatureMatching(
        problem.distance,
        synthetic.counts,
        weigh=lambda losses: weigh_layers(losses, settings.layer_weight),
    )
    objective = DiscriminativeMatching(matching, settings.class_weight)
    transform = siamese(problem) if settings.augmented else lambda draws: ()
    real = RealImages(problem, settings.real_batch, [range(problem.classes)], transform, apart=True)
    targets = LiveTargets(encoders, real, objective, problem.seed, rounds=settings.outer)
    return Condensation(problem, synthetic, encoders, [Pass(objective, targets)], rounds=settings.outer)


def _require_maps(problem: ImageProblem, settings: CAFESettings) -> None:
    """Refuse a network without a convolutional layer whose activation is a module."""
    if len(problem.readout_shapes(settings.network, LayerMaps)) < 2:
        raise ConfigError(
            "this network has no layers to match: it needs a convolution that is followed by an activation, "
            "the latter as a module such as nn.ReLU; choose another, such as convnet"
        )


CAFE, CAFE_DSA = (
    MethodSpec(settings, build, distance="mean", scheduled=True)
    for settings in (CAFESettings, CAFEDSASettings)
)

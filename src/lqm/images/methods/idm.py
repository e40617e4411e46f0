"""IDM: distribution matching under networks that are learning, with several images in the place of one."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from lqm.images.encoders import QueueEncoders
from lqm.images.experts import TrajectoryEncoders
from lqm.images.methods.matching import match_readouts
from lqm.images.methods.settings import MatchingSettings
from lqm.images.problem import ImageProblem
from lqm.images.synthetic import SyntheticImages
from lqm.methods.condensation import Condensation
from lqm.methods.objectives.features import FeatureMatching
from lqm.methods.spec import MethodSpec
from lqm.utils.effects import Unless
from lqm.utils.settings import Count, NotNegative, Positive

_QUEUE = ("queue_start", "queue_interval", "queue_limit", "students", "student_steps", "meter_reset")


@dataclass(frozen=True, config={"extra": "forbid"})
class IDMSettings(MatchingSettings):
    """Zhao et al. 2023, "Improved distribution matching for dataset condensation"; CIFAR-10 at 10 a class.

    Attributes:
        mosaic: images in a row and in a column of each synthetic one.
        mosaic_init: a real image in each cell at first, or a whole one in the place of all cells.
        class_weight: of the class-discriminative term, times the network's training accuracy in percent.
        queue_start: networks at first.
        queue_interval: steps from one new network to the next.
        queue_limit: networks at most; the oldest goes.
        students: networks that learn at each step.
        student_steps: how many batches each of them learns from.
        student_batch: real images of any class in such a batch.
        meter_reset: steps after which all networks forget their training accuracy, which is 0 until they
            learn again; 0 for never. The original does so at each of its evaluations.
    """

    learning_rate: Positive = 0.2
    mosaic: Count = 2
    mosaic_init: Annotated[Literal["cells", "whole"], Unless("mosaic", 1)] = "cells"
    class_weight: NotNegative = 0.5
    queue_start: Count = 3
    queue_interval: Count = 30
    queue_limit: Count = 100
    students: Count = 2
    student_steps: Count = 10
    student_batch: Count = 256
    meter_reset: Annotated[int, Field(ge=0), Unless("class_weight", 0)] = 0

    def images_per_step(self, classes: int, records: int, *, live: bool) -> float:
        """Those that networks learn from too."""
        learned = self.students * self.student_steps * self.student_batch if live else 0
        return super().images_per_step(classes, records, live=live) + 3 * learned


def build(problem: ImageProblem, settings: IDMSettings) -> Condensation:
    """At each step, match class after class under one network of the queue, then let some of them learn.

    loss of class c = D(phi(A(T_c)), phi(A(S_c))) + class_weight * 100 * accuracy * CE(network(A(S_c)), c)

    S_c are the cells of the class's mosaics, and accuracy is the network's own, on the batches that it has
    learned from. One optimiser holds all classes: the momentum of a class moves it on while the others are
    updated.
    """
    synthetic = SyntheticImages(problem, settings, settings.mosaic, whole=settings.mosaic_init == "whole")
    objective = FeatureMatching(
        problem.distance,
        synthetic.counts,
        cross_entropy=lambda encoder: settings.class_weight * 100 * encoder.metrics["network_accuracy"],
    )
    encoders = QueueEncoders(problem, settings)
    stored = TrajectoryEncoders(problem, settings.network, settings.student_batch)
    return match_readouts(problem, settings, synthetic, objective, encoders, stored, per_class=True)


IDM = MethodSpec(
    IDMSettings, build, sketch_settings=("network", "real_batch", "student_batch"), live_settings=_QUEUE
)

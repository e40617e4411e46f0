"""The real side of trajectory matching: stretches of the training of experts."""

from typing import TYPE_CHECKING

import torch

from lqm.banks import Shard, encoder_of_step
from lqm.engine.randomness import generator
from lqm.images.augment import augment, draw
from lqm.images.networks import Logits, Network
from lqm.images.problem import ImageProblem
from lqm.methods.objectives.trajectory import Stretch, StudentBatch, all_weights
from lqm.methods.targets import GroupTarget, Target

if TYPE_CHECKING:
    from lqm.images.methods.trajectories import MTTSettings


class ExpertStretches:
    """For each step a stretch of one expert, all of them in a random order, then in another.

    Args:
        problem: has the experts.
        settings: how many experts, where stretches begin and how long they are, and the student's batches.
    """

    def __init__(self, problem: ImageProblem, settings: "MTTSettings") -> None:
        self._problem, self._settings = problem, settings
        self._factory = problem.encoder_factory(settings.network, Logits)

    def at(self, step: int, round_: int) -> Target:
        """The stretch of a step, under a network whose weights the student replaces."""
        problem, settings = self._problem, self._settings
        assert problem.experts is not None
        experts = problem.experts()
        number = encoder_of_step(problem.seed, step, min(settings.experts, experts.networks))
        draws = generator(problem.seed, "stretch", step)
        low, high = settings.starts(step)
        start = low + int(torch.randint(high - low, (), generator=draws))
        network = problem.fresh_network(settings.network, "check", 0)
        shards = (experts.snapshot(number, epoch) for epoch in (start, start + settings.expert_epochs))
        begin, end = (self._weights(network, shard) for shard in shards)
        stretch = Stretch(begin, end, [self._batch(draws, places) for places in self._places(draws)])
        encoder = self._factory.of(network.requires_grad_(False))
        return Target(encoder, [GroupTarget(range(problem.classes), (), stretch)])

    def forget(self) -> None:
        """Nothing is kept."""

    def _weights(self, network: Network, shard: Shard) -> torch.Tensor:
        with shard.in_use():
            return all_weights(network, shard.below("weights")).to(self._problem.device)

    def _places(self, draws: torch.Generator) -> list[torch.Tensor]:
        """The records of each step of the student: all in a random order, batch by batch, then in another."""
        records = self._problem.classes * self._problem.per_class
        batches: list[torch.Tensor] = []
        while len(batches) < self._settings.student_steps:
            batches += torch.randperm(records, generator=draws).split(self._settings.student_batch or records)
        return batches[: self._settings.student_steps]

    def _batch(self, draws: torch.Generator, places: torch.Tensor) -> StudentBatch:
        """A batch, under one operation with parameters of each image's own."""
        drawn = draw(self._problem.source.augmentation, draws, rows=len(places))
        return places, lambda images: augment(images, drawn)

"""The field's loops of trajectory matching: MTT, TESLA in two passes, and DATM with soft labels."""

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.func import functional_call

from benchmarks.ratios.plain_images import PlainImages
from lqm.banks import encoder_of_step
from lqm.engine.randomness import generator
from lqm.images.augment import AugmentationParameters, augment, draw
from lqm.images.methods.trajectories import MTTSettings
from lqm.images.networks import Network
from lqm.images.sources import ImageSource

# The records of each step of a student, and the operation that they undergo.
Batches = list[tuple[Tensor, AugmentationParameters]]


class PlainTrajectories(PlainImages):
    """A student whose weights are one vector, by which its gradients are found.

    Args:
        source: the real images.
        per_class: synthetic images of each class.
        seed: of all draws.
        settings: of our method; neither an average of the images nor an init by experts is known here.
        bank: the experts.
        logits: of the soft labels at first, if labels are learned.
    """

    settings: MTTSettings

    def __init__(
        self,
        source: ImageSource,
        per_class: int,
        seed: int,
        settings: MTTSettings,
        bank: Any,
        logits: Tensor | None = None,
    ) -> None:
        super().__init__(source, per_class, seed, settings)
        self.bank = bank
        self.rate = torch.tensor([settings.rate], requires_grad=True)
        self.logits = None if logits is None else logits.detach().clone().requires_grad_()
        self.optimizers = [
            self.optimizer,
            torch.optim.SGD([self.rate], lr=settings.rate_learning_rate, momentum=0.5),
        ]
        if self.logits is not None:
            self.optimizers.append(
                torch.optim.SGD([self.logits], lr=settings.label_learning_rate, momentum=0.9)
            )

    def step(self, i: int) -> float:
        """One stretch of an expert; gives the loss."""
        draws = generator(self.seed, "stretch", i)
        number = encoder_of_step(self.seed, i, min(self.settings.experts, self.bank.networks))
        low, high = self.settings.starts(i)
        first = low + int(torch.randint(high - low, (), generator=draws))
        network = self.fresh_network("check", 0)
        start, end = (
            self._weights(network, number, epoch) for epoch in (first, first + self.settings.expert_epochs)
        )
        batches = list(self._batches(draws))
        way = self._exact if self.settings.gradient == "exact" else self._two_pass
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss = way(network, start, end, batches)
        if loss <= (self.settings.threshold or torch.inf):
            for optimizer in self.optimizers:
                optimizer.step()
            with torch.no_grad():
                self.images.clamp_(self.low, self.high)
                self.rate.clamp_(min=1e-8)
        return loss

    def _weights(self, network: Network, number: int, epoch: int) -> Tensor:
        named = self.bank.snapshot(number, epoch).below("weights")
        return torch.cat([named[name].flatten() for name, _ in network.named_parameters()])

    def _batches(self, draws: torch.Generator) -> Iterator[tuple[Tensor, AugmentationParameters]]:
        records = self.classes * self.per_class
        places: list[Tensor] = []
        while len(places) < self.settings.student_steps:
            order = torch.randperm(records, generator=draws)
            places += order.split(self.settings.student_batch or records)
        for chosen in places[: self.settings.student_steps]:
            yield chosen, draw(self.source.augmentation, draws, rows=len(chosen))

    def _exact(self, network: Network, start: Tensor, end: Tensor, batches: Batches) -> float:
        """All steps of the student in one graph."""
        weights = start.clone().requires_grad_()
        for batch in batches:
            weights = weights - self.rate * self._gradient(network, weights, batch, live=True)
        loss = F.mse_loss(weights, end, reduction="sum") / F.mse_loss(start, end, reduction="sum")
        loss.backward()
        return loss.item()

    def _two_pass(self, network: Network, start: Tensor, end: Tensor, batches: Batches) -> float:
        """The gradient of each step by itself: 2 / D * (rate * (end - start) + rate^2 * G)' * dg_i/dS."""
        weights, total, rate = [start], torch.zeros_like(start), self.rate.item()
        for batch in batches:
            before = weights[-1].clone().requires_grad_()
            gradient = self._gradient(network, before, batch, live=False)
            total += gradient
            weights.append(weights[-1] - rate * gradient)
        apart = F.mse_loss(start, end, reduction="sum")
        arrived = weights.pop()
        along = 2 * (rate * (end - start) + rate**2 * total) / apart
        leaves = [self.images] if self.logits is None else [self.images, self.logits]
        for before, batch in zip(weights, batches, strict=True):
            live = self._gradient(network, before.clone().requires_grad_(), batch, live=True)
            (live @ along).backward(inputs=leaves)
        self.rate.grad = -2 * ((arrived - end) @ total).reshape(1) / apart
        return float(F.mse_loss(arrived, end, reduction="sum") / apart)

    def _gradient(
        self,
        network: Network,
        weights: Tensor,
        batch: tuple[Tensor, AugmentationParameters],
        *,
        live: bool,
    ) -> Tensor:
        chosen, drawn = batch
        shown = augment(self.images.flatten(0, 1)[chosen], drawn)
        labels = self.labels() if self.logits is None else self.logits.softmax(dim=1)
        named, done = {}, 0
        for name, part in network.named_parameters():
            named[name] = weights[done : done + part.numel()].view(part.shape)
            done += part.numel()
        loss = F.cross_entropy(functional_call(network, named, (shown,)), labels[chosen])
        (gradient,) = torch.autograd.grad(loss, weights, create_graph=live)
        return gradient

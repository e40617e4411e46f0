"""Trajectory matching: who learns from S should arrive where an expert arrived that learned from T."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.func import functional_call

from lqm.methods.batch import Lesson
from lqm.methods.objectives.gradients import ClassifyingEncoder
from lqm.methods.twice import differentiated_twice

# The places of the records that a step of the student learns from, and what is done to these records.
StudentBatch = tuple[Tensor, Callable[[Tensor], Tensor]]
# How a network is run whose gradient is differentiated again.
Again = Callable[[Tensor], AbstractContextManager[object]]

_differentiate_by_images: Again = partial(differentiated_twice, constant=True)
_differentiate_by_all: Again = partial(differentiated_twice, constant=False)


class Stretch(NamedTuple):
    """A stretch of an expert's training, and the batches by which a student is to make up for it.

    Attributes:
        start: all weights of the expert at its beginning, [P].
        end: and at its end.
        batches: one a step of the student.
    """

    start: Tensor
    end: Tensor
    batches: Sequence[StudentBatch]


class TrajectoryMatching:
    """How far from the expert's end a student arrives, beside how far away it began.

    loss = |w_N - end|^2 / |start - end|^2,  w_0 = start,  w_{i+1} = w_i - rate * gradient of CE(A(S_i))

    Cazenavette et al. 2022, "Dataset distillation by matching training trajectories". The gradient is that of
    this loss; or, in `two_pass`, it takes each w_i for a constant, as Cui et al. 2023 do ("Scaling up dataset
    distillation to ImageNet-1K with constant memory"): what a record changes at a step may then change the
    later ones, which is left out, and of all steps one at a time is in memory.
    """

    def __init__(self, *, two_pass: bool = False) -> None:
        self._two_pass = two_pass

    def loss(self, encoder: ClassifyingEncoder, target: Stretch, synthetic: Lesson) -> Tensor:
        """One loss for all classes, [1]."""
        found = (_two_pass if self._two_pass else _exact)(encoder.network, target, synthetic)
        return found.reshape(1)


def _exact(network: nn.Module, stretch: Stretch, lesson: Lesson) -> Tensor:
    weights = stretch.start.detach().requires_grad_()
    for place, batch in enumerate(stretch.batches):
        # The expert's weights, which the first step begins with, have no gradient.
        again = _differentiate_by_all if place else _differentiate_by_images
        weights = weights - lesson.rate * _gradient(network, weights, lesson, batch, again)
    return _distance(weights, stretch)


def _two_pass(network: nn.Module, stretch: Stretch, lesson: Lesson) -> Tensor:
    """The loss, with a gradient that is found step by step: dL/dS_i = -rate * (dL/dw_N)' * dg_i/dS_i."""
    rate, constant = lesson.rate.detach(), lesson.detached()
    weights, total = [stretch.start.detach()], torch.zeros_like(stretch.start)
    for batch in stretch.batches:
        gradient = _gradient(network, weights[-1].requires_grad_(), constant, batch)
        total += gradient
        weights.append(weights[-1].detach() - rate * gradient)
    arrived = weights.pop().requires_grad_()
    loss = _distance(arrived, stretch)
    (along,) = torch.autograd.grad(loss, arrived)
    own = lesson.detached(live=True)
    leaves = [leaf for leaf in (own.inputs, own.targets) if leaf.requires_grad]
    found = [torch.zeros_like(leaf) for leaf in leaves]
    for batch, before in zip(stretch.batches, weights, strict=True):
        gradient = _gradient(network, before, own, batch, _differentiate_by_images)
        for part, more in zip(found, torch.autograd.grad(gradient @ along, leaves), strict=True):
            part -= rate * more
    live = [leaf for leaf in (lesson.inputs, lesson.targets) if leaf.is_floating_point()]
    return _with_gradients(loss.detach(), [*live, lesson.rate], [*found, -(total @ along)])


def _gradient(
    network: nn.Module, weights: Tensor, lesson: Lesson, batch: StudentBatch, again: Again | None = None
) -> Tensor:
    """The gradient of the student's loss on a batch by all its weights, [P].

    If it is to be differentiated, `again` says by what.
    """
    places, change = batch
    with torch.enable_grad():
        shown = change(lesson.inputs[places])
        with again(shown) if again else nullcontext():
            logits = functional_call(network, named_parts(network, weights), (shown,))
        loss = F.cross_entropy(logits, lesson.targets[places])
        (gradient,) = torch.autograd.grad(loss, weights, create_graph=again is not None)
    return gradient


def _distance(weights: Tensor, stretch: Stretch) -> Tensor:
    return (weights - stretch.end).square().sum() / (stretch.start - stretch.end).square().sum()


def _with_gradients(value: Tensor, leaves: Sequence[Tensor], gradients: Sequence[Tensor]) -> Tensor:
    """A value that has these gradients by these tensors."""
    carried = torch.stack([(leaf * part).sum() for leaf, part in zip(leaves, gradients, strict=True)]).sum()
    return value + carried - carried.detach()


def named_parts(network: nn.Module, weights: Tensor) -> dict[str, Tensor]:
    """All weights of a network, [P], as its parameters by name."""
    known = dict(network.named_parameters())
    parts = weights.split([part.numel() for part in known.values()])
    return {name: own.view_as(part) for (name, part), own in zip(known.items(), parts, strict=True)}


def all_weights(network: nn.Module, named: dict[str, Tensor]) -> Tensor:
    """The parameters of a network by name as one vector, [P]; what is no parameter plays no part."""
    return torch.cat([named[name].flatten() for name, _ in network.named_parameters()])

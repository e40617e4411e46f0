"""Experts: networks that train on the real images, kept snapshot by snapshot."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from typing import Annotated, Any, Literal

import torch
from pydantic.dataclasses import dataclass
from torch import Tensor

from lqm.engine.randomness import generator, seeded
from lqm.images.augment import augment, cutmix, draw, draw_several
from lqm.images.flat import FlatGradients
from lqm.images.methods.settings import NetworkSpec
from lqm.images.networks import Embedding, Encoder, Logits, Network
from lqm.images.problem import ImageProblem
from lqm.images.students import State, Student, below, draw_real
from lqm.images.training import fifths, logits_of
from lqm.utils.effects import OnlyIf
from lqm.utils.errors import ArtifactError
from lqm.utils.sentences import reason
from lqm.utils.settings import Count, NotNegative, Positive, Share

# The settings that a bank has always had.
_FIRST = ("network", "batch", "learning_rate", "schedule", "augmentation", "cutmix")
# Of each network that learns for a sketch: snapshots, and batches from one to the next. A network of IDM's
# queue learns from 600 batches in its life.
SNAPSHOTS, SPACING = 20, 30


@dataclass(frozen=True, config={"extra": "forbid"})
class ExpertSettings:
    """How experts are trained.

    Attributes:
        network: such as `convnet:width=64:depth=2`.
        batch: real images of any class in a step.
        learning_rate: of the first epoch.
        schedule: `constant`, or a fifth of the rate after two thirds and after five sixths of the epochs.
        augmentation: `none`; `color-crop`: both; `dsa`: one operation for each batch. Each image has
            parameters of its own, and operations that the source does not allow are left out.
        cutmix: the probability that a batch is mixed by CutMix.
        momentum: of SGD.
        weight_decay: of SGD.
        optimizer: `sgd`, or `gsam`: SGD with the gradients of adaptive SAM and the surrogate gap.
        rho: of `gsam`, the length of the step up.
        alpha: of `gsam`, the weight of the surrogate gap.
        zca: whether the experts see whitened images.
    """

    network: NetworkSpec = "convnet"
    batch: Count = 256
    learning_rate: Positive = 0.01
    schedule: Literal["constant", "fifths"] = "constant"
    augmentation: Literal["none", "color-crop", "dsa"] = "none"
    cutmix: Share = 0.0
    momentum: Share = 0.9
    weight_decay: NotNegative = 5e-4
    optimizer: Literal["sgd", "gsam"] = "sgd"
    rho: Annotated[NotNegative, OnlyIf("optimizer", "gsam")] = 0.01
    alpha: Annotated[NotNegative, OnlyIf("optimizer", "gsam")] = 0.3
    zca: bool = False

    @property
    def record(self) -> dict[str, Any]:
        """The settings for a configuration; a later one only if it is not what held before there was one.

        So a bank that an earlier version began goes on.
        """
        defaults = {field.name: field.default for field in fields(self) if field.name not in _FIRST}
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in defaults or value != defaults[name]
        }


def snapshot(
    problem: ImageProblem,
    settings: ExpertSettings,
    network: int,
    number: int,
    before: State,
    *,
    epochs: int = 0,
    spacing: int | None = None,
) -> State:
    """Snapshot `number` of a network: fresh at 0, else the one before it after some more training.

    Args:
        problem: has the real images.
        settings: of the training.
        network: which of them.
        number: which snapshot.
        before: the snapshot before it; nothing for the first.
        epochs: of the whole training, by which the schedule goes.
        spacing: random batches from one snapshot to the next; an epoch if not given.
    """
    student = Student(
        problem.fresh_network(settings.network, "trajectory", network),
        problem.encoder_factory(settings.network, Logits),
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
        flat=FlatGradients(settings.rho, settings.alpha) if settings.optimizer == "gsam" else None,
    )
    if number == 0:
        return student.state()
    try:
        student.load_state(before)
    except (LookupError, ValueError, TypeError, RuntimeError) as error:
        raise ArtifactError(
            f"snapshot {number - 1} of network {network} can't be gone on from ({reason(error)[:200]}); "
            "remove its file, and it is made again"
        ) from error
    student.set_rate(settings.learning_rate * _decay(settings, number - 1, epochs))
    stage = _stage(network, number)
    draws = generator(problem.seed, "trajectory batches", stage)
    with seeded(problem.seed, "trajectory forward", stage):
        if spacing is not None:
            for _ in range(spacing):
                student.learn(*draw_real(problem.source, settings.batch, draws, problem.device))
        else:
            for images, labels in epoch(problem, settings, draws):
                student.learn(images, labels)
    return student.state()


class TrajectoryEncoders:
    """Snapshots of experts as the encoders of a sketch for IDM: those of a bank, or some trained for it.

    Args:
        problem: has the real images, and the bank if there is one.
        spec: of the networks.
        batch: real images in a batch that a network learns from, if there is no bank.
    """

    def __init__(self, problem: ImageProblem, spec: str, batch: int) -> None:
        self._problem, self._settings = problem, ExpertSettings(network=spec, batch=batch)
        self._factory = problem.encoder_factory(spec, Embedding)

    @property
    def chain(self) -> int:
        """Snapshots of a bank are there already; of one's own, each follows from the one before it."""
        return 1 if self._problem.experts else SNAPSHOTS

    def stored(self, n: int, before: Callable[[int], State]) -> State:
        """Encoder n: the snapshots of the first network, then those of the second, and so on."""
        if self._problem.experts:
            experts = self._problem.experts()
            network, epoch = divmod(n, experts.epochs + 1)
            return experts.snapshot(network, epoch).tensors()
        network, number = divmod(n, SNAPSHOTS)
        earlier = before(n - 1) if number else {}
        return snapshot(self._problem, self._settings, network, number, earlier, spacing=SPACING)

    def loaded(self, state: State) -> Encoder:
        """The network as it was, and its accuracy on what it had learned from."""
        right, seen = state["counts"].tolist()
        network = self._problem.fresh_network(self._settings.network, "sketch", 0)
        network.load_state_dict(below(state, "weights"))
        return self._factory.of(network.eval().requires_grad_(False), right / seen if seen else 0.0)


def last_network(problem: ImageProblem, spec: str, number: int) -> Network:
    """An expert of the problem's bank as it was in the end."""
    assert problem.experts is not None
    bank = problem.experts()
    network = problem.fresh_network(spec, "check", 0)
    shard = bank.snapshot(number, bank.epochs)
    with shard.in_use():
        network.load_state_dict(shard.below("weights"))
    return network.eval().requires_grad_(False)


def last_networks(problem: ImageProblem, spec: str, most: int) -> list[Network]:
    """The experts of the problem's bank as they were in the end, so many of them at most."""
    assert problem.experts is not None
    return [last_network(problem, spec, n) for n in range(min(most, problem.experts().networks))]


def expert_shares(problem: ImageProblem, spec: str, most: int, images: Tensor) -> Tensor:
    """The shares of all classes that experts see in images, [N, classes]: the mean of their softmax."""
    networks = last_networks(problem, spec, most)
    logits = [logits_of(network, images, problem.source, problem.compute) for network in networks]
    return torch.stack(logits).softmax(dim=2).mean(dim=0).cpu()


def _stage(network: int, number: int) -> int:
    """A number for each (network, snapshot); the first 20 are those that sketches have always had."""
    return network * SNAPSHOTS + number if number < SNAPSHOTS else 10**9 + network * 10**5 + number


def _decay(settings: ExpertSettings, epoch: int, epochs: int) -> float:
    if settings.schedule == "constant":
        return 1.0
    return fifths(epoch, epochs)


def epoch(
    problem: ImageProblem, settings: ExpertSettings, draws: torch.Generator, images: int | None = None
) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches of all training images, or of so many: normalised, with labels or shares of labels."""
    source, device = problem.source, problem.device
    operations = [name for name in ("color", "crop") if name in source.augmentation]
    for chosen in torch.randperm(len(source.train.labels), generator=draws)[:images].split(settings.batch):
        shown = source.normalised(source.train.images[chosen].to(device))
        labels = source.train.labels[chosen].to(device)
        if settings.augmentation == "color-crop":
            shown = augment(shown, *draw_several(operations, draws, rows=len(shown)))
        if settings.augmentation == "dsa":
            shown = augment(shown, draw(source.augmentation, draws, rows=len(shown)))
        yield cutmix(shown, labels, problem.classes, settings.cutmix, draws)

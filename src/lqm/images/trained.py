"""Networks that train between the updates of a step: on the synthetic images, or on real ones."""

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from lqm.engine.randomness import generator
from lqm.images.augment import augment, draw
from lqm.images.experts import ExpertSettings, epoch
from lqm.images.networks import Encoder, Logits, Network, Readout
from lqm.images.problem import ImageProblem
from lqm.images.sources import pick
from lqm.images.students import Student
from lqm.methods.encoders import Encoders
from lqm.methods.synthetic import Synthetic

if TYPE_CHECKING:
    from lqm.images.methods.cafe import CAFESettings

_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d)
# Real images of each class by which batch norms take their statistics (DC).
_NORM_IMAGES = 16


class TrainedOnSynthetic(Encoders):
    """A fresh network for each step, which trains on S between the step's updates (DC, DSA).

    Args:
        problem: what is condensed.
        spec: of the network.
        rounds: updates of a step.
        epochs: of the network on S between two of them, by SGD without momentum.
        learning_rate: of that.
        batch: synthetic images in a step of that.
        augmented: whether each image has an augmentation of its own there.
        readout: what the encoder is asked for.
    """

    replayable = False

    def __init__(
        self,
        problem: ImageProblem,
        spec: str,
        *,
        rounds: int,
        epochs: int,
        learning_rate: float,
        batch: int,
        augmented: bool,
        readout: Readout = Logits,
    ) -> None:
        self._problem, self._spec, self._rounds, self._epochs = problem, spec, rounds, epochs
        self._learning_rate, self._batch, self._augmented = learning_rate, batch, augmented
        self._factory = problem.encoder_factory(spec, readout)
        self._logits = problem.encoder_factory(spec, Logits)

    def at(self, n: int) -> Encoder:
        """The network of a step, fresh at its first update."""
        return self._factory.of(self._network_at(n))

    def after(self, n: int, synthetic: Synthetic) -> None:
        """Train on S as it is now, unless the next update has another network."""
        if (n + 1) % self._rounds:
            for _ in self._train(n, synthetic):
                pass

    def _network_at(self, n: int) -> Network:
        if n % self._rounds == 0:
            self._network = self._problem.fresh_network(self._spec, "network", n // self._rounds)
        self._freeze_norms(n)
        return self._network

    def _train(self, n: int, synthetic: Synthetic) -> Iterator[None]:
        """Train on S as it is now, with a pause after each epoch."""
        problem = self._problem
        draws = generator(problem.seed, "inner training", n)
        shown = synthetic.batch(range(problem.classes))
        images, labels = shown.inputs.detach(), shown.labels(problem.device)
        optimizer = torch.optim.SGD(self._network.parameters(), lr=self._learning_rate)
        for _ in range(self._epochs):
            encoder = self._logits.of(self._network.train())
            for chosen in torch.randperm(len(labels), generator=draws).split(self._batch):
                batch = images[chosen]
                if self._augmented:
                    batch = augment(batch, draw(problem.source.augmentation, draws, rows=len(chosen)))
                optimizer.zero_grad()
                (logits,) = encoder.readouts(batch)
                F.cross_entropy(logits, labels[chosen]).backward()
                optimizer.step()
            yield

    def _freeze_norms(self, n: int) -> None:
        """Batch norms see a few real images of each class, and keep their statistics for an update."""
        norms = [layer for layer in self._network.modules() if isinstance(layer, _BATCH_NORMS)]
        if norms:
            source, draws = self._problem.source, generator(self._problem.seed, "norm images", n)
            few = torch.cat([pick(images, _NORM_IMAGES, draws) for images in source.by_class])
            with torch.no_grad():
                self._network.train()(source.normalised(few.to(self._problem.device)))
            for layer in norms:
                layer.eval()


class TrainedUntilSteady(TrainedOnSynthetic):
    """A network that trains on S between the updates of a step for as long as that pays (CAFE).

    After each update, and after each epoch on S, its accuracy on fresh real images is measured. The step ends
    when the accuracies after the last updates hardly differ; the training between two updates ends when those
    after its last epochs do differ. The settings say how many updates and epochs there are at most.
    """

    def __init__(self, problem: ImageProblem, settings: "CAFESettings", readout: Readout) -> None:
        super().__init__(
            problem,
            settings.network,
            rounds=settings.outer,
            epochs=settings.inner,
            learning_rate=settings.network_rate,
            batch=settings.train_batch,
            augmented=settings.augmented,
            readout=readout,
        )
        self._settings, self._window = settings, settings.accuracy_window
        self._accuracies: list[float] = []

    def at(self, n: int) -> Encoder:
        """A copy of the network as it is, which trains no more."""
        network = self._network_at(n)
        if n % self._rounds == 0:
            self._accuracies = []
        accuracy = self._accuracies[-1] if self._accuracies else None
        return self._factory.of(copy.deepcopy(network).requires_grad_(False), accuracy)

    def after(self, n: int, synthetic: Synthetic) -> None:
        """Measure the accuracy; train on S, unless the step is at its end."""
        queries = generator(self._problem.seed, "query", n)
        self._accuracies.append(self._accuracy(queries))
        if self.finished(n):
            return
        found: list[float] = []
        for _ in self._train(n, synthetic):
            found.append(self._accuracy(queries))
            if len(found) >= self._window and self._range(found) > self._settings.inner_range:
                return

    def finished(self, n: int) -> bool:
        """Whether the last accuracies hardly differ, or there were as many updates as there may be."""
        if (n + 1) % self._rounds == 0:
            return True
        enough = len(self._accuracies) >= self._window
        return enough and self._range(self._accuracies) < self._settings.outer_range

    def _range(self, accuracies: list[float]) -> float:
        last = accuracies[-self._window :]
        return max(last) - min(last)

    def _accuracy(self, draws: torch.Generator) -> float:
        """The share of right answers on real images, equally many of each class."""
        source, device = self._problem.source, self._problem.device
        drawn = [pick(images, self._settings.query_batch, draws) for images in source.by_class]
        labels = torch.cat([torch.full((len(own),), label) for label, own in enumerate(drawn)]).to(device)
        shown, training = source.normalised(torch.cat(drawn).to(device)), self._network.training
        (logits,) = self._logits.of(self._network.eval()).encode(shown)
        self._network.train(training)
        return int((logits.argmax(dim=1) == labels).sum()) / len(labels)


class TrainedOnReal(Encoders):
    """A fresh network for each step, which learns from real images between the step's updates (IDC).

    Args:
        problem: what is condensed.
        settings: of the learning, among them the network.
        rounds: updates of a step.
        images: that it learns from between two of them.
    """

    replayable = False

    def __init__(self, problem: ImageProblem, settings: ExpertSettings, *, rounds: int, images: int) -> None:
        self._problem, self._settings, self._rounds, self._images = problem, settings, rounds, images
        self._factory = problem.encoder_factory(settings.network, Logits)

    def at(self, n: int) -> Encoder:
        """The network of a step, fresh at its first update."""
        if n % self._rounds == 0:
            fresh = self._problem.fresh_network(self._settings.network, "network", n // self._rounds)
            self._student = Student(fresh, self._factory)
        return self._factory.of(self._student.network)

    def after(self, n: int, synthetic: Synthetic) -> None:
        """Learn from real images, unless the next update has another network."""
        if (n + 1) % self._rounds:
            draws = generator(self._problem.seed, "inner training", n)
            for images, labels in epoch(self._problem, self._settings, draws, self._images):
                self._student.learn(images, labels)

"""CaT and PUMA: synthetic nodes without edges, matched to what real nodes hear from their neighbours."""

import math
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor

from lqm.banks import Sketch, encoder_of_step
from lqm.condensed import CondensedNodes
from lqm.distances import Distance, class_losses, class_targets
from lqm.distances.classes import Group
from lqm.distances.grid import needs
from lqm.engine import Metrics
from lqm.engine.randomness import derive, generator
from lqm.engine.window import Window
from lqm.graphs.encoders import Encoder, fresh_encoder
from lqm.graphs.graph import rows, stacked
from lqm.graphs.matrices import Matrix
from lqm.graphs.methods.result import as_condensed
from lqm.graphs.methods.settings import CaTSettings, PUMASettings
from lqm.graphs.population import Population, chosen_features
from lqm.graphs.sketching import require_same_weights
from lqm.utils.errors import DivergedError

# Real nodes whose embeddings are held at once.
_CHUNK = 32_768


class View(NamedTuple):
    """The real nodes as one encoder saw them: what they leave behind of each class."""

    encoder: Encoder
    targets: list[Group]


class CaT:
    """At each step, match every class's embeddings under one fresh random encoder.

    X' <- Adam(X', gradient of sum over classes of D(phi(A_hat^hops X_c), phi(X'_c)))

    The classes may be those of several tasks: each has nodes, losses and moments of its own, so none of them
    changes what another becomes, and they share the encoder.

    Args:
        real: the training nodes by class.
        distance: D.
        counts: synthetic nodes of each class.
        seed: everything random follows from it.
        settings: those of the method.
        device: where to compute.
    """

    Settings = CaTSettings
    matches = True
    # The settings on which a view depends, and those by which steps come to one; a sketch fixes them all.
    view_settings: ClassVar[tuple[str, ...]] = ("hops", "width", "depth", "activation", "real_batch")
    schedule_settings: ClassVar[tuple[str, ...]] = ("reuse", "window")

    def __init__(
        self,
        real: Population,
        distance: Distance,
        counts: Sequence[int],
        seed: int,
        settings: CaTSettings,
        device: torch.device,
    ) -> None:
        self.real, self.distance, self.counts = real, distance, list(counts)
        self.seed, self.settings, self.device = seed, settings, device
        self._chunks = self._class_chunks()
        self._whole: list[Matrix] | None = None
        self._sketch: Sketch | None = None
        self._window = Window(self._make_view, reuse=settings.reuse, size=settings.window, seed=seed)
        self._take(self._first_features())

    def recall_from(self, sketch: Sketch) -> None:
        """Take encoders, and what they left of the real nodes, from a sketch from now on."""
        self._sketch = sketch

    def step(self, i: int) -> Metrics:
        """The updates by one encoder."""
        encoder, targets = self._recalled(i) if self._sketch else self._window.at(i)
        if self.settings.updates > 1:
            self._renew_optimizer()
        for _ in range(self.settings.updates):
            embeddings = encoder(self.features)
            losses = class_losses(self.distance, targets, embeddings.split(self.counts))
            self._descend(losses)
        return {"loss": losses.mean().item()}

    def state(self) -> dict[str, Tensor]:
        """Features, and the moments of their Adam if it is kept."""
        kept = self._optimizer.state[self.features] if self.settings.updates == 1 else {}
        return {"features": self.features.detach()} | {f"adam.{name}": part for name, part in kept.items()}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up features and moments again."""
        self._take(state["features"])
        moments = {name: part for name, part in state.items() if name.startswith("adam.")}
        for name, part in moments.items():
            # Adam keeps its count of steps on the CPU.
            place = torch.device("cpu") if part.ndim == 0 else self.device
            self._optimizer.state[self.features][name.removeprefix("adam.")] = part.to(place, copy=True)

    def result(self) -> CondensedNodes:
        """The synthetic nodes of all classes."""
        return as_condensed(self.features.detach().cpu().clone(), self.counts, self.real.class_names)

    def encoder(self, seed: int, number: int) -> Encoder:
        """Encoder number n."""
        options = self.settings
        return fresh_encoder(
            self.real.width,
            width=options.width,
            depth=options.depth,
            activation=options.activation,
            seed=seed,
            step=number,
            device=self.device,
        )

    @torch.no_grad()
    def embeddings(self, encoder: Encoder, number: int) -> Iterator[tuple[list[int], list[Tensor]]]:
        """Those of the real nodes of each class under encoder number n, chunk after chunk of classes."""
        for classes, nodes in self._batches(number):
            yield classes, list(encoder(nodes).split([self._size(label) for label in classes]))

    def _make_view(self, number: int) -> View:
        encoder = self.encoder(self.seed, number)
        draws = generator(self.seed, "distance", number)
        targets = []
        for classes, samples in self.embeddings(encoder, number):
            targets += self._targets(classes, samples, draws)
        return View(encoder, targets)

    def _recalled(self, step: int) -> View:
        """The view of the sketch that a step draws."""
        assert self._sketch is not None
        number = encoder_of_step(self.seed, step, self._sketch.encoders)
        encoder, shard = self.encoder(self._sketch.config["seed"], number), self._sketch[number]
        require_same_weights(encoder, shard)
        kind = "mean" if needs(self.distance) == "mean" else "grid"
        classes = list(range(len(self.counts)))
        samples = [torch.atleast_2d(shard[f"{kind}.{label}"]).to(self.device) for label in classes]
        return View(encoder, self._targets(classes, samples))

    def _targets(
        self, classes: list[int], samples: list[Tensor], draws: torch.Generator | None = None
    ) -> list[Group]:
        counts = [self.counts[label] for label in classes]
        groups = class_targets(self.distance, samples, counts, draws)
        return [Group([classes[c] for c in group.classes], group.target) for group in groups]

    def _size(self, label: int) -> int:
        size = self.real.sizes[label]
        return min(size, self.settings.real_batch) if self.settings.real_batch else size

    def _batches(self, i: int) -> list[tuple[list[int], Matrix]]:
        """The real nodes of step i, several classes at once: all of them, or a few drawn for the step."""
        if self.settings.real_batch:
            draws = np.random.Generator(np.random.SFC64(derive(self.seed, "batch", i)))
            return [(chunk, self._matrix(chunk, draws)) for chunk in self._chunks]
        if self._whole is None:
            self._whole = [self._matrix(chunk) for chunk in self._chunks]
        return list(zip(self._chunks, self._whole, strict=True))

    def _class_chunks(self) -> list[list[int]]:
        """Classes in order, as many at once as have few enough nodes together."""
        chunks: list[list[int]] = [[]]
        nodes = 0
        for label in range(len(self.counts)):
            nodes += self._size(label)
            if chunks[-1] and nodes > _CHUNK:
                chunks.append([])
                nodes = self._size(label)
            chunks[-1].append(label)
        return chunks

    def _matrix(self, classes: list[int], draws: np.random.Generator | None = None) -> Matrix:
        parts = []
        for label in classes:
            propagated, size = self.real.propagated[label], self._size(label)
            if draws is not None and size < propagated.shape[0]:
                drawn = draws.choice(propagated.shape[0], size, replace=False, shuffle=False)
                propagated = rows(propagated, torch.from_numpy(drawn))
            parts.append(propagated)
        return Matrix(stacked(parts), self.device)

    def _descend(self, losses: Tensor) -> None:
        if not losses.isfinite().all():
            worst = int(losses.isfinite().float().argmin())
            raise DivergedError(
                f"the loss of class '{self.real.class_names[worst]}' became {losses[worst].item()}"
            )
        self._optimizer.zero_grad()
        losses.sum().backward()
        self._optimizer.step()

    def _take(self, features: Tensor) -> None:
        self.features = features.to(self.device, copy=True).requires_grad_()
        self._renew_optimizer()

    def _renew_optimizer(self) -> None:
        self._optimizer = torch.optim.Adam([self.features], lr=self.settings.learning_rate)

    def _first_features(self) -> Tensor:
        """Real nodes of each class as they are, or Glorot's noise; no class looks at another."""
        if self.settings.start != "noise":
            return chosen_features(self.settings.start, self.real, self.counts, self.seed)
        parts = []
        for name, count in zip(self.real.class_names, self.counts, strict=True):
            bound = math.sqrt(6 / (count + self.real.width))
            drawn = torch.rand(count, self.real.width, generator=generator(self.seed, f"noise of {name}"))
            parts.append(bound * (2 * drawn - 1))
        return torch.cat(parts)


class PUMA(CaT):
    """CaT with wide encoders, few of them, each used for several updates."""

    Settings = PUMASettings

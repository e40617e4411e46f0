"""CaT and PUMA: synthetic nodes without edges, matched to what real nodes hear from their neighbours."""

import math
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
import torch
from pydantic import Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.distances import Distance, class_losses, class_targets
from lqm.distances.classes import Group
from lqm.engine import Metrics
from lqm.engine.randomness import derive, generator
from lqm.errors import DivergedError
from lqm.graphs.encoders import Activation, Encoder, fresh_encoder
from lqm.graphs.graph import rows, stacked
from lqm.graphs.matrices import Matrix
from lqm.graphs.methods.result import as_condensed
from lqm.graphs.population import Population, chosen_features
from lqm.settings import Count, Positive

# Real nodes whose embeddings are held at once.
_CHUNK = 32_768

Hops = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, config={"extra": "forbid"})
class CaTSettings:
    """Liu et al. 2023, "CaT: balanced continual graph learning with graph condensation"; as its code.

    Attributes:
        steps: random encoders, one a step.
        learning_rate: Adam's, of the features.
        hops: how often the real nodes hear their neighbours, once and for all.
        width: of the encoder.
        depth: layers of the encoder.
        updates: of the synthetic nodes by each encoder; with more than one, each encoder has an Adam anew.
        real_batch: real nodes of each class in a step; 0 for all of them.
        start: the real nodes, or the noise, that the synthetic ones are at first.
    """

    steps: Count = 3_000
    learning_rate: Positive = 1e-3
    hops: Hops = 1
    width: Count = 512
    depth: Count = 1
    activation: Activation = "relu"
    updates: Count = 1
    real_batch: Annotated[int, Field(ge=0)] = 0
    start: Literal["random", "noise", "herding", "k-centre", "k-means"] = "random"


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
        self._take(self._first_features())

    def step(self, i: int) -> Metrics:
        """The updates by encoder i."""
        options = self.settings
        encoder = fresh_encoder(
            self.real.width,
            width=options.width,
            depth=options.depth,
            activation=options.activation,
            seed=self.seed,
            step=i,
            device=self.device,
        )
        targets = self._targets(encoder, i)
        if options.updates > 1:
            self._renew_optimizer()
        for _ in range(options.updates):
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

    @torch.no_grad()
    def _targets(self, encoder: Encoder, i: int) -> list[Group]:
        """What the real side of each class leaves behind, chunk after chunk of classes."""
        draws = generator(self.seed, "distance", i)
        targets = []
        for classes, nodes in self._batches(i):
            sizes = [self._size(label) for label in classes]
            counts = [self.counts[label] for label in classes]
            groups = class_targets(self.distance, encoder(nodes).split(sizes), counts, draws)
            targets += [Group([classes[c] for c in group.classes], group.target) for group in groups]
        return targets

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
            heard, size = self.real.heard[label], self._size(label)
            if draws is not None and size < heard.shape[0]:
                drawn = draws.choice(heard.shape[0], size, replace=False, shuffle=False)
                heard = rows(heard, torch.from_numpy(drawn))
            parts.append(heard)
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


@dataclass(frozen=True, config={"extra": "forbid"})
class PUMASettings(CaTSettings):
    """Liu et al. 2024, "PUMA: efficient continual graph learning for node classification"; as its code."""

    steps: Count = 100
    width: Count = 4_096
    updates: Count = 10


class PUMA(CaT):
    """CaT with wide encoders, few of them, each used for several updates."""

    Settings = PUMASettings

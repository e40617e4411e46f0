"""DM: distribution matching with a fresh random network at every step."""

import math
from typing import Annotated, Literal

import torch
from pydantic import Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from lqm.condensed import CondensedSet
from lqm.distances import Distance, class_losses, class_targets
from lqm.engine import Metrics
from lqm.engine.randomness import generator, seeded
from lqm.errors import DivergedError
from lqm.images.augment import augment, draw
from lqm.images.networks import ConvNet, embed_in_chunks
from lqm.images.sources import ImageSource, pick


@dataclass(frozen=True, config={"extra": "forbid"})
class DMSettings:
    """Zhao & Bilen 2023, "Dataset condensation with distribution matching"; defaults are the paper's."""

    steps: Annotated[int, Field(ge=1)] = 20_000
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.5
    real_batch: Annotated[int, Field(ge=1)] = 256
    start: Literal["real", "noise"] = "real"
    width: Annotated[int, Field(ge=1)] = 128
    depth: Annotated[int, Field(ge=1, le=3)] = 3


class DM:
    """At each step, match every class's features under one fresh random network and one shared transform.

    S <- clip(S - learning_rate * gradient of sum over classes of D(phi(A(T_c)), phi(A(S_c))))

    The clip to legal pixels is ours: what is matched is then what the user gets.
    """

    Settings = DMSettings

    def __init__(
        self,
        source: ImageSource,
        distance: Distance,
        per_class: int,
        seed: int,
        settings: DMSettings,
        device: torch.device,
    ) -> None:
        self._source, self._distance, self._per_class = source, distance, per_class
        self._seed, self._settings, self._device = seed, settings, device
        self._classes = len(source.class_names)
        classes = [source.train.of_class(c) for c in range(self._classes)]
        self._real = [source.normalised(pictures).to(device) for pictures in classes]
        self._low, self._high = (source.normalised(torch.full((1, 1), v)).to(device) for v in (0.0, 1.0))
        self._synthetic = self._first_pictures().to(device).requires_grad_()
        self._optimizer = torch.optim.SGD(
            [self._synthetic], lr=settings.learning_rate, momentum=settings.momentum
        )

    def step(self, i: int) -> Metrics:
        """One update of all synthetic pictures."""
        with seeded(self._seed, "network", i):
            network = ConvNet(self._source.shape, self._classes, self._settings.width, self._settings.depth)
        network = network.to(self._device).requires_grad_(False)
        draws = generator(self._seed, "batch", i)
        real, synthetic = [], []
        for pictures, own in zip(self._real, self._synthetic, strict=True):
            batch = pick(pictures, self._settings.real_batch, draws)
            record = draw(self._source.augmentation, draws)
            real.append(augment(batch, record))
            synthetic.append(augment(own, record))
        features = embed_in_chunks(network, torch.cat(real)).split([len(batch) for batch in real])
        targets = class_targets(self._distance, features, [self._per_class] * self._classes, draws)
        own_features = network.embed(torch.cat(synthetic)).split(self._per_class)
        losses = class_losses(self._distance, targets, own_features)
        self._require_finite(losses)
        self._optimizer.zero_grad()
        losses.sum().backward()
        self._optimizer.step()
        with torch.no_grad():
            self._synthetic.clamp_(self._low, self._high)
        return {"loss": losses.mean().item()}

    def state(self) -> dict[str, Tensor]:
        """Pictures and momentum."""
        momentum = self._optimizer.state[self._synthetic].get("momentum_buffer")
        return {"images": self._synthetic.detach()} | ({} if momentum is None else {"momentum": momentum})

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up pictures and momentum again."""
        self._synthetic.data.copy_(state["images"])
        self._optimizer.state.clear()
        if "momentum" in state:
            self._optimizer.state[self._synthetic]["momentum_buffer"] = state["momentum"].to(self._device)

    def result(self) -> CondensedSet:
        """The pictures, back in pixels."""
        mean, std = (part.view(-1, 1, 1) for part in (self._source.mean, self._source.std))
        images = self._synthetic.detach().cpu().flatten(0, 1) * std + mean
        return CondensedSet(
            images=images.clamp(0, 1),
            labels=torch.arange(self._classes).repeat_interleave(self._per_class),
            class_names=self._source.class_names,
            manifest={"preprocessing": self._source.preprocessing},
        )

    def _first_pictures(self) -> Tensor:
        """Random real pictures of each class, or noise, [classes, per_class, C, H, W], normalised."""
        draws = generator(self._seed, "start")
        if self._settings.start == "noise":
            return torch.randn(self._classes, self._per_class, *self._source.shape, generator=draws)
        return torch.stack([pick(pictures, self._per_class, draws) for pictures in self._real])

    def _require_finite(self, losses: Tensor) -> None:
        for name, loss in zip(self._source.class_names, losses.tolist(), strict=True):
            if not math.isfinite(loss):
                raise DivergedError(f"the loss of class '{name}' became {loss}")

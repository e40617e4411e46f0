"""S in S* = argmin D(phi(T), phi(S)), of images: how they start, how they move, what the user gets."""

from collections.abc import Sequence

import torch
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.condensed.mosaic import compose, expand
from lqm.engine.randomness import generator
from lqm.images.augment import Record, augment
from lqm.images.methods.coreset import Coreset, CoresetSettings, Herding, KCentre, KMeans, train_and_choose
from lqm.images.methods.result import as_condensed
from lqm.images.methods.settings import MatchingSettings
from lqm.images.networks import NetworkMaker
from lqm.images.sources import ImageSource, pick

_STARTS: dict[str, type[Coreset]] = {kind.rule: kind for kind in (Herding, KCentre, KMeans)}


class SyntheticImages:
    """Images that are learned, and the optimiser that moves them.

    They are kept normalised, and clipped to legal pixels after each update: what is matched is then what the
    user gets. They are made when they are first needed, so that a run that is taken up again does not choose
    its start anew.

    Args:
        source: what they stand for.
        per_class: how many of each class.
        mosaic: images in a row and in a column of each synthetic one.
        seed: of the start.
        settings: the start, the learning rate and the momentum.
        device: where they are.
        network: by whose features a start other than random is chosen.
    """

    def __init__(
        self,
        source: ImageSource,
        per_class: int,
        mosaic: int,
        seed: int,
        settings: MatchingSettings,
        device: torch.device,
        network: str | NetworkMaker,
    ) -> None:
        self._source, self._per_class, self._mosaic, self._seed = source, per_class, mosaic, seed
        self._settings, self._device, self._network = settings, device, network
        self._low, self._high = (source.normalised(torch.full((1, 1), v)).to(device) for v in (0.0, 1.0))
        self._tensor: Tensor | None = None
        self._chosen: list[Tensor] | None = None

    @property
    def tensor(self) -> Tensor:
        """The images, normalised, [classes, per_class, C, H, W]."""
        if self._tensor is None:
            self._take(self._first())
        assert self._tensor is not None
        return self._tensor

    def records(self, classes: Sequence[int], transforms: Sequence[Record]) -> Tensor:
        """The cells of all images of some classes, each class under its transform."""
        return torch.cat(
            [augment(expand(self.tensor[label], self._mosaic), transforms[label]) for label in classes]
        )

    def move(self) -> None:
        """One update along the gradient that has gathered."""
        self._optimizer.step()
        self._optimizer.zero_grad()
        with torch.no_grad():
            self.tensor.clamp_(self._low, self._high)

    def start_chooser(self) -> Coreset:
        """The coreset that chooses the start; who lets it learn hands what it chose to `start_from`."""
        settings = CoresetSettings(steps=self._settings.start_steps)
        kind, count = _STARTS[self._settings.start], self._per_class * self._mosaic**2
        return kind(self._source, None, count, self._seed, settings, self._device, self._network)

    def start_from(self, chosen: list[Tensor]) -> None:
        """Begin with these images of each class, in [0, 1]."""
        self._chosen = chosen

    def state(self) -> dict[str, Tensor]:
        """Images and momentum."""
        images = {"images": self.tensor.detach()}
        momentum = self._optimizer.state[self.tensor].get("momentum_buffer")
        return images if momentum is None else images | {"momentum": momentum}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up images and momentum again."""
        self._take(state["images"])
        if "momentum" in state:
            momentum = state["momentum"].to(self._device, copy=True)
            self._optimizer.state[self.tensor]["momentum_buffer"] = momentum

    def result(self) -> CondensedImages:
        """The images, back in pixels."""
        mean, std = (part.view(-1, 1, 1) for part in (self._source.mean, self._source.std))
        images = (self.tensor.detach().cpu() * std + mean).clamp(0, 1)
        return as_condensed(images, self._source, **({"mosaic": self._mosaic} if self._mosaic > 1 else {}))

    def _take(self, images: Tensor) -> None:
        self._tensor = images.to(self._device, copy=True).requires_grad_()
        self._optimizer = torch.optim.SGD(
            [self._tensor], lr=self._settings.learning_rate, momentum=self._settings.momentum
        )

    def _first(self) -> Tensor:
        """Noise, or real images of each class, as many in each as a mosaic has cells."""
        draws = generator(self._seed, "start")
        source, count = self._source, self._per_class * self._mosaic**2
        if self._settings.start == "noise":
            return torch.randn(len(source.class_names), self._per_class, *source.shape, generator=draws)
        if self._settings.start == "random":
            chosen = [pick(images, count, draws) for images in source.by_class]
        else:
            chosen = self._chosen or train_and_choose(self.start_chooser())
        # A class that has too few images for all cells gives some of them twice.
        filled = [images[torch.arange(count) % len(images)] for images in chosen]
        return torch.stack([compose(source.normalised(images), self._mosaic) for images in filled])

"""What is to be condensed, of images."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.engine.compute import Compute
from lqm.engine.randomness import seeded
from lqm.images.networks import (
    EncoderFactory,
    Network,
    NetworkMaker,
    Readout,
    encoder_factory,
    make_network,
    uses_batch_statistics,
)
from lqm.images.sources import ImageSource
from lqm.methods.problem import Problem
from lqm.utils.errors import ConfigError

# The gradient of a class never touches another, so a long list of classes may be processed in groups.
REAL_AT_ONCE, SYNTHETIC_AT_ONCE = 4096, 512


def preprocessed(source: ImageSource, settings: Any) -> ImageSource:
    """The source as settings want networks to see it: whitened if they have `zca`.

    Raises:
        ConfigError: when it is whitened already, and the settings do not want it to be.
    """
    if getattr(settings, "zca", False):
        return source.whitened()
    if source.zca:
        raise ConfigError(
            f"'{source.name}' is whitened, which these settings do not record; give the source as it was, "
            "with zca = true where there is such a setting"
        )
    return source


@dataclass(frozen=True, eq=False, kw_only=True)
class ImageProblem(Problem):
    """Images to condense, and the networks by which.

    Attributes:
        source: the real images.
        network: a function of the user's own that makes networks, in place of the one in the settings.
        compute: how networks are run.
        at_once: images that go through a network at once with gradients; all if there is no limit of memory.
    """

    source: ImageSource
    network: NetworkMaker | None = None
    compute: Compute = field(default_factory=Compute)
    at_once: int | None = None

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.class_names)

    @property
    def per_class(self) -> int:
        """Synthetic images of each class."""
        return self.counts[0]

    def condensed(self, images: Tensor, **manifest: Any) -> CondensedImages:
        """The set of these pixels in [0, 1], [classes, per_class, C, H, W]."""
        return CondensedImages(
            data=images.flatten(0, 1),
            labels=torch.arange(len(images)).repeat_interleave(images.shape[1]),
            class_names=self.class_names,
            manifest={"preprocessing": self.source.preprocessing, **manifest},
            whitening=self.source.whitening,
        )

    def fresh_network(self, spec: str, purpose: str, index: int) -> Network:
        """A network with weights of its own for each (purpose, index)."""
        with seeded(self.seed, purpose, index):
            network = make_network(self.network or spec, self.source.shape, self.classes)
        return network.to(self.device)

    def encoder_factory(self, spec: str, readout: Readout) -> EncoderFactory:
        """What makes encoders of networks of a spec; shared by all runs, so that it compiles once."""
        kind = repr(self.fresh_network(spec, "check", 0)), self.source.shape
        return encoder_factory(kind, readout, self.compute, self.at_once)

    def readout_shapes(self, spec: str, readout: Readout) -> list[torch.Size]:
        """The shape of each tensor that a readout gives of one image, by networks of a spec."""
        module = readout(self.fresh_network(spec, "check", 0).eval())
        with torch.no_grad():
            found = module(torch.zeros(1, *self.source.shape, device=self.device))
        return [part.shape[1:] for part in found]

    def class_groups(
        self, spec: str, real: int, synthetic: int, *, per_class: bool = False
    ) -> list[Sequence[int]]:
        """Classes that are processed together: a few at a time where all would take much memory.

        Args:
            spec: of the networks; where these use batch statistics, all classes go together.
            real: images of each class on the real side.
            synthetic: images of each class on the synthetic side.
            per_class: whether each class is updated by itself.
        """
        together = max(1, min(REAL_AT_ONCE // max(1, real), SYNTHETIC_AT_ONCE // synthetic))
        if per_class:
            together = 1
        elif uses_batch_statistics(self.fresh_network(spec, "check", 0)):
            together = self.classes
        classes = range(self.classes)
        return [classes[first : first + together] for first in range(0, self.classes, together)]

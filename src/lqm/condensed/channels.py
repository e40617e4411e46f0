"""The field's normalisation: each channel less its mean, by its standard deviation."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Channels:
    """Mean and standard deviation of each channel, [C]."""

    mean: Tensor
    std: Tensor

    @classmethod
    def of(cls, images: Tensor) -> "Channels":
        """Those of images [N, C, H, W] as they are stored; a constant channel has deviation 1.

        Those of uint8 pixels follow from the counts of their 256 values.
        """
        if images.is_floating_point():
            constant = images.amax(dim=(0, 2, 3)) == images.amin(dim=(0, 2, 3))
            std = images.std(dim=(0, 2, 3), correction=0).masked_fill(constant, 1.0)
            return cls(images.mean(dim=(0, 2, 3)), std)
        channels = [channel.flatten() for channel in images.unbind(dim=1)]
        shares = torch.stack([c.bincount(minlength=256).double() / len(c) for c in channels])
        values = torch.arange(256) / 255.0
        mean = (shares * values).sum(dim=1)
        std = ((values - mean[:, None]).square() * shares).sum(dim=1).sqrt()
        return cls(mean.float(), std.masked_fill(shares.amax(dim=1) == 1, 1.0).float())

    @property
    def record(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {"mean": self.mean.tolist(), "std": self.std.tolist()}

    def apply(self, images: Tensor) -> Tensor:
        """Normalise pixels in [0, 1], [..., C, H, W]."""
        mean, std = self._broadcast(images)
        return (images - mean) / std

    def undo(self, images: Tensor) -> Tensor:
        """Pixels of normalised images."""
        mean, std = self._broadcast(images)
        return images * std + mean

    def clip(self, images: Tensor) -> Tensor:
        """Normalised images with their pixels brought into [0, 1]."""
        mean, std = self._broadcast(images)
        return images.clamp((0 - mean) / std, (1 - mean) / std)

    def _broadcast(self, images: Tensor) -> tuple[Tensor, Tensor]:
        return self.mean.view(-1, 1, 1).to(images), self.std.view(-1, 1, 1).to(images)

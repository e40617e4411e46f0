"""The field's normalisation: each channel less its mean, by its standard deviation."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lqm.utils.stored_arrays import LazyArray, Records, chunks


@dataclass(frozen=True, eq=False)
class Channels:
    """Mean and standard deviation of each channel, [C]."""

    mean: Tensor
    std: Tensor

    @classmethod
    def of(cls, images: Records) -> "Channels":
        """Those of images [N, C, H, W] as they are stored; a constant channel has deviation 1.

        Those of uint8 pixels follow from the counts of their 256 values, and those of floats in a file from
        sums in double precision.
        """
        if images.is_floating_point():
            if not isinstance(images, Tensor):
                return cls._of_parts(images)
            constant = images.amax(dim=(0, 2, 3)) == images.amin(dim=(0, 2, 3))
            std = images.std(dim=(0, 2, 3), correction=0).masked_fill(constant, 1.0)
            return cls(images.mean(dim=(0, 2, 3)), std)
        counts = torch.zeros(images.shape[1], 256, dtype=torch.int64)
        for part in chunks(images):
            for count, channel in zip(counts, part.unbind(dim=1), strict=True):
                count += channel.flatten().bincount(minlength=256)
        shares = counts.double() / (images.numel() // images.shape[1])
        values = torch.arange(256) / 255.0
        mean = (shares * values).sum(dim=1)
        std = ((values - mean[:, None]).square() * shares).sum(dim=1).sqrt()
        return cls(mean.float(), std.masked_fill(shares.amax(dim=1) == 1, 1.0).float())

    @classmethod
    def _of_parts(cls, images: LazyArray) -> "Channels":
        channels, count = images.shape[1], images.numel() // images.shape[1]
        totals = torch.zeros(2, channels, dtype=torch.float64)
        low, high = torch.full((channels,), torch.inf), torch.full((channels,), -torch.inf)
        for part in chunks(images):
            own = part.double()
            totals += torch.stack([power.sum(dim=(0, 2, 3)) for power in (own, own.square())])
            low, high = low.minimum(part.amin(dim=(0, 2, 3))), high.maximum(part.amax(dim=(0, 2, 3)))
        mean, square = totals / count
        std = (square - mean.square()).clamp_min(0).sqrt().masked_fill(low == high, 1.0)
        return cls(mean.float(), std.float())

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

"""Sketches: what many encoders leave behind of the real data, made once and used by many condensations."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lqm.banks.bank import Bank, BankKind
from lqm.banks.shard import Shard
from lqm.distances import Distance
from lqm.distances.distance import Needs
from lqm.distances.grid import needs, quantile_grid
from lqm.utils.errors import ArtifactError
from lqm.utils.settings import Count, check

SKETCH = BankKind("a sketch", "lqm sketch", "encoder", "sketched")
# Quantiles for each synthetic record at the largest budget: an odd number makes that budget's exact.
FINENESS = 3


class Sketch(Bank):
    """The finished encoders of a folder.

    Attributes:
        encoders: how many are used: all that there are, or fewer.

    Args:
        path: the folder.
        encoders: how many to use at most.

    Raises:
        ArtifactError: when the folder holds no sketch, or one without an encoder, or one of them is missing.
    """

    def __init__(self, path: str | Path, encoders: int | None = None) -> None:
        check("encoders", encoders, Count | None)
        super().__init__(path, SKETCH)
        if not self.paths:
            raise ArtifactError(
                f"the sketch in {self.path} has no encoder yet; let `lqm sketch` go on with it"
            )
        there = 1 + max(number for (number,) in self.paths)
        self.encoders = there if encoders is None else min(there, encoders)
        for number in range(self.encoders):
            self.require((number,))
            # A file that was cut short is found before the run begins, any other damage when it is used.
            self.shard(number, check=False)

    def __getitem__(self, number: int) -> Shard:
        """Encoder number n."""
        return self.shard(number)

    @property
    def identity(self) -> dict[str, Any]:
        """What a condensation by this sketch depends on."""
        keys = [(number,) for number in range(self.encoders)]
        return {"sha256": self.identity_of(keys), "encoders": self.encoders}


def sketch_config(
    source: Mapping[str, Any], method: str, max_per_class: int, seed: int, settings: dict[str, Any]
) -> dict[str, Any]:
    """What makes a sketch this sketch."""
    return {
        "source": dict(source),
        "method": method,
        "max_per_class": max_per_class,
        "fineness": FINENESS,
        "seed": seed,
        "settings": settings,
    }


def summary(samples: Sequence[Sequence[Tensor]], classes: Sequence[int], size: int) -> dict[str, Tensor]:
    """What a sketch keeps of samples, by readout and class: at most `size` quantiles, and the mean."""
    return {
        name: value
        for number, readout in enumerate(samples)
        for label, sample in zip(classes, readout, strict=True)
        for name, value in (
            (f"grid.{number}.{label}", quantile_grid(sample, size)),
            (f"mean.{number}.{label}", sample.mean(dim=0)),
        )
    }


def stored_samples(
    shard: Shard, classes: Sequence[int], distances: Sequence[Distance], device: torch.device
) -> list[list[Tensor]]:
    """What stands for the real samples of some classes in a shard, by readout, as its distance needs it."""
    return [
        [_needed(shard, number, label, needs(distance)).to(device) for label in classes]
        for number, distance in enumerate(distances)
    ]


def readouts_in(shard: Shard) -> int:
    """How many readouts a shard has samples of."""
    numbers = (name.split(".")[1:-1] for name in shard.names if name.startswith("mean."))
    return 1 + max(int(number[0]) if number else 0 for number in numbers)


def _needed(shard: Shard, number: int, label: int, need: Needs) -> Tensor:
    """What stands for one sample; for its mean and shape, the grid is moved to the mean of the sample."""
    if need == "mean":
        return _sample(shard, _name(shard, "mean", number, label))
    grid = _sample(shard, _name(shard, "grid", number, label))
    if need != "mean and shape":
        return grid
    return grid - grid.mean(dim=0) + _sample(shard, _name(shard, "mean", number, label))


def _sample(shard: Shard, name: str) -> Tensor:
    """A stored sample, [n, F]; ValueError if it can't be one."""
    found: Tensor = torch.atleast_2d(shard[name])
    if found.dtype != torch.float32 or found.ndim != 2 or not found.numel() or not found.isfinite().all():
        raise ValueError(f"'{name}' should be finite float32 numbers of shape [n, F]")
    return found


def _name(shard: Shard, kind: str, number: int, label: int) -> str:
    """The name of a stored sample; earlier sketches of graphs, with one readout, leave its number out."""
    name = f"{kind}.{number}.{label}"
    return name if name in shard.names else f"{kind}.{label}"

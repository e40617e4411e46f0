"""ZCA whitening of images, in place of a normalisation channel by channel."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import torch
from torch import Tensor

from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory
from lqm.utils.pixels import pixels
from lqm.utils.stored_arrays import Records

# Of the MTT family: added to every eigenvalue, so that directions in which images hardly differ stay small.
_ADDED = 0.1
# Numbers of an image, such as 3 x 64 x 64; their covariances are that squared.
MOST_NUMBERS = 12_288
# Measured: the covariance, its eigenvectors and the workspace for them in double precision, and the matrices
# that are kept in single precision.
_BYTES_A_COVARIANCE = 48
_AT_ONCE = 4096
_PREFIX = "whitening."


@dataclass(frozen=True, eq=False)
class Whitening:
    """Makes the numbers of an image, d of them, uncorrelated, and almost of variance 1.

    With the covariance U diag(s) U' of the training images in [0, 1]:

        y = (x - mean) U diag(1 / sqrt(s + 0.1)) U'

    Attributes:
        mean: of the training images, [d].
        basis: U, the eigenvectors of their covariance as columns, [d, d].
        spectrum: s, the eigenvalues, [d].
    """

    mean: Tensor = field(repr=False)
    basis: Tensor = field(repr=False)
    spectrum: Tensor = field(repr=False)

    @classmethod
    def of(cls, images: Records) -> "Whitening":
        """Fit to images [N, C, H, W] as they are stored, in double precision.

        Raises:
            DataError: when they are too large.
        """
        require_whitenable(images.shape[1:])
        sums = (pixels(part).flatten(1).double().sum(dim=0) for part in images.split(_AT_ONCE))
        mean = sum(sums) / len(images)
        assert isinstance(mean, Tensor)
        covariance = torch.zeros(len(mean), len(mean), dtype=torch.float64)
        for part in images.split(_AT_ONCE):
            centred = pixels(part).flatten(1).double() - mean
            covariance.addmm_(centred.T, centred)
        spectrum, basis = torch.linalg.eigh(covariance.div_(max(1, len(images) - 1)))
        return cls(mean.float(), basis.float().contiguous(), spectrum.clamp_min_(0).float())

    @classmethod
    def of_tensors(cls, tensors: Mapping[str, Tensor]) -> "Whitening | None":
        """That of a tensor file, if it has one."""
        if f"{_PREFIX}mean" not in tensors:
            return None
        return cls(**{name: tensors[_PREFIX + name] for name in ("mean", "basis", "spectrum")})

    def tensors(self) -> dict[str, Tensor]:
        """What is written to a tensor file, by name."""
        return {_PREFIX + name: tensor for name, tensor in self._parts.items()}

    @property
    def record(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {"kind": "zca", "sha256": self.digest}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all its numbers."""
        digest = hashlib.sha256()
        for tensor in self._parts.values():
            digest.update(tensor.contiguous().numpy().data)
        return digest.hexdigest()

    def apply(self, images: Tensor) -> Tensor:
        """Whiten pixels in [0, 1], [..., C, H, W]."""
        flat = images.flatten(-3) - self.mean.to(images)
        return (flat @ self._whitens.to(images)).view_as(images)

    def undo(self, images: Tensor) -> Tensor:
        """Pixels of whitened images."""
        flat = images.flatten(-3) @ self._colours.to(images) + self.mean.to(images)
        return flat.view_as(images)

    def clip(self, images: Tensor) -> Tensor:
        """Whitened images with their pixels brought into [0, 1]."""
        return self.apply(self.undo(images).clamp(0, 1))

    @property
    def _parts(self) -> dict[str, Tensor]:
        return {"mean": self.mean, "basis": self.basis, "spectrum": self.spectrum}

    @cached_property
    def _whitens(self) -> Tensor:
        return (self.basis * (self.spectrum + _ADDED).rsqrt()) @ self.basis.T

    @cached_property
    def _colours(self) -> Tensor:
        return (self.basis * (self.spectrum + _ADDED).sqrt()) @ self.basis.T


def require_whitenable(shape: tuple[int, ...]) -> None:
    """Refuse to whiten images [C, H, W] that are too large for it, or for the limit of memory.

    Raises:
        DataError: when they are.
    """
    numbers, size = prod(shape), " x ".join(map(str, shape))
    if numbers > MOST_NUMBERS:
        raise DataError(
            f"images of {size} pixels are too large to be whitened, {numbers:,} numbers each; zca is for "
            f"{MOST_NUMBERS:,} at most, such as 3 x 64 x 64: give a smaller size, or leave zca out"
        )
    require_memory(_BYTES_A_COVARIANCE * numbers**2, f"the whitening (zca) of images of {size} pixels")


def wrong_whitening(tensors: Mapping[str, Tensor], manifest: Mapping[str, Any], numbers: int) -> str:
    """What is wrong with the whitening in a tensor file of images of so many numbers, if something is."""
    said = manifest.get("preprocessing", {})
    found = {name: tensor for name, tensor in tensors.items() if name.startswith(_PREFIX)}
    if said.get("kind") != "zca":
        return f"'{next(iter(found))}' has no part in images that are not whitened" if found else ""
    shapes = {"mean": [numbers], "basis": [numbers, numbers], "spectrum": [numbers]}
    for name, shape in shapes.items():
        tensor = found.get(_PREFIX + name)
        if tensor is None or tensor.dtype != torch.float32 or [*tensor.shape] != shape:
            is_ = f"{tensor.dtype} {[*tensor.shape]}" if tensor is not None else "missing"
            return f"'{_PREFIX}{name}' is {is_}, and should be float32 of shape {shape}"
        if not tensor.isfinite().all() or (name == "spectrum" and (tensor < 0).any()):
            return f"'{_PREFIX}{name}' holds NaN, infinite or negative numbers"
    whitening = Whitening.of_tensors(found)
    assert whitening is not None
    if said.get("sha256") != whitening.digest:
        return "whitening is not the one that the manifest's 'preprocessing.sha256' says"
    return ""

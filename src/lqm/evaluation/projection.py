"""Latent features in two dimensions: as they lie along the principal components of the real ones."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Plane:
    """The two directions in which real features vary most.

    Attributes:
        centre: the mean of the real features, [F].
        axes: orthonormal directions, [F, 2]; 0 where features vary in fewer.
        explained: the share of the variance along each.
    """

    centre: Tensor
    axes: Tensor
    explained: tuple[float, float]

    def coordinates(self, features: Tensor) -> Tensor:
        """Where features lie in the plane.

        Shapes: features [n, F]; result [n, 2].
        """
        return (features.double() - self.centre) @ self.axes


def principal_plane(real: Tensor) -> Plane:
    """The plane of the first two principal components (Pearson 1901).

    Formula: the eigenvectors of (X - mean)^T (X - mean) with the two largest eigenvalues; the largest
    component of each is positive

    Shapes: real [n, F].

    Example:
        >>> plane = principal_plane(torch.tensor([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]]))
        >>> plane.explained, plane.coordinates(torch.tensor([[5.0, 1.0]])).tolist()
        ((1.0, 0.0), [[3.0, 0.0]])
    """
    centre = real.double().mean(dim=0)
    centred = real.double() - centre
    # The smaller of both products has the same eigenvalues.
    wide = centred.shape[1] > centred.shape[0]
    values, vectors = torch.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
    found = vectors.flip(1)[:, :2]
    directions = centred.T @ found if wide else found
    variances = values.flip(0)[:2].clamp_min(0)
    total = float(centred.square().sum())
    axes = torch.zeros(centred.shape[1], 2, dtype=torch.float64)
    shares = [0.0, 0.0]
    for number in range(len(variances)):
        shares[number] = float(variances[number]) / total if total else 0.0
        # What is left by rounding is no direction.
        if shares[number] > 1e-12:
            axis = directions[:, number] / directions[:, number].norm()
            axes[:, number] = axis * axis[axis.abs().argmax()].sign()
        else:
            shares[number] = 0.0
    return Plane(centre, axes, (shares[0], shares[1]))

"""Choosing real records that stand for a class: baselines, and places to start from.

Every rule takes the latent features of a class, [n, F], and gives the numbers of `count` distinct records.
"""

from collections.abc import Callable

import torch
from sklearn.cluster import KMeans
from torch import Tensor

Rule = Callable[[Tensor, int, torch.Generator], Tensor]


def herding(features: Tensor, count: int, draws: torch.Generator) -> Tensor:
    """Greedily the records whose mean stays nearest to that of the class (Welling 2009).

    Formula: x_t = argmin over x of ||mean - (x_1 + ... + x_(t-1) + x) / t||
    """
    mean, total = features.mean(dim=0), torch.zeros_like(features[0])
    free = torch.ones(len(features), dtype=torch.bool, device=features.device)
    chosen: list[int] = []
    for t in range(1, count + 1):
        distances = ((total + features) / t - mean).norm(dim=1)
        chosen.append(int(distances.where(free, torch.inf).argmin()))
        free[chosen[-1]] = False
        total = total + features[chosen[-1]]
    return torch.tensor(chosen)


def k_centre(features: Tensor, count: int, draws: torch.Generator) -> Tensor:
    """The record nearest to the mean, then greedily the one farthest from all chosen (Gonzalez 1985)."""
    chosen = [int((features - features.mean(dim=0)).norm(dim=1).argmin())]
    nearest = torch.full((len(features),), torch.inf, device=features.device)
    while len(chosen) < count:
        nearest = nearest.minimum((features - features[chosen[-1]]).norm(dim=1))
        nearest[chosen[-1]] = -1.0
        chosen.append(int(nearest.argmax()))
    return torch.tensor(chosen)


def k_means(features: Tensor, count: int, draws: torch.Generator) -> Tensor:
    """For each centroid of k-means, the nearest record that is not chosen yet."""
    seed = int(torch.randint(2**31, (1,), generator=draws))
    centroids = KMeans(count, random_state=seed, n_init=3).fit(features.cpu().numpy()).cluster_centers_
    distances = torch.cdist(torch.as_tensor(centroids, dtype=features.dtype), features.cpu())
    chosen: list[int] = []
    for row in distances:
        row[chosen] = torch.inf
        chosen.append(int(row.argmin()))
    return torch.tensor(chosen)


RULES: dict[str, Rule] = {
    "herding": herding,
    "k-centre": k_centre,
    "k-means": k_means,
}

"""The latent distributions on the page: ECDFs by class and feature, and their statistics."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lqm.evaluation.diagnostics import ecdf_steps, optimal_points
from lqm.evaluation.latents import ClassMatch, Latents

Content = dict[str, Any]

# Values of all curves on a page (of 4 bytes each), steps of a real curve, and bars of the histogram.
_VALUES, _STEPS, _BARS = 300_000, 200, 40


def explorer(latents: Latents) -> Content:
    """Curves of as many features of each class as a page holds, and statistics of all of them."""
    classes = [_of_class(latents, label) for label in latents.real]
    return {
        "features": latents.features,
        "kept": min(len(own["features"]) for own in classes),
        "classes": classes,
        "histogram": _histogram(latents),
        "extremes": [
            [match[label].extremes if label in match else None for label in latents.real]
            for match in latents.matches
        ],
        "means": latents.means,
        "quartiles": [_quartiles(matches) for matches in latents.matches],
    }


def _of_class(latents: Latents, label: int) -> Content:
    matches = [found.get(label) for found in latents.matches]
    features = _chosen(latents, label, matches)
    real = latents.real[label][:, features]
    curve = ecdf_steps(real, _STEPS)
    sizes = {len(match.own) for match in matches if match}
    return {
        "label": label,
        "records": len(real),
        "steps": len(curve),
        "features": features,
        "real": packed(curve.T),
        "best": {k: packed(optimal_points(real, k).T) for k in sizes},
        "typical": latents.typical(label),
        "cases": [
            match
            and {
                "size": len(match.own),
                "own": packed(match.own[:, features].sort(dim=0).values.T),
                "statistic": match.statistic[features].tolist(),
                "worst": int(match.statistic.argmax()),
            }
            for match in matches
        ],
    }


def _chosen(latents: Latents, label: int, matches: Sequence[ClassMatch | None]) -> list[int]:
    """All features, or as many as there is room for: evenly from the best matched to the worst.

    Every set's worst feature and the most typical one are always among them.
    """
    found = [match for match in matches if match]
    points = min(len(latents.real[label]), _STEPS) + 2 * sum(len(match.own) for match in found)
    room = max(8, _VALUES // len(latents.real) // points)
    if room >= latents.features:
        return list(range(latents.features))
    order = torch.stack([match.statistic for match in found]).mean(dim=0).argsort()
    even = order[torch.linspace(0, len(order) - 1, room).round().long()].tolist()
    return sorted({*even, latents.typical(label), *(int(match.statistic.argmax()) for match in found)})


def _histogram(latents: Latents) -> Content:
    """How many of all features of all classes have a statistic between two edges, as shares."""
    statistics = [[match.statistic for match in matches.values()] for matches in latents.matches]
    top = max(float(found.max()) for own in statistics for found in own) or 1.0
    return {
        "edges": torch.linspace(0, top, _BARS + 1).tolist(),
        "shares": [
            (torch.cat(own).histc(_BARS, 0, top) / sum(map(len, own))).tolist() if own else None
            for own in statistics
        ],
    }


def _quartiles(matches: dict[int, ClassMatch]) -> list[float]:
    """Of the statistics of all features of all classes; empty for a set without any."""
    if not matches:
        return []
    every = torch.cat([match.statistic for match in matches.values()])
    found: list[float] = np.quantile(every.numpy(), [0.25, 0.5, 0.75]).tolist()
    return found


def packed(values: Tensor) -> str:
    """Numbers as the text of their bytes: little-endian float32, row by row."""
    return b64encode(values.float().contiguous().numpy().astype("<f4").tobytes()).decode()

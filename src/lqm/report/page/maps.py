"""Maps of latent features: real and synthetic records of all classes, and of each class by itself."""

from typing import Any

import torch
from torch import Tensor

from lqm.evaluation.latents import Latents
from lqm.evaluation.projection import Plane, principal_plane
from lqm.report.page.explorer import packed

Content = dict[str, Any]

# Real records of a class on its own map, and on all such maps; and on the map of all classes.
_OF_A_CLASS, _OF_CLASSES, _OF_ALL = 200, 20_000, 2000


def maps(latents: Latents) -> Content:
    """A map of all classes and one of each, each along the principal components of its real records."""
    classes = len(latents.real)
    shown = min(_OF_A_CLASS, max(20, _OF_CLASSES // classes))
    return {
        "all": _map(latents, [*latents.real], max(5, _OF_ALL // classes)),
        "classes": [_map(latents, [label], shown) for label in latents.real],
    }


def _map(latents: Latents, labels: list[int], most: int) -> Content:
    real = {label: latents.real[label][:most] for label in labels}
    plane = principal_plane(torch.cat([*real.values()]))
    sets = [
        {label: found[label].own[:most] for label in labels if label in found} for found in latents.matches
    ]
    return {
        "explained": list(plane.explained),
        "real": _points(plane, real),
        "sets": [_points(plane, own) if own else None for own in sets],
    }


def _points(plane: Plane, features: dict[int, Tensor]) -> Content:
    """Coordinates, a class after the other, and how many there are of each class."""
    return {
        "counts": [[label, len(own)] for label, own in features.items()],
        "points": packed(plane.coordinates(torch.cat([*features.values()]))),
    }

"""What synthetic images are at first, and the same again, from the seed, for a set that was condensed."""

from collections.abc import Sequence

import torch
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.condensed.mosaic import compose
from lqm.engine.randomness import generator
from lqm.images.sources import ImageSource, pick
from lqm.utils.old_names import current_settings


def noise_init(source: ImageSource, per_class: int, seed: int) -> Tensor:
    """Standard normal noise, as normalised images, [classes, per_class, C, H, W]."""
    shape = len(source.class_names), per_class, *source.shape
    return torch.randn(*shape, generator=generator(seed, "start"))


def random_images(source: ImageSource, count: int, seed: int) -> list[Tensor]:
    """So many real images of each class, or all if there are fewer, drawn by the seed of a run."""
    draws = generator(seed, "start")
    return [pick(images, count, draws) for images in source.by_class]


def arranged(source: ImageSource, chosen: Sequence[Tensor], per_class: int, cells: int) -> Tensor:
    """Real images of each class, normalised: one in each cell of mosaics, or whole ones.

    A class that has too few images for all cells gives some of them twice.

    Shapes: chosen [n, C, H, W] of each class; result [classes, per_class, C, H, W].
    """
    count = per_class * cells**2
    filled = [images[torch.arange(count) % len(images)] for images in chosen]
    normalised = (source.normalised(images) for images in filled)
    return torch.stack([compose(images, cells) for images in normalised])


def init_again(condensed: CondensedImages, source: ImageSource) -> Tensor | None:
    """The pixels that a set had before its first step, [M, C, H, W], from its manifest and the real images.

    None of a set that has no such init, or whose init a coreset or experts chose: that takes training. A
    file of the init would give real images away with every set.
    """
    manifest = condensed.manifest
    settings, mosaic = current_settings(manifest["settings"]), manifest.get("mosaic", 1)
    per_class, seed, init = manifest["per_class"], manifest["seed"], settings.get("init")
    source = condensed.prepared(source)
    if len(condensed.data) != per_class * len(source.class_names):
        return None
    if init == "noise":
        first = noise_init(source, per_class, seed)
    elif init == "random" and not settings.get("classified"):
        cells = 1 if settings.get("mosaic_init") == "whole" else mosaic
        first = arranged(source, random_images(source, per_class * cells**2, seed), per_class, cells)
    else:
        return None
    pixels: Tensor = source.denormalised(first.flatten(0, 1)).clamp(0, 1)
    return pixels

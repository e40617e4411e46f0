"""What a set of images gives away: its pixels and embeddings beside those of real images."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import sqrt
from typing import Any

import torch
from torch import Tensor

from lqm.condensed.mosaic import cells, shrunk
from lqm.engine.compute import Compute
from lqm.evaluation.audit.attacks import Places
from lqm.evaluation.audit.auditor import Auditor
from lqm.evaluation.audit.nearest import Bounds, Rows, View
from lqm.images.evaluation import fresh_network, teach
from lqm.images.networks import Network
from lqm.images.protocols import EvaluationProtocol
from lqm.images.sources import Images, ImageSource
from lqm.images.training import latent_features, logits_of
from lqm.utils.pixels import pixels
from lqm.utils.stored_arrays import Records, in_memory

# Half a grey level of 8 bits: the same image once it is stored as one.
_BOUNDS = Bounds(exact=0.5 / 255, near=4 / 255, by_largest=True, words="no pixel differs by more than 4/255")


def _views(images: Images, manifest: Mapping[str, Any], source: ImageSource) -> list[View]:
    """Whole images; and the cells of mosaics, which are real images made small at first."""
    factor = manifest.get("mosaic", 1)
    shown = pixels(images.images[:])
    if factor == 1:
        return [_view("pixels", shown, torch.arange(len(shown))[:, None], source)]
    numbers = torch.arange(len(shown) * factor**2).view(-1, factor**2)
    by_size: dict[torch.Size, list[int]] = {}
    small = cells(shown, factor)
    for cell, own in enumerate(small):
        by_size.setdefault(own.shape, []).append(cell)
    found = [
        _view(
            "pixels of cells",
            torch.cat([small[cell] for cell in alike]),
            numbers.T[alike].reshape(-1, 1),
            source,
        )
        for alike in by_size.values()
    ]
    # A mosaic that is one real image gives that image away in all of its cells.
    return [*found, _view("pixels of mosaics", shown, numbers, source)]


def _view(name: str, own: Tensor, of: Tensor, source: ImageSource) -> View:
    size = own.shape[-2:]
    train, held_out = (
        Rows(len(real.labels), partial(_rows, real.images, size)) for real in (source.train, source.test)
    )
    flat = own.flatten(1)
    return View(name, flat, train, held_out, sqrt(flat.shape[1]), of)


def _rows(images: Records, size: torch.Size, places: Tensor) -> Tensor:
    return shrunk(pixels(images[places]), size).flatten(1)


def _embedding(network: Network, name: str, images: Images, source: ImageSource, places: Places) -> View:
    own = latent_features(network, images.images, source).cpu()
    train, held_out = (
        Rows(len(chosen), latent_features(network, real.images[chosen], source).cpu().__getitem__)
        for real, chosen in zip((source.train, source.test), places, strict=True)
    )
    return View(name, own, train, held_out, scale=1.0, of=torch.arange(len(own))[:, None])


def _train(
    images: Images,
    source: ImageSource,
    protocol: EvaluationProtocol,
    seed: int,
    index: int,
    device: torch.device,
    compute: Compute,
) -> Network:
    network = fresh_network(source, protocol.network, seed, index).to(device)
    teach(network, images, source, protocol, seed=seed, index=index, full=False, compute=compute)
    return network


def _logits(network: Network, source: ImageSource, places: Places) -> Tensor:
    chosen = (real.images[own] for real, own in zip((source.train, source.test), places, strict=True))
    return torch.cat([logits_of(network, images, source).cpu() for images in chosen])


def _made_of(source: ImageSource, places: Places) -> ImageSource:
    parts = list(zip((source.train, source.test), places, strict=True))
    return _with(
        source,
        torch.cat([real.images[own] for real, own in parts]),
        torch.cat([real.labels[own] for real, own in parts]),
    )


def _planted(source: ImageSource, held_out: Tensor, labels: Tensor) -> ImageSource:
    train = in_memory(source.train.images, f"the training images of '{source.name}'")
    return _with(
        source,
        torch.cat([train, source.test.images[held_out]]),
        torch.cat([source.train.labels, labels]),
    )


def _with(source: ImageSource, images: Tensor, labels: Tensor) -> ImageSource:
    """Other training images, normalised as before."""
    channels = tuple(source.mean.tolist()), tuple(source.std.tolist())
    other = Images(images, labels)
    return replace(source, train=other, published=channels, fitted=source.whitening, origin=None)


def _private(
    source: ImageSource, protocol: EvaluationProtocol, epsilon: float, seed: int, device: torch.device
) -> Any:
    from lqm.images.private import train_privately

    return train_privately(source, protocol, epsilon, seed, device)


AUDITOR = Auditor(
    records="images",
    bounds=_BOUNDS,
    labels=lambda source: Places(source.train.labels, source.test.labels),
    stored=lambda condensed: Images(condensed.images, condensed.labels),
    views=_views,
    embedding=_embedding,
    train=_train,
    logits=_logits,
    made_of=_made_of,
    planted=_planted,
    private=_private,
)

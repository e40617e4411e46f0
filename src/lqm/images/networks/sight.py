"""What a network finds in images: with gradients, or in many without; compiled once for all of a kind."""

import copy
from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.func import functional_call

from lqm.engine.compute import Compute
from lqm.images.networks.network import Network

Found = tuple[Tensor, ...]
# Makes a module that holds a network as `network` and finds something in images.
Look = Callable[[Network], nn.Module]

_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
# Pixels of the images that go through a network at once: then the maps of a layer stay in the cache.
_PIXELS, _FEWEST, _MOST = 2**15, 8, 512


class Embedding(nn.Module):
    """The latent features alone."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Found:
        """Images [B, C, H, W] to one tensor [B, F]."""
        return (self.network.embed(images),)


class Logits(nn.Module):
    """What the network says of the class."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Found:
        """Images [B, C, H, W] to one tensor [B, classes]."""
        return (self.network(images),)


class Sight:
    """What one network finds in images.

    Args:
        network: the network; its weights may change afterwards, its mode (training or not) may not.
        run: images to what is found.
        whole: whether a chunk must have the size that `run` was compiled for.
    """

    def __init__(self, network: Network, run: Callable[[Tensor], Found], *, whole: bool) -> None:
        self.network, self._run, self._whole = network, run, whole

    def __call__(self, images: Tensor) -> Found:
        """What is found in images, each part [B, ...], with gradients."""
        return self._run(images)

    @torch.no_grad()
    def of_many(self, images: Tensor) -> Found:
        """The same without gradients, in memory that does not grow with the number of images.

        All at once only if the network normalises by its batch.
        """
        if by_batch(self.network):
            return self._run(images)
        parts = images.split(chunk_size(images))
        found = [self._padded(part, len(parts[0])) if self._whole else self._run(part) for part in parts]
        return tuple(torch.cat(pieces) for pieces in zip(*found, strict=True))

    def _padded(self, images: Tensor, size: int) -> Found:
        missing = size - len(images)
        if not missing:
            return self._run(images)
        more = images.new_zeros(missing, *images.shape[1:])
        return tuple(found[: len(images)] for found in self._run(torch.cat([images, more])))


class Sights:
    """Makes the sights of networks that differ in nothing but their weights.

    Compiled code takes the weights as arguments, so that it serves all of these networks.
    """

    def __init__(self, look: Look, compute: Compute) -> None:
        self._look, self._compute = look, compute
        # By whether the network is in training mode, which is part of the code.
        self._compiled: dict[bool, Callable[[Tensor, dict[str, Tensor]], Found]] = {}

    def of(self, network: Network) -> Sight:
        """The sight of one network."""
        if not self._compute.compile:
            return Sight(network, self._compute.faster(self._look(network)), whole=False)
        if network.training not in self._compiled:
            shell = self._look(copy.deepcopy(network))
            self._compiled[network.training] = self._compute.faster(
                lambda images, weights: functional_call(shell, weights, (images,))
            )
        run = self._compiled[network.training]
        return Sight(network, lambda images: run(images, _weights(network)), whole=True)


@lru_cache(maxsize=64)
def sights(kind: object, look: Look, compute: Compute) -> Sights:
    """The sights of networks of one kind; the same object for the same kind, so that it is compiled once.

    Args:
        kind: all that tells these networks from others but their weights: spec, shape and classes.
        look: what is wanted of a network.
        compute: how it is run.
    """
    return Sights(look, compute)


def by_batch(network: Network) -> bool:
    """Whether what a network finds in an image depends on the others of its batch."""
    return network.training and any(isinstance(module, _BATCH_NORMS) for module in network.modules())


def chunk_size(images: Tensor) -> int:
    """How many images of this size to run at once."""
    return max(_FEWEST, min(_MOST, _PIXELS // (images.shape[-1] * images.shape[-2])))


@torch.no_grad()
def numbers_found(network: Network, shape: tuple[int, int, int]) -> int:
    """How many numbers all layers give for one image: what compiling saves time on."""
    total = 0

    def count(module: nn.Module, given: object, found: object) -> None:
        nonlocal total
        total += found.numel() if isinstance(found, Tensor) else 0

    leaves = [module for module in network.modules() if not list(module.children())]
    hooks = [leaf.register_forward_hook(count) for leaf in leaves]
    training = network.training
    try:
        network.eval()(torch.zeros(1, *shape, device=next(network.parameters()).device))
    finally:
        network.train(training)
        for hook in hooks:
            hook.remove()
    return total


def _weights(network: Network) -> dict[str, Tensor]:
    """Parameters and buffers as a look calls them, whose `network` they belong to."""
    named = (*network.named_parameters(), *network.named_buffers())
    return {f"network.{name}": tensor for name, tensor in named}

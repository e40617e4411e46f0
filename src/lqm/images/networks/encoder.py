"""Networks as encoders: readouts of images with gradients, or of many without."""

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils.checkpoint import checkpoint

from lqm.engine.compute import Compute
from lqm.methods.networks import Network
from lqm.methods.twice import differentiated_twice

Readouts = tuple[Tensor, ...]
# Makes a module that holds a network as `network` and reads something out of images.
Readout = Callable[[Network], nn.Module]

_DROPOUTS = (nn.modules.dropout._DropoutNd,)
_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
# Pixels of the images that go through a network at once: then the maps of a layer stay in the cache.
_PIXELS, _FEWEST, _MOST = 2**15, 8, 512


class _OfNetwork(nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network


class Embedding(_OfNetwork):
    """The latent features alone."""

    def forward(self, images: Tensor) -> Readouts:
        """Images [B, C, H, W] to one tensor [B, F]."""
        return (self.network.embed(images),)


class Logits(_OfNetwork):
    """The logits of the classes alone."""

    def forward(self, images: Tensor) -> Readouts:
        """Images [B, C, H, W] to one tensor [B, classes]."""
        return (self.network(images),)


class Encoder:
    """A network as the methods use it: it turns images into readouts by `run`.

    The weights of the network may change afterwards, its mode (training or not) may not. If `run` is compiled
    for a size of chunk, all chunks are `whole`, and `eager` does the same uncompiled. `accuracy` is that on
    what a network has learned from.
    `at_once` images at most go through it with gradients, if that makes no difference.
    """

    def __init__(
        self,
        network: Network,
        run: Callable[[Tensor], Readouts],
        *,
        whole: bool,
        eager: Callable[[Tensor], Readouts] | None = None,
        accuracy: float | None = None,
        at_once: int | None = None,
    ) -> None:
        self.network, self._run, self._whole, self.accuracy = network, run, whole, accuracy
        self._eager, self._at_once = eager or run, at_once

    @property
    def metrics(self) -> dict[str, float]:
        """The accuracy of a network that learns."""
        return {} if self.accuracy is None else {"network_accuracy": self.accuracy}

    def readouts(self, images: Tensor) -> Readouts:
        """What is read out of images, each [B, ...], with gradients.

        Of several parts, each of which is run again for its gradients, the layers of one are in memory.
        """
        if self._at_once is None or len(images) <= self._at_once or not is_separable(self.network):
            return self._run(images)
        # Parts of equal size, since a single image is convolved in another way.
        parts = images.tensor_split(-(-len(images) // self._at_once))
        readouts = [checkpoint(self._run, part, use_reentrant=False) for part in parts]
        return tuple(torch.cat(pieces) for pieces in zip(*readouts, strict=True))

    def readouts_twice(self, images: Tensor) -> Readouts:
        """The same to be differentiated by the weights, and that by the images; compiled code can't be."""
        with differentiated_twice(images, constant=True):
            return self._eager(images)

    def readouts_in_parts(self, images: Tensor) -> Iterator[Readouts]:
        """The same part by part, each to be differentiated before the next is asked for.

        All at once if the network is not compiled, or normalises by its batch.
        """
        if not self._whole or uses_batch_statistics(self.network):
            yield self._run(images)
            return
        parts = images.split(chunk_size(images))
        for part in parts:
            yield self._padded(part, len(parts[0]))

    @torch.no_grad()
    def encode(self, images: Tensor) -> Readouts:
        """The same without gradients, in memory that does not grow with the number of images.

        All at once only if the network normalises by its batch.
        """
        if uses_batch_statistics(self.network):
            return self._run(images)
        parts = images.split(chunk_size(images))
        readouts = [self._padded(part, len(parts[0])) if self._whole else self._run(part) for part in parts]
        return tuple(torch.cat(pieces) for pieces in zip(*readouts, strict=True))

    def _padded(self, images: Tensor, size: int) -> Readouts:
        missing = size - len(images)
        if not missing:
            return self._run(images)
        more = images.new_zeros(missing, *images.shape[1:])
        return tuple(readout[: len(images)] for readout in self._run(torch.cat([images, more])))


class EncoderFactory:
    """Makes encoders of networks that differ in nothing but their weights.

    Compiled code takes the weights as arguments, so that it serves all of these networks.
    """

    def __init__(self, readout: Readout, compute: Compute, at_once: int | None = None) -> None:
        self._readout, self._compute, self._at_once = readout, compute, at_once
        # By the modules that are in training mode, which is part of the code.
        self._compiled: dict[tuple[bool, ...], Callable[[Tensor, dict[str, Tensor]], Readouts]] = {}

    def of(self, network: Network, accuracy: float | None = None) -> Encoder:
        """The encoder of one network."""
        if not self._compute.compile:
            run = self._compute.faster(self._readout(network))
            return Encoder(network, run, whole=False, accuracy=accuracy, at_once=self._at_once)
        mode = tuple(module.training for module in network.modules())
        if mode not in self._compiled:
            shell = self._readout(copy.deepcopy(network))
            self._compiled[mode] = self._compute.faster(
                lambda images, weights: functional_call(shell, weights, (images,))
            )
        compiled = self._compiled[mode]
        return Encoder(
            network,
            lambda images: compiled(images, _weights(network)),
            whole=True,
            eager=replace(self._compute, compile=False).faster(self._readout(network)),
            accuracy=accuracy,
            at_once=self._at_once,
        )


@lru_cache(maxsize=64)
def encoder_factory(
    kind: object, readout: Readout, compute: Compute, at_once: int | None = None
) -> EncoderFactory:
    """Makes encoders of networks of one kind (spec, shape, classes); cached, so that a kind compiles once."""
    return EncoderFactory(readout, compute, at_once)


def uses_batch_statistics(network: Network) -> bool:
    """Whether the readout of an image depends on the others of its batch."""
    return network.training and any(isinstance(module, _BATCH_NORMS) for module in network.modules())


def is_separable(network: Network) -> bool:
    """Whether images may go through a network one by one, with the same gradients of each."""
    learns = any(weights.requires_grad for weights in network.parameters())
    random = network.training and any(isinstance(module, _DROPOUTS) for module in network.modules())
    return not (learns or random or uses_batch_statistics(network))


def chunk_size(images: Tensor) -> int:
    """How many images of this size to run at once."""
    return max(_FEWEST, min(_MOST, _PIXELS // (images.shape[-1] * images.shape[-2])))


@torch.no_grad()
def count_activations(network: Network, shape: tuple[int, int, int]) -> int:
    """How many activations all layers give for one image: what compiling saves time on."""
    total = 0

    def count(module: nn.Module, inputs: object, output: object) -> None:
        nonlocal total
        total += output.numel() if isinstance(output, Tensor) else 0

    leaves = [module for module in network.modules() if not list(module.children())]
    training = network.training
    with ExitStack() as hooks:
        hooks.callback(network.train, training)
        for leaf in leaves:
            hooks.enter_context(leaf.register_forward_hook(count))
        network.eval()(torch.zeros(1, *shape, device=next(network.parameters()).device))
    return total


def _weights(network: Network) -> dict[str, Tensor]:
    """Parameters and buffers as a readout calls them, whose `network` they belong to."""
    named = (*network.named_parameters(), *network.named_buffers())
    return {f"network.{name}": tensor for name, tensor in named}

"""A network that is trained by a protocol, and its accuracy: all that is asked while settings are chosen."""

import time
from dataclasses import dataclass
from typing import NamedTuple

import torch

from lqm.engine.compute import Compute
from lqm.evaluation.score_cache import Finding, keep
from lqm.images.evaluation import IMAGES, fresh_network, teach
from lqm.images.networks import Network, NetworkMaker
from lqm.images.protocols import EvaluationProtocol
from lqm.images.sources import Images, ImageSource
from lqm.images.training import predict


class Found(NamedTuple):
    """The share of test images whose class a network predicts, and the seconds of its training and test.

    `cached` says whether that was found earlier.
    """

    accuracy: float
    seconds: float
    cached: bool


@dataclass(frozen=True)
class Candidate:
    """A network to try, by a spec or a function, and the protocol by which it is trained."""

    protocol: EvaluationProtocol
    maker: str | NetworkMaker

    def fresh(self, source: ImageSource, seed: int, index: int) -> Network:
        """Network number `index`, before its training."""
        return fresh_network(source, self.maker, seed, index)

    def trained(
        self,
        images: Images,
        source: ImageSource,
        *,
        seed: int,
        index: int,
        device: torch.device,
        full: bool = False,
    ) -> Network:
        """The same, trained on images; on the `full` training set, maybe for fewer epochs."""
        network = self.fresh(source, seed, index).to(device)
        teach(network, images, source, self.protocol, seed=seed, index=index, full=full, compute=Compute())
        return network

    def accuracy(
        self, images: Images, source: ImageSource, *, seed: int, index: int, device: torch.device
    ) -> Found:
        """Its accuracy on the source's test images, cached unless the network is of the user's own."""
        cached = True

        def work() -> Finding:
            nonlocal cached
            began, cached = time.monotonic(), False
            network = self.trained(images, source, seed=seed, index=index, device=device)
            right = accuracy_of(network, source)
            return {"accuracy": [right], "seconds": [time.monotonic() - began]}

        key = {"protocol": self.protocol.rules, "seed": seed, "index": index, "source": source.identity}
        key |= {"asked": "accuracy alone", **IMAGES.key(images, source, False, Compute())}
        found = keep(key, device, work) if isinstance(self.maker, str) else work()
        return Found(found["accuracy"][0], found["seconds"][0], cached)


def accuracy_of(network: Network, source: ImageSource) -> float:
    """The share of the source's test images whose class a network predicts."""
    return (predict(network, source) == source.test.labels).double().mean().item()

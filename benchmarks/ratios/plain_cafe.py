"""The field's loop of CAFE and CAFE+DSA."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from benchmarks.ratios.plain_trained import PlainTrained
from lqm.engine.randomness import generator
from lqm.images.methods.cafe import CAFESettings
from lqm.images.networks import Network
from lqm.images.sources import pick


class PlainCAFE(PlainTrained):
    """CAFE and CAFE+DSA: all layers of all classes, in loops that end by accuracies."""

    settings: CAFESettings

    def step(self, i: int) -> float:
        """The updates under one network; gives the loss of the last, the mean over the classes."""
        self.optimizer.param_groups[0]["lr"] = self.settings.rate(i)
        network, accuracies = self.fresh_network("network", i), []
        for update in range(self.settings.outer):
            n = i * self.settings.outer + update
            self.freeze_norms(network, n)
            loss = self._loss(network, generator(self.seed, "batch", n))
            self.descend(loss)
            queries = generator(self.seed, "query", n)
            accuracies.append(self._accuracy(network, queries))
            steady = self._range(accuracies) < self.settings.outer_range
            if (self._enough(accuracies) and steady) or update == self.settings.outer - 1:
                break
            self._train(network, n, queries)
        return loss.item() / self.classes

    def _train(self, network: Network, n: int, queries: torch.Generator) -> None:
        accuracies: list[float] = []
        for _ in self.epochs(network, n, self.settings.inner):
            accuracies.append(self._accuracy(network, queries))
            if self._enough(accuracies) and self._range(accuracies) > self.settings.inner_range:
                break

    def _enough(self, accuracies: list[float]) -> bool:
        return len(accuracies) >= self.settings.accuracy_window

    def _range(self, accuracies: list[float]) -> float:
        last = accuracies[-self.settings.accuracy_window :]
        return max(last) - min(last)

    def _accuracy(self, network: Network, draws: torch.Generator) -> float:
        """The share of right answers on real images of all classes."""
        norms = [(layer, layer.training) for layer in network.modules()]
        network.eval()
        right = seen = 0
        with torch.no_grad():
            for label, images in enumerate(self.by_class):
                chosen = pick(images, self.settings.query_batch, draws)
                right += int((network(chosen).argmax(dim=1) == label).sum())
                seen += len(chosen)
        for layer, training in norms:
            layer.training = training
        return right / seen

    def _loss(self, network: Network, draws: torch.Generator) -> Tensor:
        pairs = [self.pair(label, draws) for label in range(self.classes)]
        real, synthetic = zip(*pairs, strict=True)
        return cafe_loss(network, real, synthetic, self.settings.layer_weight, self.settings.class_weight)


def layers_of(network: Network, images: Tensor) -> list[Tensor]:
    """The maps after each activation, the last pooled map, and the same flattened."""
    found: list[Tensor] = []
    for layer in network.features:
        if isinstance(layer, nn.Flatten):
            found.append(images)
        images = layer(images)
        if isinstance(layer, (nn.ReLU, nn.Flatten)):
            found.append(images)
    return found


def cafe_loss(
    network: Network,
    real: Sequence[Tensor],
    synthetic: Sequence[Tensor],
    layer_weight: float,
    class_weight: float,
) -> Tensor:
    """The loss of the images of all classes, which go through the network together, as in the original.

    What the original adds has no gradient by the images, and is left out: the cross-entropy of real images.
    """
    layers = [layers_of(network, torch.cat(tuple(side))) for side in (real, synthetic)]
    sizes = [[len(own) for own in side] for side in (real, synthetic)]
    weights = [layer_weight] * (len(layers[0]) - 3) + [1.0] * 3
    loss = torch.zeros(())
    for weight, theirs, ours in zip(weights, *layers, strict=True):
        parts = zip(theirs.detach().split(sizes[0]), ours.split(sizes[1]), strict=True)
        for one, other in parts:
            loss = loss + weight * (one.mean(dim=0) - other.mean(dim=0)).square().sum()
    return loss + class_weight * discrimination(
        *(side[-1].split(own) for side, own in zip(layers, sizes, strict=True))
    )


def discrimination(real: Sequence[Tensor], synthetic: Sequence[Tensor]) -> Tensor:
    """The sum over real embeddings of their cross-entropy when the centres of the classes score them."""
    centres = torch.stack([own.mean(dim=0) for own in synthetic])
    labels = torch.arange(len(real)).repeat_interleave(torch.tensor([len(own) for own in real]))
    return F.cross_entropy(torch.cat(tuple(real)).detach() @ centres.T, labels, reduction="sum")

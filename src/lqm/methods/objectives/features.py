"""Matching of what encoders read out: D(phi(T_c), phi(S_c)) for each class c."""

from collections.abc import Callable, Iterable, Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.distances import Distance, class_losses, class_targets
from lqm.distances.classes import Group
from lqm.methods.batch import Batch
from lqm.methods.encoders import Encoder
from lqm.methods.objectives import Samples

# For each readout, the targets of classes of equal size.
FeatureTarget = list[list[Group]]


class FeatureMatching:
    """A distance between the readouts of real and synthetic records, class by class.

    loss of class c = weigh(D_1(r_1(T_c), r_1(S_c)), D_2(r_2(T_c), r_2(S_c)), ...) + w * CE(S_c, c)

    Args:
        distance: D, for every readout unless `distances` says otherwise.
        counts: synthetic records of each class.
        distances: the distance of each readout, given how many there are.
        weigh: puts the losses of the readouts, each [C], together; without it there is one readout.
        cross_entropy: the weight w under an encoder that has a classifier; no such term without it.
    """

    def __init__(
        self,
        distance: Distance,
        counts: Sequence[int],
        *,
        distances: Callable[[int], Sequence[Distance]] | None = None,
        weigh: Callable[[list[Tensor]], Tensor] | None = None,
        cross_entropy: Callable[[Encoder], float] | None = None,
    ) -> None:
        self._counts, self._weigh, self._cross_entropy = counts, weigh, cross_entropy
        self.distances = distances or (lambda readouts: [distance] * readouts)

    @staticmethod
    def samples(encoder: Encoder, real: Batch) -> Samples:
        """What an encoder reads out of real records, by readout and class."""
        return [real.by_class(readout) for readout in encoder.encode(real.inputs)]

    def match(
        self, parts: Iterable[tuple[Sequence[int], Samples]], draws: torch.Generator | None = None
    ) -> FeatureTarget:
        """The target that samples make; each part has those of some classes."""
        whole: FeatureTarget = []
        done = 0
        for classes, samples in parts:
            counts = [self._counts[label] for label in classes]
            distances = self.distances(len(samples))
            whole = whole or [[] for _ in distances]
            for groups, distance, sample in zip(whole, distances, samples, strict=True):
                for places, target in class_targets(distance, sample, counts, draws):
                    groups.append(Group([done + place for place in places], target))
            done += len(counts)
        return whole

    def target(self, encoder: Encoder, batches: Iterable[Batch], draws: torch.Generator) -> FeatureTarget:
        """The distances' targets for the real records of some classes."""
        return self.match(((batch.classes, self.samples(encoder, batch)) for batch in batches), draws)

    def loss(self, encoder: Encoder, target: FeatureTarget, synthetic: Batch) -> Tensor:
        """One loss a class, [C]."""
        readouts = encoder.readouts(synthetic.inputs)
        loss = self.compare(target, readouts, synthetic)
        weight = self._cross_entropy(encoder) if self._cross_entropy else 0.0
        if not weight:
            return loss
        classifier = encoder.network.classifier  # type: ignore[attr-defined]
        return loss + weight * class_cross_entropy(classifier(readouts[-1]), synthetic)

    def compare(self, target: FeatureTarget, readouts: Sequence[Tensor], synthetic: Batch) -> Tensor:
        """The distances of what was read out of synthetic records, put together, [C]."""
        losses = [
            class_losses(distance, groups, synthetic.by_class(readout))
            for distance, groups, readout in zip(self.distances(len(readouts)), target, readouts, strict=True)
        ]
        return self._weigh(losses) if self._weigh else losses[0]


def class_cross_entropy(logits: Tensor, batch: Batch) -> Tensor:
    """The mean cross-entropy of the records of each class, [C]."""
    labels = batch.labels(logits.device)
    parts = zip(batch.by_class(logits), batch.by_class(labels), strict=True)
    return torch.stack([F.cross_entropy(own, wanted) for own, wanted in parts])

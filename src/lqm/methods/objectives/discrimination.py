"""Matching of readouts, beside which the synthetic records should tell the real ones apart (CAFE)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.methods.batch import Batch
from lqm.methods.encoders import Encoder
from lqm.methods.objectives import Samples
from lqm.methods.objectives.features import FeatureMatching, FeatureTarget


class DiscriminationTarget(NamedTuple):
    """What the readouts are compared with, and the embeddings of the real records, [n_c, F] a class."""

    matched: FeatureTarget
    embeddings: list[Tensor]


class DiscriminativeMatching:
    """A distance between readouts, and the cross-entropy of real records that are scored by the centres of S.

    loss of class c = matching of class c + w * sum over x in T_c of CE(<phi(x), centre_1>, ...; c)

    phi is the last readout, and centre_c the mean of phi over S_c. All classes that are to be told apart come
    together (Wang et al. 2022).

    Args:
        matching: the distance between readouts.
        weight: w.
    """

    def __init__(self, matching: FeatureMatching, weight: float) -> None:
        self._matching, self._weight = matching, weight

    def target(
        self, encoder: Encoder, batches: Iterable[Batch], draws: torch.Generator
    ) -> DiscriminationTarget:
        """The distances' targets, and the embeddings of the real records."""
        embeddings: list[Tensor] = []

        def parts() -> Iterator[tuple[Sequence[int], Samples]]:
            for batch in batches:
                samples = self._matching.samples(encoder, batch)
                embeddings.extend(samples[-1])
                yield batch.classes, samples

        return DiscriminationTarget(self._matching.match(parts(), draws), embeddings)

    def loss(self, encoder: Encoder, target: DiscriminationTarget, synthetic: Batch) -> Tensor:
        """One loss a class, [C]."""
        readouts = encoder.readouts(synthetic.inputs)
        loss = self._matching.compare(target.matched, readouts, synthetic)
        # One centre that is not finite spoils the scores of all classes, and would hide whose it is.
        if not self._weight or not loss.isfinite().all():
            return loss
        centres = torch.stack([own.mean(dim=0) for own in synthetic.by_class(readouts[-1])])
        sizes = [len(own) for own in target.embeddings]
        places = torch.arange(len(sizes), device=centres.device)
        labels = places.repeat_interleave(torch.tensor(sizes, device=centres.device))
        scores = torch.cat(target.embeddings) @ centres.T
        errors = F.cross_entropy(scores, labels, reduction="none").split(sizes)
        return loss + self._weight * torch.stack([own.sum() for own in errors])

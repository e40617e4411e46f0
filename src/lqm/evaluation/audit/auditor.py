"""What an audit needs to know of one kind of data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lqm.engine.compute import Compute
from lqm.evaluation.audit.attacks import Places
from lqm.evaluation.audit.nearest import Bounds, View


@dataclass(frozen=True)
class Auditor:
    """How condensed sets of one kind of data are audited.

    Attributes:
        records: what the sets hold, in one word.
        bounds: what counts as a copy.
        labels: of the training records and of the held-out ones of a source.
        stored: the records of a condensed set as they are stored, mosaics in one piece.
        views: (stored records, manifest of their set, source) -> the ways to compare them without a network.
        embedding: (network, name, records, source, places) -> a view by the network's embedding.
        train: (records, source, protocol, seed, index, device, compute) -> a network as `evaluate` trains it.
        logits: (network, source, places) -> the network's logits for real records, those of training first.
        made_of: (source, places) -> the same source with these records as its training set.
        planted: (source, numbers of held-out records, labels) -> the same source with these records, under
            these labels, in its training set too.
        private: (source, protocol, epsilon, seed, device) -> a network trained by DP-SGD; None if that has no
            meaning for this kind of data.
    """

    records: str
    bounds: Bounds
    labels: Callable[[Any], Places]
    stored: Callable[[Any], Any]
    views: Callable[[Any, Mapping[str, Any], Any], Sequence[View]]
    embedding: Callable[[Any, str, Any, Any, Places], View]
    train: Callable[[Any, Any, Any, int, int, torch.device, Compute], Any]
    logits: Callable[[Any, Any, Places], Tensor]
    made_of: Callable[[Any, Places], Any]
    planted: Callable[[Any, Tensor, Tensor], Any]
    private: Callable[[Any, Any, float, int, torch.device], Any] | None = None

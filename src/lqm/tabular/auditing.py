"""What a set of rows gives away: its features and embeddings beside those of real rows."""

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from typing import Any

import torch
from torch import Tensor

from lqm.engine.compute import Compute
from lqm.evaluation.audit import nearest
from lqm.evaluation.audit.attacks import Places
from lqm.evaluation.audit.auditor import Auditor
from lqm.evaluation.audit.nearest import Bounds, View
from lqm.methods.networks import Network
from lqm.tabular.evaluation import TableProtocol, fresh_network, teach
from lqm.tabular.sources import Rows, TableSource
from lqm.tabular.training import embedded, logits_of

_BOUNDS = Bounds(
    exact=1e-4,
    near=0.05,
    by_largest=True,
    words="no feature differs by more than 0.05 standard deviations",
)


def _views(rows: Rows, manifest: Mapping[str, Any], source: TableSource) -> list[View]:
    parts = source.standardised_train.features, source.standardised_test.features
    return [_view("features", rows.features, *parts, scale=sqrt(rows.features.shape[1]))]


def _view(name: str, own: Tensor, train: Tensor, held_out: Tensor, scale: float) -> View:
    real, others = (nearest.Rows(len(part), part.__getitem__) for part in (train, held_out))
    return View(name, own, real, others, scale=scale, of=torch.arange(len(own))[:, None])


def _embedding(network: Network, name: str, rows: Rows, source: TableSource, places: Places) -> View:
    own, train, held_out = (embedded(network, part.features) for part in (rows, *_at(source, places)))
    return _view(name, own, train, held_out, scale=1.0)


def _at(source: TableSource, places: Places) -> tuple[Rows, Rows]:
    """The standardised training and held-out rows of some places."""
    return source.standardised_train.at(places.train), source.standardised_test.at(places.held_out)


def _train(
    rows: Rows,
    source: TableSource,
    protocol: TableProtocol,
    seed: int,
    index: int,
    device: torch.device,
    compute: Compute,
) -> Network:
    network = fresh_network(source, protocol.network, seed, index).to(device)
    teach(network, rows, protocol, seed=seed, index=index)
    return network


def _logits(network: Network, source: TableSource, places: Places) -> Tensor:
    return torch.cat([logits_of(network, part.features) for part in _at(source, places)])


def _made_of(source: TableSource, places: Places) -> TableSource:
    return _with(source, source.train.at(places.train), source.test.at(places.held_out))


def _planted(source: TableSource, held_out: Tensor, labels: Tensor) -> TableSource:
    return _with(source, source.train, Rows(source.test.features[held_out], labels))


def _with(source: TableSource, *parts: Rows) -> TableSource:
    """Other training rows, standardised as before."""
    features, labels = (
        torch.cat([getattr(part, name).to(getattr(parts[0], name).dtype) for part in parts])
        for name in ("features", "labels")
    )
    return replace(source, train=Rows(features, labels), fitted=source.standardisation, origin=None)


AUDITOR = Auditor(
    records="rows",
    bounds=_BOUNDS,
    labels=lambda source: Places(source.train.labels, source.test.labels),
    stored=lambda condensed: Rows(condensed.data, condensed.labels),
    views=_views,
    embedding=_embedding,
    train=_train,
    logits=_logits,
    made_of=_made_of,
    planted=_planted,
)

"""What a set of nodes gives away: its features and embeddings beside those of real nodes."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.engine.compute import Compute
from lqm.evaluation.audit.attacks import Places
from lqm.evaluation.audit.auditor import Auditor
from lqm.evaluation.audit.nearest import Bounds, Rows, View
from lqm.graphs.evaluation import GraphProtocol, fresh_network, teach, training_set
from lqm.graphs.graph import Features, Graph, as_graph, dense, rows
from lqm.graphs.networks import GraphNetwork, Inputs
from lqm.graphs.propagation import propagate
from lqm.graphs.sources.source import GraphSource

# Directions are compared: a method may hold the lengths of the features at those of a class.
_BOUNDS = Bounds(
    exact=1e-4, near=0.05, by_largest=False, words="the direction of the features differs by at most 0.05"
)
_CPU = torch.device("cpu")


def _views(nodes: Graph, manifest: Mapping[str, Any], source: GraphSource) -> list[View]:
    """By the features that real nodes have of their own, and by those after propagation.

    A node whose features are all 0 has no direction and is left out, unless there are no others.
    """
    graph = source.graph
    labelled = (nodes.labels >= 0).nonzero()[:, 0]
    directions = F.normalize(dense(rows(nodes.features, labelled)))
    some = directions.any(dim=1).nonzero()[:, 0]
    numbers = some if len(some) else torch.arange(len(labelled))
    own = directions[numbers]
    real = {"own features": graph.features}
    if hops := int(manifest.get("settings", {}).get("hops", 1)):
        real["propagated features"] = propagate(graph.features, graph.adjacency, hops)
    found = []
    for name, features in real.items():
        train, held_out = (
            Rows(len(some), partial(_directions, features, some)) for some in (source.train, source.test)
        )
        found.append(View(name, own, train, held_out, scale=1.0, of=numbers[:, None]))
    return found


def _directions(features: Features, nodes: Tensor, places: Tensor) -> Tensor:
    return F.normalize(dense(rows(features, nodes[places])))


@torch.no_grad()
def _embedding(network: GraphNetwork, name: str, nodes: Graph, source: GraphSource, places: Places) -> View:
    network = network.to(_CPU).eval()
    real = Inputs(source.graph.features, source.graph.adjacency, _CPU)
    data = training_set(nodes, real, source)
    own = network.embed(data.inputs)[data.nodes]
    whole = network.embed(real)
    train, held_out = (
        Rows(len(chosen), whole[part[chosen]].__getitem__)
        for part, chosen in zip((source.train, source.test), places, strict=True)
    )
    return View(name, own, train, held_out, scale=1.0, of=torch.arange(len(own))[:, None])


def _train(
    nodes: Graph,
    source: GraphSource,
    protocol: GraphProtocol,
    seed: int,
    index: int,
    device: torch.device,
    compute: Compute,
) -> GraphNetwork:
    network = fresh_network(source, protocol.network, seed, index).to(device)
    real = Inputs(source.graph.features, source.graph.adjacency, device)
    teach(network, training_set(nodes, real, source), protocol, seed=seed, index=index)
    return network


@torch.no_grad()
def _logits(network: GraphNetwork, source: GraphSource, places: Places) -> Tensor:
    device = next(network.parameters()).device
    inputs = Inputs(source.graph.features, source.graph.adjacency, device)
    chosen = torch.cat([source.train[places.train], source.test[places.held_out]])
    logits: Tensor = network.eval()(inputs)[chosen.to(device)].cpu()
    return logits


def _made_of(source: GraphSource, places: Places) -> GraphSource:
    return _with(source, torch.cat([source.train[places.train], source.test[places.held_out]]))


def _planted(source: GraphSource, held_out: Tensor, labels: Tensor) -> GraphSource:
    nodes = source.test[held_out]
    changed = source.graph.labels.clone()
    changed[nodes] = labels
    graph = Graph(source.graph.features, source.graph.adjacency, changed)
    return _with(replace(source, graph=graph), torch.cat([source.train, nodes]))


def _with(source: GraphSource, train: Tensor) -> GraphSource:
    """Other training nodes, which are no longer held out."""
    train = train.sort().values
    rest = (part[~torch.isin(part, train)] for part in (source.validation, source.test))
    validation, test = rest
    return replace(source, train=train, validation=validation, test=test, notes=(), origin=None)


AUDITOR = Auditor(
    records="nodes",
    bounds=_BOUNDS,
    labels=lambda source: Places(source.graph.labels[source.train], source.graph.labels[source.test]),
    stored=as_graph,
    views=_views,
    embedding=_embedding,
    train=_train,
    logits=_logits,
    made_of=_made_of,
    planted=_planted,
)

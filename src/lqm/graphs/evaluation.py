"""The score of a set of nodes: the test accuracy, on the real graph, of networks trained on it."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.engine.compute import Compute
from lqm.engine.randomness import seeded
from lqm.evaluation.evaluator import Evaluator
from lqm.evaluation.latents import ClassLatents, LatentMatch, match_of_classes, matched
from lqm.evaluation.protocol import Protocol
from lqm.evaluation.score_cache import Finding
from lqm.evaluation.scores import finding
from lqm.graphs.baselines import BASELINES, RAW_BASELINES, baseline
from lqm.graphs.graph import Graph, as_graph
from lqm.graphs.lengths import node_lengths
from lqm.graphs.networks import NETWORKS, GraphNetwork, Inputs, NetworkMaker
from lqm.graphs.sources import load_graph
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.training import TrainingSet, adam, predict, train


@dataclass(frozen=True)
class GraphProtocol(Protocol):
    """How networks are trained on nodes and tested.

    Full batch, Adam, a fixed number of epochs. On a condensed set a network trains without message passing
    if the set has no edges; it is always tested with all edges of the real graph.
    """

    records: ClassVar[str] = "nodes"

    network: str = "gcn"
    full_networks: int = 3
    learning_rate: float = 0.005
    weight_decay: float = 5e-4

    @property
    def kind(self) -> str:
        """The network in words."""
        known = self.network.partition(":")[0] in NETWORKS
        return NETWORKS.describe(self.network) if known else self.network.removeprefix("own:")


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        GraphProtocol("cat-500", epochs=500, networks=5),
        GraphProtocol("unbiased-500", network="gcn:bias=false", epochs=500, networks=5),
        GraphProtocol("graph-quick", epochs=200, networks=3, full_networks=1, learning_rate=0.01),
    )
}


def _finder(
    source: GraphSource,
    protocol: GraphProtocol,
    maker: str | NetworkMaker,
    seed: int,
    device: torch.device,
    full: bool,
    compute: Compute,
) -> Callable[[Graph, int], Finding]:
    real = Inputs(source.graph.features, source.graph.adjacency, device)

    def find(nodes: Graph, index: int) -> Finding:
        network = fresh_network(source, maker, seed, index).to(device)
        data = training_set(nodes, real, source)
        before = latent_match(network, data, real, source)
        began = time.monotonic()
        teach(network, data, protocol, seed=seed, index=index)
        seconds = time.monotonic() - began
        after = latent_match(network, data, real, source)
        predicted, labels = predict(network, real, source.test), source.graph.labels[source.test]
        return finding(predicted, labels, len(source.class_names), before, after, seconds)

    return find


def teach(
    network: GraphNetwork, data: TrainingSet, protocol: GraphProtocol, *, seed: int, index: int
) -> None:
    """Train network number `index` of an evaluation."""
    with seeded(seed, "evaluation training", index):
        optimizer = adam(network, protocol.learning_rate, protocol.weight_decay)
        train(network, optimizer, data, epochs=protocol.epochs)


def fresh_network(source: GraphSource, maker: str | NetworkMaker, seed: int, index: int) -> GraphNetwork:
    """Network number `index` of an evaluation, before its training."""
    with seeded(seed, "evaluation network", index):
        return NETWORKS.make(maker, source.graph.width, len(source.class_names))


def training_set(nodes: Graph, real: Inputs, source: GraphSource) -> TrainingSet:
    """The labelled nodes of a graph; `real` are the inputs of the source's graph, which are shared."""
    own = nodes.features is source.graph.features and nodes.adjacency is source.graph.adjacency
    inputs = real if own else Inputs(nodes.features, nodes.adjacency, real.device)
    labelled = (nodes.labels >= 0).nonzero().flatten()
    return TrainingSet(inputs, labelled, nodes.labels[labelled])


@torch.no_grad()
def latent_match(network: GraphNetwork, data: TrainingSet, real: Inputs, source: GraphSource) -> LatentMatch:
    """How well nodes keep the latent distributions of their classes under one network."""
    network.eval()
    whole = network.embed(real)
    own = whole if data.inputs is real else network.embed(data.inputs)
    return match_of_classes(class_latents(whole, own, data, source))


def class_latents(
    whole: Tensor, own: Tensor, data: TrainingSet, source: GraphSource
) -> Iterator[ClassLatents]:
    """The latent features of each class that the set has nodes of; of at most 500 nodes, always the same.

    Shapes: whole [N, F], of all nodes of the source; own [M, F], of all nodes of the set.
    """
    for label, nodes in enumerate(source.by_class):
        members = data.nodes[data.labels == label]
        if len(members):
            yield ClassLatents(label, whole[matched(nodes, label)], own[matched(members, label)])


def _baseline(
    name: str,
    condensed: CondensedNodes,
    source: GraphSource,
    protocol: Protocol,
    seed: int,
    device: torch.device,
) -> Callable[[int], Graph]:
    counts = condensed.labels[condensed.labels >= 0].bincount(minlength=len(source.class_names))
    return baseline(name, source, counts.tolist(), seed)


@torch.no_grad()
def _latents(
    network: GraphNetwork, sets: Sequence[Graph], source: GraphSource
) -> Iterator[list[ClassLatents]]:
    network.eval()
    real = Inputs(source.graph.features, source.graph.adjacency, torch.device("cpu"))
    whole = network.embed(real)
    for nodes in sets:
        data = training_set(nodes, real, source)
        yield list(class_latents(whole, network.embed(data.inputs), data, source))


NODES = Evaluator(
    what="graph",
    told_by="nodes, features, edges, labels, class names or split",
    protocols=PROTOCOLS,
    baselines=BASELINES,
    more_baselines=RAW_BASELINES,
    read_protocol=GraphProtocol,
    check_spec=NETWORKS.check,
    find_source=load_graph,
    fresh_network=fresh_network,
    as_records=as_graph,
    baseline=_baseline,
    key=lambda nodes, source, full, compute: {"nodes": nodes.digest},
    finder=_finder,
    latents=_latents,
    lengths=node_lengths,
    remedies="another learning_rate, more steps or a larger budget",
)
score = NODES.score

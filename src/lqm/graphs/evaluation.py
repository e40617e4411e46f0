"""What a set of nodes is worth: the test accuracy, on the real graph, of fresh networks trained on it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from lqm.engine.randomness import seeded
from lqm.graphs.graph import Graph
from lqm.graphs.networks import NETWORKS, GraphNetwork, Inputs, NetworkMaker, describe, make_network
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.training import TrainingSet, adam, predict, train
from lqm.latents import ClassLatents, LatentMatch, match_of_classes, matched
from lqm.scorebook import Finding, keep
from lqm.scores import AfterEach, Protocol, Score, finding, score_networks


@dataclass(frozen=True)
class GraphProtocol(Protocol):
    """How networks are trained on nodes and judged.

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
        return describe(self.network) if known else self.network.removeprefix("own:")


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        GraphProtocol("cat-500", epochs=500, networks=5),
        GraphProtocol("graph-quick", epochs=200, networks=3, full_networks=1, learning_rate=0.01),
    )
}


def score(
    nodes: Callable[[int], Graph],
    source: GraphSource,
    protocol: GraphProtocol,
    *,
    seed: int,
    device: torch.device,
    network: NetworkMaker | None = None,
    full: bool = False,
    after_each: AfterEach = lambda count, metrics: None,
) -> Score:
    """Train the protocol's networks, network j on `nodes(j)`, and test them on the source's test nodes.

    What a network found is kept, so that an evaluation that was stopped goes on after the last one.

    Args:
        nodes: what network j is trained on: a graph of its own, of whose nodes those with a label count.
        source: has the test nodes, the graph around them, and the real distributions.
        protocol: how they are trained.
        seed: of the networks and of their training.
        device: where to compute.
        network: a factory of the user's own in place of the protocol's network; its scores are not kept.
        full: whether this is the whole graph, which the protocol may give to fewer networks.
        after_each: told how many networks are done, and how the last one did.
    """
    real = Inputs(source.graph.features, source.graph.adjacency, device)

    def judge(j: int) -> tuple[int, Finding]:
        chosen = nodes(j)
        key = {
            "protocol": protocol.rules,
            "seed": seed,
            "index": j,
            "nodes": chosen.digest,
            "source": source.identity,
        }

        def find() -> Finding:
            fresh = fresh_network(source, network or protocol.network, seed, j).to(device)
            data = training_set(chosen, real, source)
            before = latent_match(fresh, data, real, source)
            with seeded(seed, "evaluation training", j):
                optimizer = adam(fresh, protocol.learning_rate, protocol.weight_decay)
                train(fresh, optimizer, data, epochs=protocol.epochs)
            after = latent_match(fresh, data, real, source)
            named, labels = predict(fresh, real, source.test), source.graph.labels[source.test]
            return finding(named, labels, len(source.class_names), before, after)

        return int((chosen.labels >= 0).sum()), find() if network else keep(key, device, find)

    return score_networks(protocol.full_networks if full else protocol.networks, judge, after_each)


def fresh_network(source: GraphSource, maker: str | NetworkMaker, seed: int, index: int) -> GraphNetwork:
    """Network number `index` of an evaluation, before its training."""
    with seeded(seed, "evaluation network", index):
        return make_network(maker, source.graph.width, len(source.class_names))


def training_set(nodes: Graph, real: Inputs, source: GraphSource) -> TrainingSet:
    """The labelled nodes of a graph to learn from; of the source's own graph, `real` is it on the device."""
    own = nodes.features is source.graph.features and nodes.adjacency is source.graph.adjacency
    inputs = real if own else Inputs(nodes.features, nodes.adjacency, real.device)
    labelled = (nodes.labels >= 0).nonzero().flatten()
    return TrainingSet(inputs, labelled, nodes.labels[labelled])


@torch.no_grad()
def latent_match(network: GraphNetwork, data: TrainingSet, real: Inputs, source: GraphSource) -> LatentMatch:
    """How well nodes keep the latent distributions of their classes under one network."""
    network.eval()
    around = network.embed(real)
    own = around if data.inputs is real else network.embed(data.inputs)
    return match_of_classes(class_latents(around, own, data, source))


def class_latents(
    around: Tensor, own: Tensor, data: TrainingSet, source: GraphSource
) -> Iterator[ClassLatents]:
    """What was found in the nodes of each class.

    Of a class with more than 500 training nodes, 500 are looked at, always the same ones; a class that the
    set has no node of is left out.

    Shapes: around [N, F], of all nodes of the source; own [M, F], of all nodes of the set.
    """
    for label, nodes in enumerate(source.by_class):
        found = data.nodes[data.labels == label]
        if len(found):
            yield ClassLatents(label, around[matched(nodes, label)], own[matched(found, label)])

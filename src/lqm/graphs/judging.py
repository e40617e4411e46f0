"""How condensed nodes are judged, for `lqm.evaluate`."""

from collections.abc import Iterator, Sequence

import torch

from lqm.condensed import CondensedNodes
from lqm.graphs.baselines import BASELINES, Chooser, baseline
from lqm.graphs.evaluation import (
    PROTOCOLS,
    GraphProtocol,
    class_latents,
    fresh_network,
    score,
    training_set,
)
from lqm.graphs.graph import as_graph
from lqm.graphs.networks import GraphNetwork, Inputs, check_spec
from lqm.graphs.sources import load_graph
from lqm.graphs.sources.source import GraphSource
from lqm.latents import ClassLatents
from lqm.scores import Kind


def _records(
    name: str,
    condensed: CondensedNodes,
    source: GraphSource,
    protocol: GraphProtocol,
    seed: int,
    device: torch.device,
) -> Chooser:
    """What network j is trained on: the condensed nodes, or a baseline of as many of each class."""
    if name == "condensed":
        nodes = as_graph(condensed)
        return lambda j: nodes
    counts = condensed.labels[condensed.labels >= 0].bincount(minlength=len(source.class_names))
    return baseline(name, source, counts.tolist(), seed)


@torch.no_grad()
def _latents(
    network: GraphNetwork, sets: Sequence[CondensedNodes], source: GraphSource
) -> Iterator[list[ClassLatents]]:
    network.eval()
    real = Inputs(source.graph.features, source.graph.adjacency, torch.device("cpu"))
    around = network.embed(real)
    for condensed in sets:
        data = training_set(as_graph(condensed), real, source)
        yield list(class_latents(around, network.embed(data.inputs), data, source))


NODES = Kind(
    what="graph",
    told_by="nodes, features, edges, labels, class names or split",
    protocols=PROTOCOLS,
    baselines=BASELINES,
    read_protocol=GraphProtocol,
    check_spec=check_spec,
    find_source=load_graph,
    fresh_network=fresh_network,
    records=_records,
    score=score,
    latents=_latents,
)

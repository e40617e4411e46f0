"""Graphs of any size, drawn by a degree-corrected block model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import torch
from pydantic import Field

from lqm.engine.progress import Progress
from lqm.engine.randomness import derive
from lqm.graphs.graph import Graph, undirected
from lqm.graphs.sources.cache import cached, content_key
from lqm.graphs.sources.cleaning import CleanGraph, ReadOptions
from lqm.utils.errors import ConfigError
from lqm.utils.limits import require_memory
from lqm.utils.settings import typed_options

Array = np.ndarray[Any, Any]

_EDGES_AT_ONCE = 4_000_000
_NODES_AT_ONCE = 100_000
# Edges are drawn until this share of them is missing at most, or so many times their number were drawn.
_MISSING = 0.01
_PATIENCE = 10
# In place of an edge from a node to itself.
_LOOP = -1
# What a node and an edge take at most, besides features, and an edge more while it is drawn.
_NODE_BYTES, _EDGE_BYTES, _DRAW_BYTES = 64, 48, 48
# The exponent of the Pareto law of popularity: its tail gives a few nodes of very large degree.
_TAIL = 2.0


@dataclass(frozen=True)
class Synthetic:
    """All that decides a graph.

    Attributes:
        degree: the average degree, met to within 1 %: duplicates and self-loops are drawn again. Where hardly
            a pair of nodes is left to draw it is smaller, and a note reports it.
        homophily: the share of draws that are within a class; the others go anywhere.
        noise: the standard deviation of a node's features around the centre of its class, which is drawn with
            a standard deviation of 1.
        skew: class number c, from 1, has a share of nodes in proportion to c^-skew; 0 makes all equal.
    """

    nodes: Annotated[int, Field(ge=10, le=2**31 - 1)] = 10_000
    classes: Annotated[int, Field(ge=2)] = 10
    degree: Annotated[float, Field(ge=1e-9)] = 20.0
    features: Annotated[int, Field(ge=1, le=10**6)] = 100
    homophily: Annotated[float, Field(ge=0, le=1)] = 0.8
    noise: Annotated[float, Field(ge=0, le=1e6)] = 1.0
    skew: Annotated[float, Field(ge=0, le=10)] = 1.0
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0

    def __post_init__(self) -> None:
        for option, most in (("classes", self.nodes), ("degree", self.nodes - 1)):
            if not (value := getattr(self, option)) <= most:
                raise ConfigError(f"{option} of synthetic is {value}; it should be at most {most}")


def read_options(spec: str) -> Synthetic:
    """The options in a spec such as `synthetic:nodes=1000,classes=5`.

    Example:
        >>> read_options("synthetic:nodes=1000,noise=0.5").noise
        0.5
    """
    name, colon, options = spec.partition(":")
    return Synthetic(**typed_options("graph", name, Synthetic, options.split(",") if colon else []))


def make_synthetic(options: Synthetic, reading: ReadOptions) -> CleanGraph:
    """The graph that the options describe, from the cache if it is there."""
    reading.refuse_features()
    _require_memory(options)
    return cached(content_key(repr(options)), lambda: _draw(options, reading))


def _require_memory(options: Synthetic) -> None:
    edges = _wanted(options)
    drawn = _EDGE_BYTES * edges + _DRAW_BYTES * min(edges, _EDGES_AT_ONCE)
    features = 4 * options.features * (options.nodes + options.classes)
    described = (
        f"a synthetic graph of {options.nodes:,} nodes, {edges:,} edges and {options.features:,} features"
    )
    require_memory(_NODE_BYTES * options.nodes + drawn + features, described)


def _draw(options: Synthetic, reading: ReadOptions) -> CleanGraph:
    labels = _labels(options)
    adjacency = undirected(*_edges(options, labels, reading), options.nodes)
    graph = Graph(_features(options, labels), adjacency, torch.from_numpy(labels))
    names = tuple(str(number) for number in range(options.classes))
    wanted = _wanted(options)
    if _enough(graph.edges, wanted):
        return CleanGraph(graph, names, None, ())
    drawn = f"{graph.edges:,} of {wanted:,} edges were drawn"
    note = f"{drawn}: hardly a pair of nodes is left that the options allow"
    return CleanGraph(graph, names, None, (note,))


def _wanted(options: Synthetic) -> int:
    return max(round(options.nodes * options.degree / 2), 1)


def _enough(edges: int, wanted: int) -> bool:
    return wanted - edges <= _MISSING * wanted


def _draws(options: Synthetic, purpose: str) -> np.random.Generator:
    return np.random.default_rng(derive(options.seed, f"synthetic {purpose}"))


def _labels(options: Synthetic) -> Array:
    """Classes of the nodes, in random order; each class has at least one node."""
    shares = np.arange(1, options.classes + 1) ** -options.skew
    sizes = 1 + np.floor((options.nodes - options.classes) * shares / shares.sum()).astype(np.int64)
    sizes[0] += options.nodes - sizes.sum()
    return _draws(options, "labels").permutation(np.repeat(np.arange(options.classes), sizes))


def _edges(options: Synthetic, labels: Array, reading: ReadOptions) -> tuple[Array, Array]:
    """Both ends of each edge, each edge once; duplicates are drawn again."""
    draw = _drawer(options, labels)
    wanted = _wanted(options)
    # An edge is one number, the first node times the number of nodes plus the second: quick to sort.
    pairs = np.empty(0, np.int64)
    drawn = 0
    with Progress(f"drawing {reading.name}", wanted, shown=reading.show_progress) as progress:
        while not _enough(len(pairs), wanted) and drawn < _PATIENCE * wanted:
            new = np.empty(wanted - len(pairs), np.int64)
            for start in range(0, len(new), _EDGES_AT_ONCE):
                piece = new[start : start + _EDGES_AT_ONCE]
                piece[:] = draw(len(piece))
                progress.update(len(pairs) + start + len(piece), {})
            drawn += len(new)
            pairs = _merged(pairs, new)
    sources = (pairs // options.nodes).astype(np.int32)
    pairs %= options.nodes
    return sources, pairs.astype(np.int32)


def _drawer(options: Synthetic, labels: Array) -> Callable[[int], Array]:
    """A function that draws edges by popularity, the second end within the first one's class or anywhere.

    `line` is the cumulative popularity of the nodes, class by class: a uniform draw on the line is a node
    drawn by popularity, and a uniform draw between a class's bounds is one of that class.
    """
    draws = _draws(options, "edges")
    nodes = np.argsort(labels, kind="stable")
    line = np.cumsum(draws.pareto(_TAIL, options.nodes) + 1)
    last = np.cumsum(np.bincount(labels, minlength=options.classes)) - 1
    ends = line[last]
    begins = np.concatenate([[0.0], ends[:-1]])

    def draw(count: int) -> Array:
        # Sorted, so that the search finds its memory in the cache.
        first = _places(line, np.sort(draws.random(count)) * line[-1])
        blocks = np.searchsorted(last, first)
        within = draws.random(count) < options.homophily
        low = np.where(within, begins[blocks], 0.0)
        high = np.where(within, ends[blocks], line[-1])
        second = _places(line, low + draws.random(count) * (high - low))
        one, other = nodes[first], nodes[second]
        pairs: Array = np.where(one == other, _LOOP, np.minimum(one, other) * options.nodes)
        pairs += np.where(one == other, 0, np.maximum(one, other))
        return pairs

    return draw


def _merged(pairs: Array, new: Array) -> Array:
    """Sorted edges and new ones in any order, as sorted ones, each once and without self-loops."""
    new.sort()
    new = new[np.searchsorted(new, _LOOP, side="right") :]
    # A stable sort merges two sorted pieces in a single pass.
    merged = np.concatenate([pairs, new]) if len(pairs) else new
    merged.sort(kind="stable")
    first = np.ones(len(merged), bool)
    np.not_equal(merged[1:], merged[:-1], out=first[1:])
    return merged[first]


def _places(line: Array, points: Array) -> Array:
    # Rounding may put a point on the very end.
    return np.minimum(np.searchsorted(line, points, side="right"), len(line) - 1)


def _features(options: Synthetic, labels: Array) -> torch.Tensor:
    draws = _draws(options, "features")
    centres = draws.standard_normal((options.classes, options.features), np.float32)
    features = np.empty((options.nodes, options.features), np.float32)
    for start in range(0, options.nodes, _NODES_AT_ONCE):
        part = features[start : start + _NODES_AT_ONCE]
        draws.standard_normal(dtype=np.float32, out=part)
        part *= np.float32(options.noise)
        part += centres[labels[start : start + _NODES_AT_ONCE]]
    return torch.from_numpy(features)

"""The real side of a condensation: the training nodes of each class, with their propagated features."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from scipy.sparse import issparse
from torch import Tensor

from lqm.engine.randomness import generator
from lqm.graphs.graph import Features, Graph, dense, part_of, rows
from lqm.graphs.propagation import propagate
from lqm.methods.rules import RULES
from lqm.methods.samples import looked_at
from lqm.utils.errors import DataError
from lqm.utils.sentences import counted
from lqm.utils.stored_arrays import LazyArray, chunks

# The features of a real node that is kept without its edges: A_hat^hops X, or its own.
NodeFeatures = Literal["propagated", "own"]


@dataclass(frozen=True, eq=False)
class Population:
    """Training nodes by class, of one or several tasks.

    Attributes:
        own: the features of the nodes of each class, [n_c, F].
        propagated: the same after propagation, A_hat^hops X: the input of an encoder.
    """

    class_names: tuple[str, ...]
    own: Sequence[Features] = field(repr=False)
    propagated: Sequence[Features] = field(repr=False)

    @cached_property
    def sizes(self) -> list[int]:
        """Number of training nodes of each class."""
        return [int(part.shape[0]) for part in self.own]

    @property
    def width(self) -> int:
        """Number of features."""
        return int(self.own[0].shape[1])

    @cached_property
    def lengths(self) -> list[Tensor]:
        """The length of each node's propagated features, by class, [n_c]."""
        return [row_lengths(part) for part in self.propagated]

    def choices(self, label: int) -> Tensor:
        """Numbers of the nodes of a class that can stand for it: with a propagated feature but 0, if any has.

        A node of features 0 has no direction, and no gradient gives it one.
        """
        lengths = self.lengths[label]
        return (lengths != 0 if lengths.any() else lengths == 0).nonzero()[:, 0]


def featureless(real: Population) -> list[str]:
    """Sentences about nodes whose features are all 0, for the user.

    Raises:
        DataError: when there are no others.
    """
    named = list(zip(real.class_names, real.own, real.lengths, strict=True))
    if not any(lengths.any() for _, _, lengths in named):
        raise DataError(
            "the features of all training nodes are 0, so there is nothing to match; check the features, or "
            "leave them out of the file and make some of the edges (degree, spectral, one-hot)"
        )
    notes = []
    without = sum(int((row_lengths(own) == 0).sum()) for _, own, _ in named)
    if without:
        nodes = counted(without, "training node has", "training nodes have")
        notes.append(f"{nodes} no feature but 0; no synthetic node begins as one of them")
    notes += [
        f"class '{name}' has no training node with a feature but 0, even after propagation; its nodes stay so"
        for name, _, lengths in named
        if not lengths.any()
    ]
    return notes


def population(graph: Graph, by_class: Sequence[Tensor], class_names: Sequence[str], hops: int) -> Population:
    """The population of a graph: `by_class[c]` are the numbers of the training nodes of class c."""
    propagated = propagate(graph.features, graph.adjacency, hops)
    return divided(graph, propagated, by_class, class_names)


def divided(
    graph: Graph, propagated: Features, by_class: Sequence[Tensor], class_names: Sequence[str]
) -> Population:
    """The same of a graph whose propagated features, [N, F], are known."""
    return Population(
        tuple(class_names),
        [part_of(graph.features, nodes) for nodes in by_class],
        [part_of(propagated, nodes) for nodes in by_class],
    )


def joined(parts: Sequence[Population]) -> Population:
    """The classes of several tasks, one after the other."""
    return Population(
        tuple(name for part in parts for name in part.class_names),
        [own for part in parts for own in part.own],
        [propagated for part in parts for propagated in part.propagated],
    )


def choose_nodes(
    rule: str, population: Population, label: int, count: int, seed: int, index: int = 0
) -> Tensor:
    """Numbers, among the training nodes of a class, of `count` nodes: at random, or by one of `RULES`.

    The rules use the propagated features. Nodes repeat if the class has fewer than `count` that can stand for
    it. The choice depends on the seed, the class's name and the index.
    """
    choices = population.choices(label)
    draws = generator(seed, f"nodes of {population.class_names[label]}", index)
    if rule == "random":
        order = torch.randperm(population.sizes[label], generator=draws)
        chosen = order[torch.isin(order, choices)][:count]
    else:
        choices = looked_at(seed, choices)
        known = dense(rows(population.propagated[label], choices))
        chosen = choices[RULES[rule](known, min(count, len(choices)), draws)]
    return chosen[torch.arange(count) % len(chosen)]


def chosen_features(
    rule: str,
    population: Population,
    counts: Sequence[int],
    seed: int,
    index: int = 0,
    *,
    features: NodeFeatures = "propagated",
) -> Tensor:
    """The features of the nodes that `choose_nodes` chooses of each class, class after class, [M, F]."""
    parts = []
    for label, count in enumerate(counts):
        if count:
            nodes = choose_nodes(rule, population, label, count, seed, index)
            found = dense(rows(population.propagated[label], nodes))
            if features == "own":
                found = own_or_propagated(dense(rows(population.own[label], nodes)), found)
            parts.append(found)
    return torch.cat(parts)


def own_or_propagated(own: Tensor, propagated: Tensor) -> Tensor:
    """The features that nodes have of their own, or the propagated ones where these are all 0, [N, F]."""
    return torch.where((own != 0).any(dim=1, keepdim=True), own, propagated)


def row_lengths(features: Features) -> Tensor:
    """The Euclidean length of each row, [N]."""
    if issparse(features):
        return torch.from_numpy(np.sqrt(features.multiply(features).sum(axis=1))).reshape(-1)
    parts = chunks(features) if isinstance(features, LazyArray) else [features]
    return torch.cat([torch.linalg.vector_norm(part, dim=1) for part in parts])

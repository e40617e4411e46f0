"""The real side of a condensation: of each class, the training nodes as they are and as they are heard."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from lqm.engine.randomness import generator
from lqm.graphs.graph import Features, Graph, dense, rows
from lqm.graphs.propagation import propagate
from lqm.methods.rules import RULES


@dataclass(frozen=True, eq=False)
class Population:
    """Training nodes by class; the classes of several tasks may stand side by side.

    Attributes:
        own: the features of the nodes of each class, [n_c, F].
        heard: the same after propagation, A_hat^hops X: what an encoder is fed.
    """

    class_names: tuple[str, ...]
    own: Sequence[Features] = field(repr=False)
    propagated: Sequence[Features] = field(repr=False)

    @cached_property
    def sizes(self) -> list[int]:
        """Training nodes of each class."""
        return [int(part.shape[0]) for part in self.own]

    @property
    def width(self) -> int:
        """How many features a node has."""
        return int(self.own[0].shape[1])


def population(graph: Graph, by_class: Sequence[Tensor], class_names: Sequence[str], hops: int) -> Population:
    """The population of a graph: `by_class[c]` are the numbers of the training nodes of class c."""
    propagated = propagate(graph.features, graph.adjacency, hops)
    return Population(
        tuple(class_names),
        [rows(graph.features, nodes) for nodes in by_class],
        [rows(propagated, nodes) for nodes in by_class],
    )


def joined(parts: Sequence[Population]) -> Population:
    """The classes of several tasks side by side."""
    return Population(
        tuple(name for part in parts for name in part.class_names),
        [own for part in parts for own in part.own],
        [propagated for part in parts for propagated in part.propagated],
    )


def choose_nodes(
    rule: str, population: Population, label: int, count: int, seed: int, index: int = 0
) -> Tensor:
    """Numbers, among the training nodes of a class, of `count` that stand for it.

    Args:
        rule: `random`, or one of `RULES`, which look at the propagated features.
        population: the training nodes.
        label: the class.
        count: how many; distinct unless the class has fewer, which then come more than once.
        seed: everything random follows from it, the class's name and the index.
        index: which of several choices.
    """
    size = population.sizes[label]
    draws = generator(seed, f"nodes of {population.class_names[label]}", index)
    if rule == "random":
        chosen = torch.randperm(size, generator=draws)[:count]
    else:
        chosen = RULES[rule](dense(population.propagated[label]), min(count, size), draws)
    return chosen[torch.arange(count) % len(chosen)]


def chosen_features(
    rule: str, population: Population, counts: Sequence[int], seed: int, index: int = 0
) -> Tensor:
    """The features of the nodes that `choose_nodes` chooses of each class, class after class, [M, F]."""
    return torch.cat(
        [
            dense(rows(population.own[label], choose_nodes(rule, population, label, count, seed, index)))
            for label, count in enumerate(counts)
            if count
        ]
    )

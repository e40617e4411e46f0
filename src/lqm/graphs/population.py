"""The real side of a condensation: the training nodes of each class, with their propagated features."""

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


def population(graph: Graph, by_class: Sequence[Tensor], class_names: Sequence[str], hops: int) -> Population:
    """The population of a graph: `by_class[c]` are the numbers of the training nodes of class c."""
    propagated = propagate(graph.features, graph.adjacency, hops)
    return Population(
        tuple(class_names),
        [rows(graph.features, nodes) for nodes in by_class],
        [rows(propagated, nodes) for nodes in by_class],
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

    The rules use the propagated features. Nodes repeat if the class has fewer than `count`. The choice
    depends on the seed, the class's name and the index.
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

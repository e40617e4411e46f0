"""From what a reader found to a source: a clean graph, and which of its nodes are for what."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lqm.graphs.graph import Features, Graph
from lqm.graphs.sources.edges import clean_edges
from lqm.graphs.sources.features import FEATURES, clean_features, made_features
from lqm.graphs.sources.labels import clean_labels
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.sources.splits import Split, published_split, random_split
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.names import choose

Array = np.ndarray[Any, Any]

_SPLITS = ("published", "random")


@dataclass(frozen=True)
class Reading:
    """How a graph is to be read.

    Attributes:
        features: what to make the features of, for a graph without.
        split: `published` or `random`; the first where there is one, if not given.
    """

    name: str
    features: str | None = None
    split: str | None = None
    show_progress: bool = True

    def __post_init__(self) -> None:
        if self.features is not None:
            choose(self.features, FEATURES, "kind of features")
        if self.split is not None:
            choose(self.split, dict.fromkeys(_SPLITS), "split")

    def refuse_features(self) -> None:
        """Refuse to make features for a graph that has some.

        Raises:
            ConfigError: when they were asked for.
        """
        if self.features is not None:
            raise ConfigError(
                f"'{self.name}' has features of its own; leave features {self.features} out (--features)"
            )


class Found(NamedTuple):
    """What a reader found, as it was written: nothing of it is checked.

    Attributes:
        edges: numbers of the nodes at both ends, [2, E] or a pair of [E].
        labels: class numbers, [N]; -1 or NaN for a node without one.
        features: [N, F], dense or sparse; None if there are none.
        class_names: what the labels mean.
        published: the published numbers of the nodes to train, choose settings and test with.
        notes: what was done while reading, a sentence each.
    """

    edges: Any
    labels: Array
    features: Features | None
    class_names: Sequence[str] | None = None
    published: Split | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Clean:
    """A graph as `Graph` wants it, what its labels mean, its published split, and what was done to it."""

    graph: Graph
    class_names: tuple[str, ...]
    published: Split | None
    notes: tuple[str, ...]


def clean(found: Found, reading: Reading) -> Clean:
    """Check all that was found, and bring it into the form of `Graph`.

    Raises:
        DataError: when something can't be used; it says what, and what would be right.
        ConfigError: when features are to be made for a graph that has some.
    """
    place = f"'{reading.name}'"
    labels, class_names, label_notes = clean_labels(found.labels, found.class_names, place)
    nodes = len(labels)
    if found.features is not None:
        reading.refuse_features()
        features = clean_features(found.features, nodes, place)
    elif reading.features is None:
        raise DataError(f"{place} has no features; give features {_words(FEATURES)} (--features)")
    adjacency, edge_notes = clean_edges(found.edges, nodes, place)
    notes = [*found.notes, *edge_notes, *label_notes]
    if found.features is None:
        features, note = made_features(str(reading.features), adjacency, place)
        notes.append(note)
    return Clean(Graph(features, adjacency, labels), class_names, found.published, tuple(notes))


def finish(cleaned: Clean, reading: Reading) -> GraphSource:
    """Divide the nodes into those to train, to choose settings and to judge with.

    Raises:
        DataError: when the graph has no published split, or one that can't be used.
    """
    graph, name = cleaned.graph, reading.name
    if reading.split == "published" and cleaned.published is None:
        raise DataError(f"'{name}' has no published split; leave split out, or give random (--split random)")
    notes: tuple[str, ...] = ()
    if cleaned.published is None or reading.split == "random":
        parts, words = random_split(graph.labels, name), "random 60/20/20 of each class"
    else:
        parts, notes = published_split(cleaned.published, graph.labels, cleaned.class_names, name)
        words = "published"
    return GraphSource(
        name=name,
        graph=graph,
        class_names=cleaned.class_names,
        train=parts.train,
        validation=parts.validation,
        test=parts.test,
        split=words,
        # Whoever asked for features that are there already was refused.
        made_features=reading.features,
        notes=(*cleaned.notes, *notes),
    )


def _words(table: dict[str, Any]) -> str:
    *first, last = table
    return f"{', '.join(first)} or {last}"

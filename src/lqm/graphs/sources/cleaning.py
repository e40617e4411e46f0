"""From the arrays of a file to a source: a clean graph with a split."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from lqm.graphs.graph import Features, Graph
from lqm.graphs.sources.edges import clean_edges
from lqm.graphs.sources.features import FEATURES, clean_features, normalised
from lqm.graphs.sources.labels import ClassNames, clean_labels
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.sources.splits import Split, published_split, random_split
from lqm.graphs.sources.values import check_values, value_notes
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.names import choose
from lqm.utils.settings import check

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ReadOptions:
    """How a graph is to be read; `features`, `split` and `normalise_features` as `load_graph` takes them."""

    name: str
    features: str | None = None
    split: str | None = None
    normalise_features: bool = False
    show_progress: bool = True

    def __post_init__(self) -> None:
        if self.features is not None:
            choose(self.features, FEATURES, "kind of features")
        if self.split is not None:
            choose(self.split, dict.fromkeys(("published", "random")), "split")
        check("normalise_features", self.normalise_features, bool)

    def refuse_features(self) -> None:
        """Refuse to make features for a graph that has some."""
        if self.features is not None:
            raise ConfigError(
                f"'{self.name}' has features of its own; leave features {self.features} out (--features)"
            )


class RawGraph(NamedTuple):
    """The content of a file, unchecked.

    Attributes:
        edges: numbers of the nodes at both ends, [2, E] or a pair of [E].
        labels: class numbers, [N]; -1 or NaN for a node without one.
        features: [N, F], dense or sparse; None if there are none.
        notes: what was done while reading, a sentence each.
    """

    edges: Any
    labels: Array
    features: Features | None
    class_names: ClassNames = None
    published: Split | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class CleanGraph:
    """A checked graph with its class names, its published split, and what was done to it."""

    graph: Graph
    class_names: tuple[str, ...]
    published: Split | None
    notes: tuple[str, ...]


def clean(raw: RawGraph, options: ReadOptions) -> CleanGraph:
    """Check a raw graph, and bring it into the form of `Graph`."""
    place = f"'{options.name}'"
    labels, class_names, label_notes = clean_labels(raw.labels, raw.class_names, place)
    if raw.features is not None:
        options.refuse_features()
        features = clean_features(raw.features, len(labels), place)
    elif options.features is None:
        *first, last = FEATURES
        raise DataError(f"{place} has no features; give features {', '.join(first)} or {last} (--features)")
    adjacency, edge_notes = clean_edges(raw.edges, len(labels), place)
    notes = [*raw.notes, *edge_notes, *label_notes]
    if raw.features is not None:
        notes += value_notes(features)
    if raw.features is None:
        made = str(options.features)
        features = FEATURES[made](adjacency, place)
        notes.append(f"the graph has no features; {features.shape[1]:,} were made: {made}")
    return CleanGraph(Graph(features, adjacency, labels), class_names, raw.published, tuple(notes))


def as_source(cleaned: CleanGraph, options: ReadOptions) -> GraphSource:
    """Split the nodes into those for training, validation and testing; normalise their features if asked."""
    graph, name, published = cleaned.graph, options.name, cleaned.published
    if options.split == "published" and published is None:
        raise DataError(f"'{name}' has no published split; leave split out, or give random (--split random)")
    notes: tuple[str, ...] = ()
    if options.normalise_features:
        check_values(graph.features, name)
        graph = replace(graph, features=normalised(graph.features))
        cleaned = replace(cleaned, notes=(*cleaned.notes, "each node's features were divided by their sum"))
    if published is None or options.split == "random":
        parts, split = random_split(graph.labels, name), "random 60/20/20 of each class"
    else:
        parts, notes = published_split(published, graph.labels, cleaned.class_names, name)
        split = "published"
    return GraphSource(
        name,
        graph,
        cleaned.class_names,
        *parts,
        split=split,
        # `refuse_features` has made sure that a graph with features of its own has None here.
        made_features=options.features,
        notes=(*cleaned.notes, *notes),
    )

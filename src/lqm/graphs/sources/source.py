"""T in S* = argmin D(phi(T), phi(S)), for graphs: one graph, and which of its nodes are for what."""

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor

from lqm.graphs.graph import Graph, add_array, dense
from lqm.graphs.sources.splits import Split
from lqm.graphs.sources.values import check_values
from lqm.utils.errors import DataError
from lqm.utils.extras import missing

if TYPE_CHECKING:
    from torch_geometric.data import Data


@dataclass(frozen=True, eq=False)
class GraphSource:
    """A graph to condense, and its split (transductive: all features and edges may be used).

    Attributes:
        class_names: what the labels mean; every class has a training node.
        train: numbers of the nodes to condense, int64; all with a label, like those of the next two.
        validation: numbers of the nodes to choose settings by.
        test: numbers of the nodes to evaluate by.
        split: where these three come from.
        made_features: `degree`, `spectral` or `one-hot` if the features were made of the edges.
        notes: what was done to the graph while it was read, a sentence each.
        origin: the arguments with which `load_graph` finds it again; None if it was made in Python.
        scored_on: `test`, or `validation` where validation nodes are in their place; see `for_validation`.
    """

    name: str
    graph: Graph
    class_names: tuple[str, ...]
    train: Tensor = field(repr=False)
    validation: Tensor = field(repr=False)
    test: Tensor = field(repr=False)
    split: str = "as given"
    made_features: str | None = None
    notes: tuple[str, ...] = ()
    origin: dict[str, Any] | None = None
    scored_on: Literal["test", "validation"] = "test"

    def __post_init__(self) -> None:
        graph, classes = self.graph, len(self.class_names)
        check_values(graph.features, self.name)
        if graph.nodes and not (int(graph.labels.min()) >= -1 and int(graph.labels.max()) < classes):
            raise DataError(
                f"'{self.name}' has labels from {int(graph.labels.min())} to {int(graph.labels.max())}; with "
                f"{classes} class names they should be 0 to {classes - 1}, or -1 for a node without one"
            )
        parts = Split(self.train, self.validation, self.test)
        parts.check_range(graph.nodes, self.name)
        for part, nodes in parts._asdict().items():
            if (graph.labels[nodes] < 0).any():
                raise DataError(
                    f"'{self.name}' has {part} nodes without a label; leave them out of the split"
                )
        every = torch.cat(parts)
        if len(every.unique()) != len(every):
            raise DataError(f"a node of '{self.name}' is in two parts of the split; it should be in one")
        counts = graph.labels[self.train].bincount(minlength=classes)
        if (counts == 0).any():
            missing = self.class_names[int(counts.argmin())]
            raise DataError(f"class '{missing}' of '{self.name}' has no training node; it needs at least one")

    @cached_property
    def by_class(self) -> list[Tensor]:
        """The training nodes of each class."""
        labels = self.graph.labels[self.train]
        counts = labels.bincount(minlength=len(self.class_names)).tolist()
        return list(self.train[labels.argsort(stable=True)].split(counts))

    def for_validation(self) -> "GraphSource":
        """The same source to choose settings by: the validation nodes in place of the test nodes.

        The labels of the test nodes are removed; their features and edges stay (transductive).

        Raises:
            DataError: when there are no validation nodes.
        """
        if self.scored_on == "validation":
            return self
        if not len(self.validation):
            raise DataError(
                f"'{self.name}' has no validation nodes to choose settings by; give a val_mask, or split "
                "random (--split random)"
            )
        labels = self.graph.labels.clone()
        labels[self.test] = -1
        return replace(
            self,
            graph=replace(self.graph, labels=labels),
            validation=self.validation[:0],
            test=self.validation,
            scored_on="validation",
        )

    def to_pyg(self) -> "Data":
        """The graph as PyG's `Data`, with its three parts as masks."""
        try:
            from torch_geometric.data import Data
            from torch_geometric.utils import index_to_mask
        except ImportError as error:
            raise missing("PyG's Data", "torch_geometric", "graphs") from error
        edges = torch.from_numpy(np.stack(self.graph.adjacency.nonzero())).long()
        data = Data(x=dense(self.graph.features), edge_index=edges, y=self.graph.labels)
        parts = {"train_mask": self.train, "val_mask": self.validation, "test_mask": self.test}
        for name, nodes in parts.items():
            data[name] = index_to_mask(nodes, self.graph.nodes)
        return data

    @property
    def identity(self) -> dict[str, str]:
        """What a set must have been condensed from to be evaluated on this source."""
        return {"fingerprint": self.fingerprint}

    @property
    def record(self) -> dict[str, Any]:
        """The source in a manifest."""
        chosen_by = {"name": f"{self.name} (validation)", "validation": True}
        return {
            **({"name": self.name} if self.scored_on == "test" else chosen_by),
            "nodes": self.graph.nodes,
            "edges": self.graph.edges,
            "features": self.graph.width,
            "classes": len(self.class_names),
            "split": self.split,
            **self.identity,
        }

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of features, edges, labels, class names and split."""
        digest = hashlib.sha256("\0".join(self.class_names).encode(errors="surrogatepass"))
        self.graph.add_to(digest)
        for nodes in (self.train, self.validation, self.test):
            add_array(nodes.numpy(), digest)
        return digest.hexdigest()

"""A condensed set of the nodes of a graph."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor
from torch.utils.data import TensorDataset

from lqm.condensed.artefact import Manifest
from lqm.condensed.condensed_set import CondensedSet
from lqm.utils.extras import missing

if TYPE_CHECKING:
    from torch_geometric.data import Data


@dataclass(frozen=True, eq=False, repr=False)
class CondensedNodes(CondensedSet):
    """Nodes, as a rule without edges: what is to be known of their neighbours is in their features.

    Attributes:
        edges: pairs of nodes, both directions of each, [2, E]; none if the nodes are synthetic.
    """

    edges: Tensor = field(default_factory=lambda: torch.zeros(2, 0, dtype=torch.int64))

    holds = "features"

    @property
    def features(self) -> Tensor:
        """What each node is described by, [M, F], in the units of the source."""
        return self.data

    def dataset(self) -> TensorDataset:
        """Features and labels, for a model that needs no edges."""
        labelled = self.labels >= 0
        return TensorDataset(self.features[labelled], self.labels[labelled])

    def to_pyg(self) -> "Data":
        """The set as PyG's `Data`, on which any of its networks trains as it is.

        `train_mask` marks the nodes with a label: all of them, unless a memory keeps neighbours beside.
        """
        try:
            from torch_geometric.data import Data
        except ImportError as error:
            raise missing("PyG's Data", "torch_geometric", "graphs") from error
        labelled = self.labels >= 0
        return Data(self.features, self.edges, y=self.labels, train_mask=labelled, num_nodes=len(labelled))

    def tensors(self) -> dict[str, Tensor]:
        """What is written to the tensor file, by name."""
        return super().tensors() | {"edges": self.edges}

    @classmethod
    def of_tensors(cls, tensors: dict[str, Tensor], manifest: Manifest, path: Path) -> Self:
        """The set that was written as these tensors."""
        names = tuple(manifest["class_names"])
        return cls(tensors["features"], tensors["labels"], names, manifest, path, tensors["edges"])

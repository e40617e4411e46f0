"""A condensed set of the rows of a table."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import torch
from torch import Tensor
from torch.utils.data import TensorDataset

from lqm.condensed.artefact import Manifest
from lqm.condensed.condensed_set import CondensedSet
from lqm.condensed.standardisation import Standardisation
from lqm.condensed.tensors import ROWS
from lqm.utils.errors import DataError


@dataclass(frozen=True, eq=False, repr=False)
class CondensedTable(CondensedSet):
    """Rows of features, learned and stored standardised.

    Attributes:
        standardisation: mean and scale of each feature of the training rows, which `records` undoes.
    """

    standardisation: Standardisation = field(kw_only=True)

    holds = ROWS

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(self.manifest["feature_names"])

    def records(self) -> tuple[Tensor, Tensor]:
        """Features in the units of the source, float64 [M, F], and labels, [M]."""
        return self.standardisation.undo(self.data), self.labels

    def dataset(self) -> TensorDataset:
        """Standardised features, float32, and labels: train on it, and test on `standardised` rows."""
        return TensorDataset(self.data, self.labels)

    def standardised(self, features: Tensor) -> Tensor:
        """Rows in the units of the source, such as a test set, as a model of `dataset` is to be fed them.

        Raises:
            DataError: when they have another number of features.
        """
        width = self.data.shape[1]
        if features.ndim != 2 or features.shape[1] != width:
            raise DataError(
                f"features of shape {list(features.shape)} can't be standardised like this set; "
                f"they should be [N, {width}]"
            )
        return self.standardisation.apply(torch.as_tensor(features))

    def tensors(self) -> dict[str, Tensor]:
        """What is written to the tensor file, by name."""
        by = {"mean": self.standardisation.mean, "scale": self.standardisation.scale}
        return super().tensors() | by

    @classmethod
    def of_tensors(cls, tensors: dict[str, Tensor], manifest: Manifest, path: Path) -> Self:
        """The set that was written as these tensors."""
        by = Standardisation(tensors["mean"], tensors["scale"])
        names = tuple(manifest["class_names"])
        return cls(tensors[ROWS], tensors["labels"], names, manifest, path, standardisation=by)

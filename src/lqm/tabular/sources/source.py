"""T in S* = argmin D(phi(T), phi(S)), of tables: rows to condense, and those to evaluate by."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import torch
from torch import Tensor

from lqm.condensed.standardisation import Standardisation
from lqm.methods.splits import class_places, held_out
from lqm.recipes import TABLES
from lqm.utils.errors import DataError

_FOR_VALIDATION = 0.2


@dataclass(frozen=True, eq=False)
class Rows:
    """Labelled rows in main memory: features, [N, F], and class numbers, int64 [N]."""

    features: Tensor = field(repr=False)
    labels: Tensor = field(repr=False)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of features and labels."""
        digest = hashlib.sha256()
        self.add_to(digest)
        return digest.hexdigest()

    def add_to(self, digest: "hashlib._Hash") -> None:
        """Let features and labels go into a hash."""
        for tensor in (self.features, self.labels):
            digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
            digest.update(tensor.contiguous().numpy().data)

    def of_class(self, label: int) -> Tensor:
        """The features of one class, [n, F]."""
        return self.features[self.labels == label]

    def at(self, places: Tensor) -> "Rows":
        """Those of some places, or of a mask."""
        return Rows(self.features[places], self.labels[places])


@dataclass(frozen=True, eq=False)
class TableSource:
    """Rows to condense and rows to evaluate by, in the units that they came in.

    Networks see them standardised: by the mean and the deviation of each feature of the training rows.

    Attributes:
        train: features float32, or float64 where they came so: a large offset leaves float32 few digits.
        test: none if there is nothing to evaluate by.
        feature_names: what the columns are called.
        recipes: the name of the file of recipes that suit this source.
        origin: what `load_table` needs to find it again, if it came from there.
        notes: what a user should know of it.
        scored_on: `test`, or `validation` where training rows are held out as `test`; see `for_validation`.
        fitted: the standardisation, if it is not to be that of the training rows.
    """

    name: str
    train: Rows = field(repr=False)
    test: Rows = field(repr=False)
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...] = field(repr=False)
    recipes: str = TABLES
    origin: Mapping[str, Any] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    scored_on: Literal["test", "validation"] = "test"
    fitted: Standardisation | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for part, rows in (("training", self.train), ("test", self.test)):
            self._check(rows, f"the {part} rows of '{self.name}'")
        counts = self.train.labels.bincount(minlength=len(self.class_names))
        if (counts == 0).any():
            class_name = self.class_names[int(counts.argmin())]
            raise DataError(f"class '{class_name}' of '{self.name}' has no training row; leave it out")

    def _check(self, rows: Rows, what: str) -> None:
        features, labels, classes = rows.features, rows.labels, len(self.class_names)
        width = len(self.feature_names)
        if features.shape != (len(labels), width) or not features.is_floating_point():
            raise DataError(
                f"{what} are {features.dtype} of shape {list(features.shape)}; "
                f"they should be floats of shape [{len(labels)}, {width}]"
            )
        if len(labels) and not (labels.min() >= 0 and labels.max() < classes):
            raise DataError(
                f"{what} have labels from {labels.min()} to {labels.max()}; with {classes} class names "
                f"they should be 0 to {classes - 1}"
            )

    @property
    def shape(self) -> tuple[int]:
        """How many features a row has."""
        return (len(self.feature_names),)

    @cached_property
    def standardisation(self) -> Standardisation:
        """Mean and deviation of each feature of the training rows."""
        found = self.fitted or Standardisation.of(self.train.features)
        if not (found.mean.isfinite() & found.scale.isfinite() & (found.scale > 0)).all():
            place = int((found.mean + found.scale).isfinite().float().argmin())
            raise DataError(
                f"'{self.feature_names[place]}' of '{self.name}' has numbers too large or too near to each "
                "other to be standardised; scale them"
            )
        return found

    @cached_property
    def standardised_train(self) -> Rows:
        """The training rows as networks see them, float32."""
        return Rows(self.standardisation.apply(self.train.features), self.train.labels)

    @cached_property
    def standardised_test(self) -> Rows:
        """The test rows as networks see them, float32."""
        return Rows(self.standardisation.apply(self.test.features), self.test.labels)

    @cached_property
    def by_class(self) -> list[Tensor]:
        """The standardised training rows of each class."""
        rows = self.standardised_train
        return [rows.features[own] for own in class_places(rows.labels, len(self.class_names))]

    @property
    def identity(self) -> dict[str, str]:
        """What decides a score: the data, whatever they are called."""
        return {"fingerprint": self.fingerprint}

    @property
    def record(self) -> dict[str, Any]:
        """What tells this source from another, for the manifest."""
        known = {"features": len(self.feature_names), "classes": len(self.class_names), **self.identity}
        if self.scored_on == "validation":
            return {"name": f"{self.name} (validation)", "validation": True, **known}
        return {"name": self.name, **known}

    def for_validation(self) -> "TableSource":
        """The same source to choose settings by: held-out training rows in place of the test rows.

        They are a fifth of each class, the same in every run; the other four fifths are condensed.

        Raises:
            DataError: when no class has two training rows.
        """
        if self.scored_on == "validation":
            return self
        chosen = held_out(self.train.labels, len(self.class_names), _FOR_VALIDATION, "validation split")
        if not chosen.any():
            raise DataError(
                f"every class of '{self.name}' has one training row, so none can be held out for "
                "validation; add rows"
            )
        train, test = self.train.at(~chosen), self.train.at(chosen)
        return replace(self, train=train, test=test, notes=(), scored_on="validation", fitted=None)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all rows, labels and names."""
        names = "\0".join((*self.class_names, "", *self.feature_names))
        digest = hashlib.sha256(names.encode("utf-8", "surrogatepass"))
        for rows in (self.train, self.test):
            rows.add_to(digest)
        return digest.hexdigest()


def no_rows(width: int) -> Rows:
    """What stands for a test set where there is none."""
    return Rows(torch.zeros(0, width), torch.zeros(0, dtype=torch.int64))

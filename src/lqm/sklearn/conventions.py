"""What samplers give back, and the tags by which scikit-learn and imbalanced-learn know them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import InputTags, Tags
from sklearn.utils.multiclass import type_of_target

from lqm.condensed import CondensedTable

Array = NDArray[Any]


@dataclass(slots=True)
class FrameTags(InputTags):
    """What imbalanced-learn asks of inputs beside scikit-learn's tags."""

    dataframe: bool = True


@dataclass(slots=True)
class Chooses:
    """What imbalanced-learn asks of a sampler: whether it has `sample_indices_`."""

    sample_indices: bool = False


@dataclass(slots=True)
class SamplerTags(Tags):
    """The tags of a sampler."""

    sampler_tags: Chooses = field(default_factory=Chooses)


def sampler_tags(tags: Tags, *, chooses: bool) -> SamplerTags:
    """The tags of a sampler, with those that any estimator has; whether it `chooses` rows of its input."""
    known = {name: getattr(tags, name) for name in Tags.__dataclass_fields__}
    known |= {"estimator_type": "sampler", "input_tags": FrameTags()}
    return SamplerTags(**known, sampler_tags=Chooses(chooses))


def one_dimensional(y: Any) -> Any:
    """Labels as they are; the classes of an indicator matrix, and a single column without its axis."""
    columns = np.asarray(y)
    if columns.ndim != 2:
        return y
    if columns.shape[1] == 1:
        return columns[:, 0]
    if type_of_target(columns) == "multilabel-indicator" and (columns.sum(axis=1) == 1).all():
        return columns.argmax(axis=1)
    raise ValueError("Multilabel and multioutput targets are not supported.")


def in_dtype(values: Array, kind: np.dtype[Any]) -> Array:
    """Values in a dtype; whole numbers and truth values by the nearest."""
    return (np.rint(values) if kind.kind in "biu" else values).astype(kind)


def like(values: Array, given: Any) -> Any:
    """What was computed, in the type of what was given: a list, a frame or series of pandas, or an array."""
    if isinstance(given, list):
        return values.tolist()
    if type(given).__module__.partition(".")[0] != "pandas":
        return values
    import pandas as pd

    if isinstance(given, pd.Series):
        return pd.Series(values, dtype=given.dtype, name=given.name)
    frame = pd.DataFrame(values.reshape(len(values), -1), columns=given.columns)
    whole = [name for name, kind in given.dtypes.items() if getattr(kind, "kind", "O") in "biu"]
    return frame.round(dict.fromkeys(whole, 0)).astype(given.dtypes)


def places(condensed: CondensedTable, features: Array) -> Array:
    """The number of each chosen row among those that were given."""
    known = condensed.standardisation.apply(torch.from_numpy(features.astype(np.float64))).numpy()
    numbers = {row.tobytes(): number for number, row in reversed([*enumerate(known)])}
    return np.array([numbers[row.numpy().tobytes()] for row in condensed.data])

"""What a reader of files found, before it is checked and split."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class FoundTable:
    """Features [N, F], labels [N], what the columns and classes are called, and test rows, if any."""

    features: NDArray[Any]
    labels: NDArray[Any]
    feature_names: tuple[str, ...] | None = None
    class_names: tuple[str, ...] | None = None
    test: tuple[NDArray[Any], NDArray[Any]] | None = None

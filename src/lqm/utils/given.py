"""Data that are handed over in Python, and what they look like to a type checker."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    Array: TypeAlias = NDArray[np.generic] | Tensor
    Labels: TypeAlias = NDArray[np.generic] | Tensor | Sequence[int] | Sequence[str]


class Frame(Protocol):
    """A pandas frame, which is not imported to be known."""

    @property
    def columns(self) -> Sequence[object]: ...  # noqa: D102

    def __getitem__(self, column: str, /) -> object: ...

    def __len__(self) -> int: ...


class HubDataset(Protocol):
    """A Hugging Face `Dataset`, which is not imported to be known."""

    @property
    def column_names(self) -> Sequence[str]: ...  # noqa: D102

    @property
    def features(self) -> object: ...  # noqa: D102

    def __getitem__(self, row: int, /) -> object: ...

    def __len__(self) -> int: ...


class HubSplits(Protocol):
    """A Hugging Face `DatasetDict`: datasets by the names of their splits."""

    def __getitem__(self, split: str, /) -> HubDataset: ...

    def __iter__(self) -> Iterator[str]: ...


@dataclass(frozen=True, eq=False)
class GivenData:
    """Data out of a program, as they are; the kind of data that they are reads them.

    Attributes:
        records: arrays, a dataset, a frame or a graph.
        labels: one a record, where they come apart from the records.
        test: records to evaluate by, with their labels, in the same form.
        class_names: the names of the classes, if they are given.
    """

    records: object
    labels: object = None
    test: object = None
    class_names: Sequence[str] | None = None

    def __str__(self) -> str:
        """What to call it in a sentence."""
        return "arrays" if self.labels is not None else type(self.records).__name__

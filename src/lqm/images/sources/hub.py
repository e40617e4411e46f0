"""A dataset of Hugging Face's `datasets`, as images."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from lqm.images.sources.dataset import read_dataset
from lqm.images.sources.found import Found, Reading
from lqm.utils.errors import DataError
from lqm.utils.given import GivenData
from lqm.utils.terminal import shown

_IMAGES = ("image", "img")
_LABELS = ("label", "labels", "fine_label", "class", "target")
_TRAIN, _TEST = "train", ("test", "validation", "valid", "val")


class _Rows:
    """The rows of a dataset as pairs of an image and its label; `classes` are the names, if known."""

    def __init__(self, dataset: Any, what: str) -> None:
        self._dataset = dataset
        self._image, self._label = _columns(dataset, what)
        names = getattr(dataset.features[self._label], "names", None)
        self.classes: Sequence[str] | None = None if names is None else tuple(names)

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, row: int) -> tuple[object, object]:
        item = self._dataset[row]
        return item[self._image], item[self._label]


def is_hub(source: object) -> bool:
    """Whether an object is a dataset of Hugging Face, or several by split, without importing `datasets`."""
    module = sys.modules.get("datasets")
    return module is not None and isinstance(source, module.Dataset | module.DatasetDict)


def read_hub(given: GivenData, reading: Reading) -> Found:
    """The images of a dataset; of a `DatasetDict`, its splits `train` and `test` (or `validation`).

    Raises:
        DataError: when it has no column of images or of labels, or no split to train on.
    """
    train, test = given.records, given.test
    if isinstance(train, Mapping):
        train, own = _splits(train)
        test = own if test is None else test
    if isinstance(test, Mapping):
        raise DataError("the test set is a DatasetDict; give one of its splits")
    parts = {"training": train} if test is None else {"training": train, "test": test}
    rows = [_Rows(dataset, f"the {part} set of '{reading.name}'") for part, dataset in parts.items()]
    return read_dataset(rows[0], rows[1] if len(rows) == 2 else None, reading, given.class_names)


def _splits(splits: Mapping[str, object]) -> tuple[object, object]:
    if _TRAIN not in splits:
        raise DataError(
            f"the DatasetDict has the splits {shown(', '.join(splits))}; it should have '{_TRAIN}', and "
            "'test' or 'validation' if there is a test set, or give one split itself"
        )
    return splits[_TRAIN], next((splits[name] for name in _TEST if name in splits), None)


def _columns(dataset: Any, what: str) -> tuple[str, str]:
    """The columns of the images and of the labels: by type if one alone has it, else by name."""
    kinds = {name: type(feature).__name__ for name, feature in dataset.features.items()}
    images = [name for name, kind in kinds.items() if kind == "Image"]
    labels = [name for name, kind in kinds.items() if kind == "ClassLabel"]
    plain = [name for name in kinds if name in _LABELS and _is_label(dataset.features[name])]
    image, label = _chosen(images, _IMAGES), _chosen(labels or plain, _LABELS)
    if image is None or label is None:
        missing = (
            "images (datasets.Image)" if image is None else "labels (a ClassLabel, whole numbers or texts)"
        )
        numbers = [name for name in kinds if name != label and _is_number(dataset.features[name])]
        has_rows = bool(numbers) and not images
        rows = "; rows of numbers are given as lqm.condense(X, y), with X [N, F]" * has_rows
        raise DataError(
            f"{what} has the columns {shown(', '.join(kinds), 300)}, of which none, or none alone, holds "
            f"{missing}; rename it to '{(_IMAGES if image is None else _LABELS)[0]}'{rows}"
        )
    return image, label


def _is_label(feature: Any) -> bool:
    kind = str(getattr(feature, "dtype", ""))
    return kind.startswith(("int", "uint")) or kind in ("string", "large_string", "bool")


def _is_number(feature: Any) -> bool:
    """Whether a column has numbers, or lists of them."""
    kind = str(getattr(getattr(feature, "feature", feature), "dtype", ""))
    return kind.startswith(("int", "uint", "float"))


def _chosen(found: Sequence[str], usual: Sequence[str]) -> str | None:
    if len(found) == 1:
        return found[0]
    return next((name for name in usual if name in found), None)

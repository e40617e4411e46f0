"""The layouts in which the field's scripts save images and labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lqm.utils.archives import Array
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.npz import listed
from lqm.utils.torch_files import StoredTensor

# Names under which images and labels are saved, and the learning rate beside them.
PAIRS = (("images", "labels"), ("data", "targets"), ("data", "labels"), ("x", "y"))
RATES = ("learning_rate", "syn_lr", "lr")
_LAYOUTS = (
    "a list [images, labels], a dictionary of images and labels or of data and targets, or one whose data "
    "are a list of [images, labels]"
)


@dataclass(frozen=True, eq=False)
class Given:
    """Images and labels as they are in the files of others.

    Attributes:
        images: of any of the usual layouts and scales.
        labels: class numbers, [N]; or rows of shares or logits, [N, classes], if they are soft.
        place: the files in words, for sentences.
        files: what was read, for the SHA-256.
        soft_labels: rows beside the class numbers, where a file has both.
        rate: the learning rate that belongs to the images, if the files say one.
        class_names: what the class numbers mean, if the files say it.
    """

    images: Array = field(repr=False)
    labels: Array = field(repr=False)
    place: str
    files: tuple[Path, ...] = ()
    soft_labels: Array | None = field(default=None, repr=False)
    rate: float | None = None
    class_names: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Pair:
    """Images, labels and rate as they lie in a file; labels are None where they are in another one."""

    images: Any
    labels: Any = None
    rate: Any = None


def is_tensor(value: Any) -> bool:
    """Whether this is a tensor or an array of a file."""
    return isinstance(value, StoredTensor | np.ndarray)


def pair_in(content: Any, item: int | None, place: str) -> Pair:
    """The images and labels in what a file of torch holds; `item` chooses where it holds several sets.

    Raises:
        DataError: when it holds none in a known layout.
        ConfigError: when it holds several and none is chosen, or fewer than that.
    """
    if is_tensor(content):
        sets = [Pair(content)]
    elif isinstance(content, Mapping):
        sets = _in_dictionary(content)
    else:
        sets = _in_list(content)
    if not sets:
        raise DataError(f"{place} holds {_described(content)}; it should hold {_LAYOUTS}")
    last = len(sets) - 1
    if item is None and last:
        raise ConfigError(f"{place} holds {len(sets)} sets; choose one by --item, from 0 to {last}")
    if item is not None and not 0 <= item <= last:
        raise ConfigError(f"item = {item} can't be used: {place} has sets 0 to {last}")
    return sets[item or 0]


def _in_dictionary(content: Mapping[Any, Any]) -> list[Pair]:
    rate = next((content[name] for name in RATES if name in content), None)
    for images, labels in PAIRS:
        if is_tensor(content.get(images)) and is_tensor(content.get(labels)):
            return [Pair(content[images], content[labels], rate)]
    return _in_list(content.get("data"))


def _in_list(content: Any) -> list[Pair]:
    if not isinstance(content, list | tuple):
        return []
    if len(content) == 2 and all(map(is_tensor, content)):
        return [Pair(*content)]
    pairs = [_in_list(each) for each in content if isinstance(each, list | tuple)]
    if len(pairs) != len(content) or not all(len(pair) == 1 for pair in pairs):
        return []
    return [pair[0] for pair in pairs]


def _described(content: Any) -> str:
    if isinstance(content, Mapping):
        return f"a dictionary of {listed(map(str, content))}"
    if isinstance(content, list | tuple):
        kinds = {"tensors" if is_tensor(each) else f"{type(each).__name__}s" for each in content}
        return f"a list of {len(content)} {' and '.join(sorted(kinds)) or 'things'}"
    return f"a {type(content).__name__}"

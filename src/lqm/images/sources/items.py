"""Labelled images out of what a training loop already has: a dataset, or a pair of arrays."""

import numpy as np
import torch
from torch import Tensor

from lqm.utils.errors import DataError
from lqm.utils.names import shown_value

_RIGHT = "give a dataset whose items begin with an image and its label, or a pair of images and labels"


def labelled_items(given: object) -> tuple[Tensor, Tensor]:
    """Images [N, C, H, W] as they are given, and class numbers [N].

    Args:
        given: a pair of arrays or tensors, or a map-style dataset; what its items have after the image and
            the label, such as the number of a task, is left out.

    Raises:
        DataError: when it is neither.
    """
    if isinstance(given, tuple | list) and len(given) == 2:
        images, labels = (_tensor(part, "what was given") for part in given)
    else:
        images, labels = _of_dataset(given)
    if images.ndim != 4 or labels.shape != images.shape[:1] or not len(labels):
        raise DataError(
            f"images of shape {list(images.shape)} come with labels of shape {list(labels.shape)}; they "
            "should be [N, C, H, W] and [N]"
        )
    if labels.is_floating_point() or labels.dtype == torch.bool:
        raise DataError(f"the labels are of type {labels.dtype}; they should be whole numbers")
    return images, labels.long()


def _of_dataset(dataset: object) -> tuple[Tensor, Tensor]:
    if not (hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")):
        raise DataError(f"{shown_value(dataset)} has no images; {_RIGHT}")
    images, labels = [], []
    for index in range(len(dataset)):
        item = dataset[index]
        if not isinstance(item, tuple | list) or len(item) < 2:
            raise DataError(f"item {index} of the dataset is {shown_value(item)}; {_RIGHT}")
        images.append(_tensor(item[0], f"item {index} of the dataset"))
        labels.append(int(item[1]))
    shapes = {tuple(image.shape) for image in images}
    if len(shapes) != 1:
        raise DataError(f"the dataset has images of {len(shapes)} shapes; it should have some, of one shape")
    return torch.stack(images), torch.tensor(labels)


def _tensor(value: object, what: str) -> Tensor:
    if isinstance(value, Tensor):
        return value.detach().cpu()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    raise DataError(f"{what} has {shown_value(value)} in it; give tensors or arrays, as by ToTensor")

"""What a file of tensors says it belongs to: a run or a bank, and its number in it."""

import json
from collections.abc import Mapping, Sequence

from torch import Tensor

_ENTRY = "lqm"


def belonging(run: str | None, number: Sequence[int]) -> dict[str, str] | None:
    """The entry of the metadata of a file; None for runs of earlier versions, which have no name."""
    return None if run is None else {_ENTRY: json.dumps({"run": run, "number": list(number)})}


def belongs(metadata: Mapping[str, str], run: str | None, number: Sequence[int]) -> bool:
    """Whether a file belongs where it was found; those of earlier versions do not say."""
    return metadata.get(_ENTRY) == (belonging(run, number) or {}).get(_ENTRY)


def as_stored(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors as safetensors takes them."""
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}

"""Results between processes: a line of JSON, then the bytes of tensors; nothing that could be code."""

import json
from collections.abc import Mapping
from typing import IO, Any

from safetensors.torch import load, save
from torch import Tensor

from lqm.utils.binding import as_stored

_BYTES = "bytes"


def write_frame(
    stream: IO[bytes], head: Mapping[str, Any], tensors: Mapping[str, Tensor] | None = None
) -> None:
    """Write one message."""
    content = save(as_stored(tensors)) if tensors else b""
    stream.write(json.dumps({**head, _BYTES: len(content)}).encode() + b"\n" + content)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
    """The next message; None if the other side has ended."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    head: dict[str, Any] = json.loads(line)
    size = head.pop(_BYTES)
    content = stream.read(size)
    if len(content) < size:
        return None
    return head, load(content) if size else {}

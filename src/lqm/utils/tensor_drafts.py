"""A file of tensors whose records come one by one, so that they are never all in memory."""

import os
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lqm.utils.tensors import header_text, tensor_header

# Room in the header for the digits of a shape that becomes larger, and records that are widened at a time.
_SPARE, _AT_A_TIME = 256, 1 << 24


class TensorDraft:
    """An open file to which records [C, ...] are added, those of one tensor after those of another.

    Args:
        file: new and empty, open for writing and reading; the caller flushes, names and closes it.
        beside: tensors that are in memory.
        counts: how many records each tensor that is added to will have, in order.
        shape: of a record.
        dtype: of the numbers of a record.
        metadata: texts by name.
    """

    def __init__(
        self,
        file: BinaryIO,
        beside: Mapping[str, Tensor],
        counts: Mapping[str, int],
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        metadata: Mapping[str, str],
    ) -> None:
        self._file, self._beside, self._counts, self._metadata = file, beside, counts, metadata
        self.shape, self.dtype = shape, dtype
        self._length = len(header_text(self._header())) + _SPARE
        self._length += -self._length % 8
        file.write(b" " * (8 + self._length))
        for tensor in beside.values():
            file.write(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
        self._begin = file.tell()
        self._added = 0

    def add(self, record: NDArray[np.generic]) -> None:
        """The next record; one channel stands for all."""
        self._file.write(np.ascontiguousarray(np.broadcast_to(record, self.shape)).data)
        self._added += 1

    def widen(self, channels: int) -> None:
        """Repeat the one channel of every record that was added; in the file, from the last one on."""
        assert self.shape[0] == 1
        self._file.flush()
        size = int(np.prod(self.shape)) * self.dtype.itemsize
        step = max(1, _AT_A_TIME // (channels * size))
        for last in range(self._added, 0, -step):
            first = max(0, last - step)
            content = os.pread(self._file.fileno(), (last - first) * size, self._begin + first * size)
            if len(content) != (last - first) * size:
                raise OSError(f"{len(content)} bytes were read of {(last - first) * size}")
            records = np.frombuffer(content, self.dtype).reshape(last - first, *self.shape)
            self._file.seek(self._begin + first * channels * size)
            self._file.write(np.repeat(records, channels, axis=1).data)
        self.shape = (channels, *self.shape[1:])
        self._file.seek(self._begin + self._added * channels * size)

    def finish(self) -> None:
        """Write the header, once all records were added."""
        assert self._added == sum(self._counts.values())
        text = header_text(self._header())
        self._file.seek(0)
        self._file.write(self._length.to_bytes(8, "little") + text.ljust(self._length))

    def _header(self) -> dict[str, Any]:
        dtype = torch.from_numpy(np.empty(0, self.dtype)).dtype
        kinds = {name: (tensor.dtype, tuple(tensor.shape)) for name, tensor in self._beside.items()}
        kinds |= {name: (dtype, (count, *self.shape)) for name, count in self._counts.items()}
        return {"__metadata__": dict(self._metadata), **tensor_header(kinds)}

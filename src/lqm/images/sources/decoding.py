"""Many encoded images become one set, kept in the cache by the content of the files that they came from."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import PIL
from numpy.typing import NDArray
from torch import Tensor

from lqm.engine.progress import Progress
from lqm.images.sources.found import Found, Reading
from lqm.images.sources.image_file import Encoded, decode, pillow_within_limits
from lqm.images.sources.labelled import Images
from lqm.images.sources.stack import Stack
from lqm.utils.cache import Packed, content_key, kept
from lqm.utils.errors import DataError
from lqm.utils.limits import max_memory

THREADS = 4  # images that are read at a time
_AT_A_TIME = 1 << 26  # bytes of images that are held beside the set
_PIECE = 64  # images that a thread reads at a time; one by one, small ones take twice as long


def decode_set(
    encoded: Iterable[Encoded],
    labels: tuple[Tensor, Tensor | None],
    class_names: tuple[str, ...],
    reading: Reading,
    *,
    described: str,
    root: Path,
    files: Iterable[Path],
) -> Found:
    """The set of these images: first those for training, then those for testing, as the labels are.

    Args:
        encoded: the images of the files.
        labels: of the training and of the test images.
        class_names: the names of the classes.
        reading: how the set is to be read.
        described: what decides the set beside the files and how it is read.
        root: the folder that the names of the files are relative to.
        files: the files, whose names and bytes decide whether the cache has the set.
    """
    train, test = labels

    def decoded() -> Found:
        images = _decode_all(iter(encoded), len(train) + (0 if test is None else len(test)), reading)
        held_out = None if test is None else Images(images[len(train) :], test)
        return Found(Images(images[: len(train)], train), held_out, class_names)

    key = content_key(f"{described}/{reading.size}/{PIL.__version__}", root, files)
    return kept("images", key, decoded, pack=_pack, unpack=_unpack)


def _pack(found: Found) -> Packed:
    tensors = {"train.images": found.train.images, "train.labels": found.train.labels}
    if found.test:
        tensors |= {"test.images": found.test.images, "test.labels": found.test.labels}
    return Packed(tensors, {"class_names": found.class_names})


def _unpack(packed: Packed) -> Found:
    train, test = (
        Images(packed.tensors[f"{part}.images"], packed.tensors[f"{part}.labels"])
        if f"{part}.images" in packed.tensors
        else None
        for part in ("train", "test")
    )
    assert train
    return Found(train, test, tuple(packed.notes["class_names"]))


def _decode_all(encoded: Iterator[Encoded], total: int, reading: Reading) -> Tensor:
    stack = Stack(total, "pass --size {0}, in Python size={0}, to bring all images to one size")
    with (
        Progress(f"reading {reading.name}", total, shown=reading.show_progress) as progress,
        ThreadPoolExecutor(THREADS) as pool,
        pillow_within_limits(),
    ):
        decode_piece = partial(_decode_piece, size=reading.size, check_size=stack.check_size)
        for chunk, a_piece in _chunks(encoded, stack):
            pieces = [chunk[start : start + a_piece] for start in range(0, len(chunk), a_piece)]
            # A thread does not know the limit of memory that was chosen outside unless it runs in a copy.
            contexts = [copy_context() for _ in pieces]
            decoded = pool.map(lambda context, piece: context.run(decode_piece, piece), contexts, pieces)
            for image, pixels in zip(chunk, chain.from_iterable(decoded), strict=True):
                stack.add(pixels, image.place)
            stack.check_square()
            progress.update(len(stack), {})
    if len(stack) != total:
        raise DataError(
            f"'{reading.name}' has {total:,} labels and {len(stack):,} images; they should be as many"
        )
    return stack.images


def _decode_piece(
    piece: list[Encoded], size: int | None, check_size: Callable[[int, int, str], None]
) -> list[NDArray[np.uint8]]:
    return [decode(image, size, check_size) for image in piece]


def _chunks(encoded: Iterator[Encoded], stack: Stack) -> Iterator[tuple[list[Encoded], int]]:
    """Images to decode at a time, and how many of them a thread takes: the first alone, which tells the size.

    Encoded as well as decoded, the images of a chunk take a small part of the memory that may be taken.
    """
    share = min(_AT_A_TIME, max_memory() // 16)
    chunk: list[Encoded] = []
    held, a_piece = 0, 1
    for image in encoded:
        chunk.append(image)
        held += image.held
        if len(chunk) >= (THREADS * a_piece if len(stack) else 1) or held > share:
            yield chunk, a_piece
            a_piece = max(1, min(_PIECE, share // (THREADS * stack.bytes_an_image)))
            chunk, held = [], 0
    if chunk:
        yield chunk, a_piece

"""Many encoded images become one set, kept in the cache by the content of the files that they came from."""

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from contextvars import copy_context
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import numpy as np
import PIL
from numpy.typing import NDArray
from torch import Tensor

from lqm.engine.progress import Progress
from lqm.images.sources.found import Found, Reading
from lqm.images.sources.image_file import Encoded, decode, pillow_within_limits
from lqm.images.sources.rooms import KIND, LAZILY, ImageRoom, InCache, pack, unpack
from lqm.images.sources.stack import InMemory, Stack
from lqm.utils.cache import content_key, kept
from lqm.utils.errors import DataError
from lqm.utils.limits import max_memory

THREADS = 4  # images that are read at a time
_AT_A_TIME = 1 << 26  # bytes of images that are held beside the set
_ADVICE = "pass --size {0}, in Python size={0}, to bring all images to one size"
_PIECE = 64  # images that a thread reads at a time; one by one, small ones take twice as long

ImageStack: TypeAlias = Stack[InMemory | InCache]
# Pixels [C, H, W], and what to call the image in a sentence.
Chunk: TypeAlias = Iterable[tuple[NDArray[np.uint8], str]]
Chunks: TypeAlias = Generator[Chunk, None, None]


def decode_set(
    decoded: Callable[[ImageStack], Chunks],
    labels: tuple[Tensor, Tensor | None],
    class_names: tuple[str, ...],
    reading: Reading,
    *,
    described: str,
    root: Path,
    files: Iterable[Path],
) -> Found:
    """The set of these images: first those for training, then those for testing, as the labels are.

    Few images are in memory. Many are written to the cache as they come, and stay there.

    Args:
        decoded: gives the images of the files, some at a time; see `in_threads`.
        labels: of the training and of the test images.
        class_names: the names of the classes.
        reading: how the set is to be read.
        described: what decides the set beside the files and how it is read.
        root: the folder that the names of the files are relative to.
        files: the files, whose names and bytes decide whether the cache has the set.
    """
    total = sum(len(part) for part in labels if part is not None)
    key = content_key(f"{described}/{reading.size}/{PIL.__version__}", root, files)

    def make() -> Found:
        with ExitStack() as opened:
            room = ImageRoom(key, labels, class_names, opened)
            stack = Stack(total, _ADVICE, room.make)
            with closing(decoded(stack)) as chunks:
                _fill(stack, chunks, total, reading)
            return room.found(stack.room)

    return kept(KIND, key, make, pack=pack, unpack=unpack, lazily=LAZILY)


def _fill(stack: ImageStack, chunks: Chunks, total: int, reading: Reading) -> None:
    with Progress(f"reading {reading.name}", total, shown=reading.show_progress) as progress:
        for chunk in chunks:
            for pixels, place in chunk:
                stack.add(pixels, place)
            stack.check_square()
            progress.update(len(stack), {})
    if len(stack) != total:
        raise DataError(
            f"'{reading.name}' has {total:,} labels and {len(stack):,} images; they should be as many"
        )


def in_threads(encoded: Iterable[Encoded], size: int | None, stack: ImageStack) -> Chunks:
    """Decode images by threads of this process; the stack refuses a size before its image is decoded."""
    with ThreadPoolExecutor(THREADS) as pool, pillow_within_limits():
        decode_piece = partial(_decode_piece, size=size, check_size=stack.check_size)
        for chunk, a_piece in _chunks(iter(encoded), stack):
            pieces = [chunk[start : start + a_piece] for start in range(0, len(chunk), a_piece)]
            # A thread does not know the limit of memory that was chosen outside unless it runs in a copy.
            contexts = [copy_context() for _ in pieces]
            decoded = pool.map(lambda context, piece: context.run(decode_piece, piece), contexts, pieces)
            places = (image.place for image in chunk)
            yield zip(chain.from_iterable(decoded), places, strict=True)


def _decode_piece(
    piece: list[Encoded], size: int | None, check_size: Callable[[int, int, str], None]
) -> list[NDArray[np.uint8]]:
    return [decode(image, size, check_size) for image in piece]


def _chunks(encoded: Iterator[Encoded], stack: ImageStack) -> Iterator[tuple[list[Encoded], int]]:
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

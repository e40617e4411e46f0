"""Many encoded images become one set, kept in the cache by the content of the files that they came from."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path

import PIL
from torch import Tensor

from lqm.engine.progress import Progress
from lqm.images.sources.found import Found, Reading
from lqm.images.sources.image_file import Encoded, decode
from lqm.images.sources.source import Images
from lqm.images.sources.stack import Stack
from lqm.utils.cache import Packed, content_key, kept

_THREADS = 4
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
    stack = Stack(total, "pass --size {} to bring all images to one size")
    with (
        Progress(f"reading {reading.name}", total, shown=reading.show_progress) as progress,
        ThreadPoolExecutor(_THREADS) as pool,
    ):
        while chunk := list(islice(encoded, _THREADS * _PIECE)):
            pieces = [chunk[start : start + _PIECE] for start in range(0, len(chunk), _PIECE)]
            decoded = pool.map(lambda piece: [decode(image, reading.size) for image in piece], pieces)
            for image, pixels in zip(chunk, chain.from_iterable(decoded), strict=True):
                stack.add(pixels, image.place)
            stack.check_square()
            progress.update(len(stack), {})
    return stack.images

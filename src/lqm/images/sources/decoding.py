"""Many encoded images become one set."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice

from torch import Tensor

from lqm.engine.progress import Progress
from lqm.images.sources.found import Found, Reading
from lqm.images.sources.image_file import Encoded, decode
from lqm.images.sources.source import Images
from lqm.images.sources.stack import Stack

_THREADS = 4
_PIECE = 64  # images that a thread reads at a time; one by one, small ones take twice as long


def decode_set(
    encoded: Iterable[Encoded],
    labels: tuple[Tensor, Tensor | None],
    class_names: tuple[str, ...],
    reading: Reading,
) -> Found:
    """The set of these images: first those for training, then those for testing, as the labels are.

    Raises:
        DataError: when an image can't be used; the first of them is named.
    """
    train, test = labels
    total = len(train) + (0 if test is None else len(test))
    images = _decode_all(iter(encoded), total, reading)
    return Found(
        train=Images(images[: len(train)], train),
        test=None if test is None else Images(images[len(train) :], test),
        class_names=class_names,
    )


def _decode_all(encoded: Iterator[Encoded], total: int, reading: Reading) -> Tensor:
    stack = Stack(total, "pass --size {} to bring all images to one size")
    with (
        Progress(f"reading {reading.name}", total, shown=reading.show_progress) as progress,
        ThreadPoolExecutor(_THREADS) as pool,
    ):
        done = 0
        while chunk := list(islice(encoded, _THREADS * _PIECE)):
            pieces = [chunk[start : start + _PIECE] for start in range(0, len(chunk), _PIECE)]
            decoded = pool.map(lambda piece: [decode(image, reading.size) for image in piece], pieces)
            for image, pixels in zip(chunk, chain.from_iterable(decoded), strict=True):
                stack.add(pixels, image.place)
            stack.check_square()
            done += len(chunk)
            progress.update(done, {})
    return stack.images

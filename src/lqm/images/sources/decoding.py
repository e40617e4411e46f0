"""Many encoded pictures become one set."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice

from torch import Tensor

from lqm.engine.progress import Progress
from lqm.images.sources.found import Found, Reading
from lqm.images.sources.picture import Encoded, decode
from lqm.images.sources.source import Pictures
from lqm.images.sources.stack import Stack

_THREADS = 4
_PIECE = 64  # pictures that a thread reads at a time; one by one, small ones take twice as long


def decode_set(
    encoded: Iterable[Encoded],
    labels: tuple[Tensor, Tensor | None],
    class_names: tuple[str, ...],
    reading: Reading,
) -> Found:
    """The set of these pictures: first those for training, then those for testing, as the labels are.

    Raises:
        DataError: when a picture can't be used; the first of them is named.
    """
    train, test = labels
    total = len(train) + (0 if test is None else len(test))
    images = _decode_all(iter(encoded), total, reading)
    return Found(
        train=Pictures(images[: len(train)], train),
        test=None if test is None else Pictures(images[len(train) :], test),
        class_names=class_names,
    )


def _decode_all(encoded: Iterator[Encoded], total: int, reading: Reading) -> Tensor:
    stack = Stack(total, "pass --size {} to bring all pictures to one size")
    with (
        Progress(f"reading {reading.name}", total, shown=reading.show_progress) as progress,
        ThreadPoolExecutor(_THREADS) as pool,
    ):
        done = 0
        while chunk := list(islice(encoded, _THREADS * _PIECE)):
            pieces = [chunk[start : start + _PIECE] for start in range(0, len(chunk), _PIECE)]
            decoded = pool.map(lambda piece: [decode(picture, reading.size) for picture in piece], pieces)
            for picture, pixels in zip(chunk, chain.from_iterable(decoded), strict=True):
                stack.add(pixels, picture.place)
            stack.check_square()
            done += len(chunk)
            progress.update(done, {})
    return stack.images

"""Parquet shards decoded by Ray Data: each by a worker of its own, and never all in one place."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lqm.images.sources.decoding import Chunks, ImageStack
from lqm.images.sources.found import Reading
from lqm.images.sources.image_file import decode, pillow_within_limits
from lqm.images.sources.inside import Inside
from lqm.images.sources.parquet import opened_images, read_parquet
from lqm.images.sources.parquet_parts import parquet_parts
from lqm.utils.errors import DataError, LqmError
from lqm.utils.extras import missing
from lqm.utils.limits import limited_to, max_memory

# Bytes of pixels that a worker hands over at a time.
_AT_A_TIME = 1 << 23


def decode_with_ray(source: str | Path, *, size: int | None = None, show_progress: bool = True) -> None:
    """Decode the Parquet files of a folder in parallel, into the cache, where `load_source` finds the set.

    Ray has to be running, and its workers have to see the files under the same paths. Decoded images come
    back in the order of the files, so that the set is the same, bit for bit, as one that is read here.

    Args:
        source: a folder with train*.parquet, or one .parquet file.
        size: the side of the squares that all images become; as for `load_source`.
        show_progress: whether to show how far it is.

    Raises:
        ConfigError: when Ray is not installed.
        DataError: when there are no such files, or they can't be used.
    """
    path = Path(source).expanduser().resolve()
    parts: tuple[list[Path], list[Path]] | None = ([path], [])
    if path.is_dir():
        with Inside(path) as inside:
            parts = parquet_parts(inside)
    if not parts:
        raise DataError(f"{path} has no Parquet files; it should have train*.parquet")
    reading = Reading(path.name, size=size, show_progress=show_progress)
    read_parquet(*parts, reading, decoder=in_ray)


def in_ray(files: list[Path], size: int | None, stack: ImageStack) -> Chunks:
    """The images of Parquet files, decoded by Ray Data, in the order of the files and of their rows."""
    try:
        import ray.data
    except ImportError as error:
        raise missing("decoding in parallel", "ray", "ray") from error
    context = ray.data.DataContext.get_current().copy()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = context.print_on_execution_start = False
    with ray.data.DataContext.current(context):
        shards = ray.data.from_items([str(path) for path in files], override_num_blocks=len(files))
        decoded = shards.map_batches(
            partial(_decode_shard, size=size, limit=max_memory()), batch_size=1, batch_format="numpy"
        )
        for table in decoded.iter_batches(batch_size=None, batch_format="pyarrow"):
            yield _images(table)


def _decode_shard(batch: dict[str, Any], size: int | None, limit: int) -> Iterator[dict[str, Any]]:
    """What a worker does: the images of one file, some at a time; an error as its last row."""
    (path,) = batch["item"]
    rows: list[tuple[bytes, list[int], str, str]] = []
    held = 0
    try:
        with limited_to(limit), pillow_within_limits(), closing(opened_images(Path(path))) as encoded:
            for image in encoded:
                pixels = decode(image, size)
                rows.append((pixels.tobytes(), [*pixels.shape], image.place, ""))
                held += pixels.nbytes
                if held >= _AT_A_TIME:
                    yield _columns(rows)
                    rows, held = [], 0
    except LqmError as error:
        rows.append((b"", [0, 0, 0], "", str(error)))
    if rows:
        yield _columns(rows)


def _columns(rows: list[tuple[bytes, list[int], str, str]]) -> dict[str, Any]:
    pixels, shapes, places, errors = zip(*rows, strict=True)
    return {
        "pixels": np.array(pixels, dtype=object),
        "shape": np.array(shapes),
        "place": np.array(places, dtype=object),
        "error": np.array(errors, dtype=object),
    }


def _images(table: Any) -> Iterator[tuple[np.ndarray[Any, np.dtype[np.uint8]], str]]:
    shapes = np.array(table.column("shape").to_pylist())
    columns = (table.column(name) for name in ("pixels", "place", "error"))
    for pixels, place, error, shape in zip(*columns, shapes, strict=True):
        if said := error.as_py():
            raise DataError(said)
        yield np.frombuffer(pixels.as_buffer(), np.uint8).reshape(shape), place.as_py()

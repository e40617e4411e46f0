"""The sets that the field knows by name: where they are looked for, and what they are normalised by."""

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

from lqm.images.sources.cifar import (
    CIFAR10_BINARY,
    CIFAR10_PYTHON,
    CIFAR100_BINARY,
    CIFAR100_PYTHON,
    Version,
    read_cifar,
)
from lqm.images.sources.folder import read_listing
from lqm.images.sources.found import Found, Reading, finish
from lqm.images.sources.idx import read_idx_folder
from lqm.images.sources.idx_sets import IDX_SETS, MNIST, IdxSet
from lqm.images.sources.inside import Inside, expanded
from lqm.images.sources.npz import read_npz
from lqm.images.sources.parquet_parts import parquet_parts
from lqm.images.sources.source import OPERATIONS_WITHOUT_FLIP, ImageSource
from lqm.images.sources.tinyimagenet import list_tiny_imagenet
from lqm.utils.errors import ConfigError, DataError


def mnist(reading: Reading) -> ImageSource:
    """Handwritten digits, 28x28, greyscale: `mnist.npz`, the published idx files, or Parquet."""
    data_dir = _data_dir(reading)
    # A folder that is called after another set holds that one.
    other = any(each.is_called(data_dir) for each in IDX_SETS.values() if each is not MNIST)
    places = (*(() if other else (data_dir,)), data_dir / "mnist", data_dir / "MNIST" / "raw")
    found = (
        next((found for place in places if (found := _npz(place / "mnist.npz", reading))), None)
        or next((found for place in places if (found := read_idx_folder(place))), None)
        or _parquet(data_dir, "mnist", reading)
    )
    return finish(
        _required(found, reading, "mnist.npz, the four *-ubyte files, mnist/train*.parquet"),
        reading,
        augmentation=OPERATIONS_WITHOUT_FLIP,
        recipes="mnist",
        published=MNIST.published,
    )


def idx_set(known: IdxSet) -> Callable[[Reading], ImageSource]:
    """A set that was published as MNIST was: its idx files, or Parquet."""

    def read(reading: Reading) -> ImageSource:
        data_dir = _data_dir(reading)
        found = next((found for place in known.places(data_dir) if (found := known.read(place))), None)
        if not known.prefix:
            found = found or _parquet(data_dir, known.name.replace("-", "*"), reading)
        files = f"{known.folders[-1] if known.prefix else known.name}/{known.prefix}train-images-idx3-ubyte"
        return known.source(_required(found, reading, f"{files} and the other three files of it"), reading)

    return read


def cifar10(reading: Reading) -> ImageSource:
    """Ten classes of things, 32x32: the python or the binary version, or Parquet."""
    return finish(
        _cifar(reading, "cifar10", (CIFAR10_PYTHON, CIFAR10_BINARY)),
        reading,
        recipes="cifar10",
        published=((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)),
    )


def cifar100(reading: Reading) -> ImageSource:
    """A hundred classes of things, 32x32, by their fine labels: as `cifar10`."""
    return finish(
        _cifar(reading, "cifar100", (CIFAR100_PYTHON, CIFAR100_BINARY)),
        reading,
        recipes="cifar100",
        published=((0.5071, 0.4866, 0.4409), (0.2673, 0.2564, 0.2762)),
    )


def tinyimagenet(reading: Reading) -> ImageSource:
    """Classes of ImageNet, 64x64, with the validation set for testing: the published folders, or Parquet."""
    data_dir = _data_dir(reading)
    folders = _places(data_dir, "tiny-imagenet-200")
    listing = next((listing for folder in folders if (listing := list_tiny_imagenet(folder))), None)
    found = read_listing(listing, reading) if listing else _parquet(data_dir, "tiny*imagenet*", reading)
    return finish(
        _required(found, reading, "tiny-imagenet-200/, tiny*imagenet*/train*.parquet"),
        reading,
        recipes="tinyimagenet",
        published=((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    )


def _data_dir(reading: Reading) -> Path:
    chosen = reading.data_dir or os.environ.get("LQM_DATA")
    if not chosen:
        raise ConfigError(
            f"'{reading.name}' is read from a folder of yours; name it with --data-dir, or set LQM_DATA to it"
        )
    folder = expanded(chosen)
    if not folder.is_dir():
        raise DataError(
            f"{folder} is no folder; --data-dir or LQM_DATA should name the one with '{reading.name}'"
        )
    return folder


def _required(found: Found | None, reading: Reading, layouts: str) -> Found:
    if found is None:
        raise DataError(
            f"'{reading.name}' was not found in {_data_dir(reading)}; it should hold one of {layouts}"
        )
    return found


def _cifar(reading: Reading, name: str, versions: tuple[Version, ...]) -> Found:
    data_dir = _data_dir(reading)
    found = next((found for version in versions if (found := read_cifar(data_dir, version))), None)
    layouts = ", ".join(f"{version.folder}/" for version in versions)
    return _required(found or _parquet(data_dir, name, reading), reading, f"{layouts}, {name}/train*.parquet")


def _npz(path: Path, reading: Reading) -> Found | None:
    with Inside(path.parent) as inside:
        return read_npz(path, reading) if inside.has_file(path) else None


def _parquet(data_dir: Path, pattern: str, reading: Reading) -> Found | None:
    for folder in _places(data_dir, pattern):
        with Inside(folder) as inside:
            parts = parquet_parts(inside)
        if parts:
            from lqm.images.sources.parquet import read_parquet

            return read_parquet(*parts, reading)
    return None


def _places(data_dir: Path, pattern: str) -> Iterator[Path]:
    """The folders called so in `data_dir`, and `data_dir` itself if it is called so."""
    if fnmatch(data_dir.resolve().name, pattern):
        yield data_dir
    yield from sorted(path for path in data_dir.glob(pattern) if path.is_dir())

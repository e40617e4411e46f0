"""Images in a folder of class folders."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from lqm.images.sources.decoding import THREADS, decode_set, in_threads
from lqm.images.sources.found import Found, Reading
from lqm.images.sources.image_file import Encoded, suffixes
from lqm.images.sources.inside import Inside, names_shown
from lqm.utils.errors import DataError
from lqm.utils.files import read_whole
from lqm.utils.limits import require_memory
from lqm.utils.log import warn

_TEST_FOLDERS = ("test", "val", "valid", "validation")


@dataclass(frozen=True)
class Listing:
    """Image files and their labels, for training and for testing, and the names of the classes."""

    root: Path
    train: list[tuple[Path, int]]
    test: list[tuple[Path, int]] | None
    class_names: tuple[str, ...]


def read_listing(listing: Listing, reading: Reading) -> Found:
    """The images of a listing, by way of the cache."""
    files = [path for path, _ in (*listing.train, *(listing.test or ()))]
    for path in files:
        require_memory(THREADS * path.stat().st_size, f"the content of {path} and of others beside it")
    train = torch.tensor([label for _, label in listing.train])
    test = None if listing.test is None else torch.tensor([label for _, label in listing.test])
    described = json.dumps([listing.class_names, train.tolist(), None if test is None else test.tolist()])
    encoded = (Encoded(partial(read_whole, path), str(path)) for path in files)
    names, root = listing.class_names, listing.root
    decoded = partial(in_threads, encoded, reading.size)
    return decode_set(decoded, (train, test), names, reading, described=described, root=root, files=files)


def list_folder(inside: Inside) -> Listing:
    """The images of a folder of class folders, or of `train` and one of `test`, `val`, ... that are such.

    Classes are in the order of their names; files that are no images are left out, and counted.
    """
    folder, ignored = inside.root, list[Path]()
    test_folder = _test_folder(inside)
    train = _list_classes(inside, folder / "train" if test_folder else folder, ignored)
    test = _list_classes(inside, test_folder, ignored) if test_folder else None
    if test is not None and (different := sorted(train.keys() ^ test.keys())):
        raise DataError(
            f"class '{different[0]}' is in only one of {folder / 'train'} and {test_folder}; "
            "both should have the same class folders"
        )
    if ignored:
        shown = names_shown(ignored, folder)
        warn(f"left out of {folder}, since they are not images in a class folder: {shown}")
    return Listing(folder, _numbered(train), None if test is None else _numbered(test), tuple(train))


def _test_folder(inside: Inside) -> Path | None:
    """The folder that stands beside a `train` folder of class folders, if there is such a one."""
    folders = inside.folders(inside.root)
    train = inside.root / "train"
    if train not in folders or not inside.folders(train):
        return None
    for name in _TEST_FOLDERS:
        if inside.root / name in folders:
            return inside.root / name
    raise DataError(
        f"{inside.root} has train/ but none of {', '.join(f'{name}/' for name in _TEST_FOLDERS)}; "
        f"add one, or give {train} itself to hold a part of it out"
    )


def _numbered(classes: dict[str, list[Path]]) -> list[tuple[Path, int]]:
    return [(path, label) for label, files in enumerate(classes.values()) for path in files]


def _list_classes(inside: Inside, folder: Path, ignored: list[Path]) -> dict[str, list[Path]]:
    beside = inside.files(folder)
    ignored += [path for path in beside if path.name != "classes.json"]
    classes = {path.name: _list_images(inside, path, ignored) for path in inside.folders(folder)}
    if not classes:
        found = "images but no class folder" if any(_is_image(path) for path in beside) else "no class folder"
        raise DataError(
            f"{folder} has {found}; put the images of each class into a folder of its own, "
            "named like the class"
        )
    for name, files in classes.items():
        if not files:
            raise DataError(f"class folder {folder / name} has no image; add some, or remove it")
    if len(classes) == 1:
        raise DataError(
            f"{folder} has only one class folder, '{[*classes].pop()}'; it should have two or more"
        )
    return classes


def _list_images(inside: Inside, folder: Path, ignored: list[Path]) -> list[Path]:
    files = inside.below(folder)
    ignored += [path for path in files if not _is_image(path)]
    return [path for path in files if _is_image(path)]


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in suffixes()

"""Images in a folder of class folders."""

import json
from dataclasses import dataclass
from pathlib import Path

import torch

from lqm.images.sources.decoding import decode_set
from lqm.images.sources.found import Found, Reading
from lqm.images.sources.image_file import Encoded, suffixes
from lqm.utils.errors import DataError
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
    train = torch.tensor([label for _, label in listing.train])
    test = None if listing.test is None else torch.tensor([label for _, label in listing.test])
    described = json.dumps([listing.class_names, train.tolist(), None if test is None else test.tolist()])
    encoded = (Encoded(path, str(path)) for path in files)
    names, root = listing.class_names, listing.root
    return decode_set(encoded, (train, test), names, reading, described=described, root=root, files=files)


def list_folder(folder: Path) -> Listing:
    """The images of a folder of class folders, or of `train` and one of `test`, `val`, ... that are such.

    Classes are in the order of their names; files that are no images are left out, and counted.
    """
    ignored: list[Path] = []
    test_folder = _test_folder(folder)
    train = _list_classes(folder / "train" if test_folder else folder, ignored)
    test = _list_classes(test_folder, ignored) if test_folder else None
    if test is not None and (different := sorted(train.keys() ^ test.keys())):
        raise DataError(
            f"class '{different[0]}' is in only one of {folder / 'train'} and {test_folder}; "
            "both should have the same class folders"
        )
    if ignored:
        shown = ", ".join(str(path.relative_to(folder)) for path in ignored[:3])
        more = f" and {len(ignored) - 3} more" if len(ignored) > 3 else ""
        warn(f"left out of {folder}, since they are not images in a class folder: {shown}{more}")
    return Listing(folder, _numbered(train), None if test is None else _numbered(test), tuple(train))


def _test_folder(folder: Path) -> Path | None:
    """The folder that stands beside a `train` folder of class folders, if there is such a one."""
    train = folder / "train"
    if not (train.is_dir() and _class_folders(train)):
        return None
    for name in _TEST_FOLDERS:
        if (folder / name).is_dir():
            return folder / name
    raise DataError(
        f"{folder} has train/ but none of {', '.join(f'{name}/' for name in _TEST_FOLDERS)}; "
        f"add one, or give {train} itself to hold a part of it out"
    )


def _numbered(classes: dict[str, list[Path]]) -> list[tuple[Path, int]]:
    return [(path, label) for label, files in enumerate(classes.values()) for path in files]


def _list_classes(folder: Path, ignored: list[Path]) -> dict[str, list[Path]]:
    beside = [path for path in sorted(folder.iterdir()) if path.is_file() and not _is_hidden(path.name)]
    ignored += [path for path in beside if path.name != "classes.json"]
    classes = {path.name: _list_images(path, ignored) for path in _class_folders(folder)}
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


def _list_images(folder: Path, ignored: list[Path]) -> list[Path]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    shown = [path for path in files if not any(map(_is_hidden, path.relative_to(folder).parts))]
    ignored += [path for path in shown if not _is_image(path)]
    return [path for path in shown if _is_image(path)]


def _class_folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not _is_hidden(path.name))


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in suffixes()

"""Tiny ImageNet in the folders in which it was published.

Layout: `wnids.txt` (the classes), `words.txt` (their names), `train/<class>/images/*.JPEG`,
`val/images/*.JPEG` with the classes in `val/val_annotations.txt`.
"""

from pathlib import Path

from lqm.images.sources.folder import Listing
from lqm.utils.errors import DataError


def list_tiny_imagenet(folder: Path) -> Listing | None:
    """The images, `val` for testing, and the classes in the order of their ids; None if it is not there."""
    if not (folder / "wnids.txt").is_file():
        return None
    classes = sorted(line.strip() for line in _lines(folder / "wnids.txt") if line.strip())
    labels = {name: label for label, name in enumerate(classes)}
    train = [(path, labels[name]) for name in classes for path in _images(folder / "train" / name / "images")]
    return Listing(folder, train, _test(folder / "val", labels), _class_names(folder, classes))


def _images(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.glob("*.JPEG") if not path.name.startswith("."))
    if not files:
        raise DataError(f"{folder} has no .JPEG images; unpack the set again")
    return files


def _test(folder: Path, labels: dict[str, int]) -> list[tuple[Path, int]]:
    """The test images; a line of the annotations is: file, class and box, parted by tabs."""
    annotations = folder / "val_annotations.txt"
    classes = dict(line.split("\t")[:2] for line in _lines(annotations) if "\t" in line)
    if unknown := sorted(set(classes.values()) - labels.keys()):
        raise DataError(
            f"{annotations} has the class '{unknown[0]}', which is not in wnids.txt; add it there"
        )
    for name in classes:
        if not (folder / "images" / name).is_file():
            raise DataError(f"{folder / 'images' / name} is missing; unpack the set again")
    return [(folder / "images" / name, labels[wnid]) for name, wnid in classes.items()]


def _class_names(folder: Path, classes: list[str]) -> tuple[str, ...]:
    """Names such as `n01443537 goldfish`: the id, and the first of the words for it."""
    pairs = (line.split("\t") for line in _lines(folder / "words.txt") if "\t" in line)
    words = {wnid: names.split(",")[0].strip() for wnid, names, *_ in pairs}
    return tuple(f"{wnid} {words.get(wnid, '')}".strip() for wnid in classes)


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise DataError(f"{path} is missing; unpack the set again")
    return path.read_text("utf-8", "replace").splitlines()

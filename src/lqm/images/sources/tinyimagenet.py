"""Tiny ImageNet in the folders in which it was published.

Layout: `wnids.txt` (the classes), `words.txt` (their names), `train/<class>/images/*.JPEG`,
`val/images/*.JPEG` with the classes in `val/val_annotations.txt`. The names in these files are looked up
among what the folders hold, and never opened as paths.
"""

from pathlib import Path

from lqm.images.sources.folder import Listing
from lqm.images.sources.inside import Inside
from lqm.utils.errors import DataError
from lqm.utils.files import lines_of
from lqm.utils.terminal import shown


def list_tiny_imagenet(folder: Path) -> Listing | None:
    """The images, `val` for testing, and the classes in the order of their ids; None if it is not there."""
    with Inside(folder) as inside:
        if not inside.has_file(folder / "wnids.txt"):
            return None
        classes = sorted({line.strip() for line in _lines(inside, folder / "wnids.txt") if line.strip()})
        labels = {name: label for label, name in enumerate(classes)}
        train = _train(inside, labels)
        return Listing(folder, train, _test(inside, labels), _class_names(inside, classes))


def _train(inside: Inside, labels: dict[str, int]) -> list[tuple[Path, int]]:
    folder = inside.root / "train"
    present = {path.name: path for path in _folders(inside, folder)}
    return [
        (path, label) for name, label in labels.items() for path in _images(inside, present.get(name), name)
    ]


def _images(inside: Inside, folder: Path | None, name: str) -> list[Path]:
    images = folder / "images" if folder else inside.root / "train" / shown(name) / "images"
    listed = inside.files(images) if folder and inside.has_folder(images) else []
    if not (files := [path for path in listed if path.name.endswith(".JPEG")]):
        raise DataError(f"{images} has no .JPEG images; unpack the set again")
    return files


def _test(inside: Inside, labels: dict[str, int]) -> list[tuple[Path, int]]:
    """The test images; a line of the annotations is: file, class and box, parted by tabs."""
    folder = inside.root / "val"
    annotations = folder / "val_annotations.txt"
    classes = dict(line.split("\t")[:2] for line in _lines(inside, annotations) if "\t" in line)
    if unknown := sorted(set(classes.values()) - labels.keys()):
        raise DataError(
            f"{annotations} has the class '{shown(unknown[0])}', which is not in wnids.txt; add it there"
        )
    images = folder / "images"
    present = {path.name: path for path in inside.files(images)} if inside.has_folder(images) else {}
    for name in classes:
        if name not in present:
            raise DataError(f"{images}/{shown(name)} is missing; unpack the set again")
    return [(present[name], labels[wnid]) for name, wnid in classes.items()]


def _class_names(inside: Inside, classes: list[str]) -> tuple[str, ...]:
    """Names such as `n01443537 goldfish`: the id, and the first of the words for it."""
    pairs = (line.split("\t") for line in _lines(inside, inside.root / "words.txt") if "\t" in line)
    words = {wnid: names.split(",")[0].strip() for wnid, names, *_ in pairs}
    return tuple(f"{wnid} {words.get(wnid, '')}".strip() for wnid in classes)


def _folders(inside: Inside, folder: Path) -> list[Path]:
    return inside.folders(folder) if inside.has_folder(folder) else []


def _lines(inside: Inside, path: Path) -> list[str]:
    if not inside.has_file(path):
        raise DataError(f"{path} is missing; unpack the set again")
    return lines_of(path)

"""Sets that are published as idx files, as MNIST is: what their folders and their classes are called."""

import string
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lqm.images.augment import OPERATIONS
from lqm.images.sources.found import Found, Reading, finish
from lqm.images.sources.idx import read_idx_folder
from lqm.images.sources.labelled import Images
from lqm.images.sources.source import OPERATIONS_WITHOUT_FLIP, ImageSource
from lqm.utils.errors import DataError

_DIGITS, _CAPITALS, _SMALL = string.digits, string.ascii_uppercase, string.ascii_lowercase
_SIDE = 28
# Small letters that EMNIST tells from capitals once those that look alike are merged.
_APART = "abdefghnqrt"


@dataclass(frozen=True)
class IdxSet:
    """A published set.

    Attributes:
        classes: their names, in the order of the labels.
        folders: what its folder may be called besides its name.
        prefix: what the names of its files begin with, if it shares a folder with others.
        augmentation: the operations that leave a label right.
        published: mean and deviation that the field normalises by; else they are measured.
        upright: whether the images are stored as they are looked at; else rows and columns are exchanged.
    """

    name: str
    classes: tuple[str, ...]
    folders: tuple[str, ...] = ()
    prefix: str = ""
    augmentation: tuple[str, ...] = OPERATIONS_WITHOUT_FLIP
    published: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    upright: bool = True

    def places(self, data_dir: Path) -> Iterator[Path]:
        """Where it may be: `data_dir` itself if that is its folder, and folders in it."""
        if self.prefix or self.is_called(data_dir):
            yield data_dir
        for folder in sorted(data_dir.iterdir()):
            if self.is_called(folder):
                yield from (folder, folder / "raw")

    def is_called(self, folder: Path) -> bool:
        """Whether a folder has its name, or is `raw` in one that has."""
        return _name_of(folder).lower() in (self.name, *self.folders)

    def read(self, folder: Path) -> Found | None:
        """What a folder has of it: files with its prefix, or plain ones in a folder of its very name."""
        found = read_idx_folder(folder, self.prefix) if self.prefix else None
        plain = not self.prefix or _name_of(folder).lower() == self.name
        return found or (read_idx_folder(folder) if plain else None)

    def source(self, found: Found, reading: Reading) -> ImageSource:
        """The source, with the names of the published classes if its size and their number fit."""
        shape, classes = found.train.images.shape, len(found.class_names)
        fits = shape[1:] == (1, _SIDE, _SIDE) and classes == len(self.classes)
        if not fits:
            return finish(found, reading, augmentation=self.augmentation)
        if not self.upright:
            found = replace(found, train=_turned(found.train), test=found.test and _turned(found.test))
        return finish(
            replace(found, class_names=self.classes),
            reading,
            augmentation=self.augmentation,
            recipes="mnist",
            published=self.published,
        )


def _name_of(folder: Path) -> str:
    """What a folder is called, or the one above it if it is torchvision's `raw`."""
    whole = folder.resolve()
    return whole.parent.name if whole.name == "raw" else whole.name


def idx_source(folder: Path, reading: Reading) -> ImageSource | None:
    """The source in a folder of idx files, under the name of the folder; None if there are no such files.

    Raises:
        DataError: when files of several sets are there.
    """
    called = [each for each in IDX_SETS.values() if each.is_called(folder)]
    read = {each: found for each in called if (found := each.read(folder))}
    if len(read) > 1:
        raise DataError(
            f"{folder} holds {', '.join(each.name for each in read)}; give one of these names as the source, "
            "and the folder as --data-dir"
        )
    for known, found in read.items():
        return known.source(found, replace(reading, name=known.name))
    plain = read_idx_folder(folder)
    return None if plain is None else finish(plain, replace(reading, name=_name_of(folder)))


def _turned(labelled: Images) -> Images:
    return Images(labelled.images[:].transpose(2, 3).contiguous(), labelled.labels)


def _emnist(part: str, classes: str) -> IdxSet:
    name = f"emnist-{part}"
    return IdxSet(name, tuple(classes), ("emnist",), f"{name}-", upright=False)


MNIST = IdxSet("mnist", tuple(_DIGITS), published=((0.1307,), (0.3081,)))
IDX_SETS = {
    each.name: each
    for each in (
        MNIST,
        IdxSet(
            "fashion-mnist",
            (
                "T-shirt/top",
                "Trouser",
                "Pullover",
                "Dress",
                "Coat",
                "Sandal",
                "Shirt",
                "Sneaker",
                "Bag",
                "Ankle boot",
            ),
            ("fashionmnist", "fashion_mnist"),
            augmentation=OPERATIONS,
            published=((0.2861,), (0.3530,)),
        ),
        IdxSet("kmnist", ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")),
        _emnist("balanced", _DIGITS + _CAPITALS + _APART),
        _emnist("letters", _SMALL),
        _emnist("digits", _DIGITS),
    )
}

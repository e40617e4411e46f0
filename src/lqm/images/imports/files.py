"""Images and labels out of the files of others: `.npz`, `.pt`, Parquet, folders of classes or of tensors."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from lqm.condensed.export_folder import LEARNING, OLD_LEARNING
from lqm.images.imports.layouts import PAIRS, RATES, Given, is_tensor, pair_in
from lqm.images.sources.folder import Listing, list_folder, read_listing
from lqm.images.sources.found import Reading
from lqm.images.sources.inside import Inside
from lqm.utils.archives import Array
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.npz import Arrays, listed, strings_of
from lqm.utils.own_files import read_json, require_fields
from lqm.utils.stored_arrays import in_memory
from lqm.utils.torch_files import StoredTensor, TorchFile

_KINDS = "a .npz, a .pt, a .parquet, a folder of class folders, or one with images_*.pt and labels_*.pt"
_TENSORS = re.compile(r"images(_.*)?\.pth?")
_AGAIN = "export or write the folder again"


class _Class(TypedDict):
    """An entry of `classes.json`, which `lqm export` writes beside class folders."""

    label: int
    name: str
    folder: str


class _Taught(TypedDict, total=False):
    """`learning.json` of the same."""

    learning_rate: float | None
    soft_labels: dict[str, list[float]]


_CLASSES, _TAUGHT = TypeAdapter(list[_Class]), TypeAdapter(_Taught)


def read_given(path: Path, item: int | None = None) -> Given:
    """What a file or a folder holds.

    Args:
        path: of either.
        item: which set, where a file of torch holds several.

    Raises:
        DataError: when it can't be read, or is in no known layout.
        ConfigError: when it holds several sets, or `item` has no meaning.
    """
    try:
        if not path.exists():
            raise DataError(f"there is no {path}; it should be {_KINDS}")
        if path.is_file() and path.suffix in (".pt", ".pth"):
            return _torch(path, item)
        if path.is_dir() and (images := _tensors_in(path)):
            return _torch(images, item)
        if item is not None:
            raise ConfigError(f"item is for .pt files of several sets, and {path} is one set; leave it out")
        return _one_set(path)
    except OSError as error:
        raise DataError(f"{error.filename or path} can't be read: {error.strerror or error}") from error


def _one_set(path: Path) -> Given:
    if path.is_dir():
        return _class_folders(path)
    if path.suffix == ".npz":
        return _npz(path)
    if path.suffix != ".parquet":
        raise DataError(f"{path} can't be read as images; it should be {_KINDS}")
    from lqm.images.sources.parquet import read_parquet

    found = read_parquet([path], [], Reading(path.stem, show_progress=False))
    images, labels = in_memory(found.train.images, str(path)).numpy(), found.train.labels.numpy()
    return Given(images, labels, str(path), (path,), class_names=found.class_names)


def _npz(path: Path) -> Given:
    arrays = Arrays(path)
    keys = arrays.layout(PAIRS)
    rate = next((arrays[name] for name in RATES if name in arrays.keys), None)
    named = "class_names" in arrays.keys
    return Given(
        arrays[keys[0]],
        arrays[keys[1]],
        str(path),
        (path,),
        soft_labels=arrays["soft_labels"] if "soft_labels" in arrays.keys else None,
        rate=None if rate is None else _number(rate, path),
        class_names=strings_of(arrays["class_names"], f"class_names of {path}") if named else None,
    )


def _tensors_in(folder: Path) -> Path | None:
    """The file of images in a folder of tensors: the best ones, or the only ones."""
    with Inside(folder) as inside:
        images = [path for path in inside.files(folder) if _TENSORS.fullmatch(path.name)]
    best = [path for path in images if path.stem == "images_best"]
    if len(best or images) > 1:
        names = listed(path.name for path in images)
        raise ConfigError(f"{folder} holds {names}; give the path of one of them")
    return next(iter(best or images), None)


def _torch(path: Path, item: int | None) -> Given:
    file = TorchFile(path)
    pair = pair_in(file.content, item, str(path))
    files, rate = [path], pair.rate
    images = _array(file, pair.images)
    if pair.labels is not None:
        labels = _array(file, pair.labels)
    else:
        beside = path.with_name(path.name.replace("images", "labels", 1))
        if not _TENSORS.fullmatch(path.name) or not beside.is_file():
            raise DataError(
                f"{path} holds images without labels; save [images, labels], or put "
                "labels_best.pt beside images_best.pt"
            )
        labels = _only_tensor(beside)
        files.append(beside)
        rates = path.with_name(path.name.replace("images", "lr", 1))
        if rates.is_file():
            rate = _only_tensor(rates)
            files.append(rates)
    rate = _array(file, rate) if is_tensor(rate) else rate
    return Given(
        images, labels, str(path), tuple(files), rate=None if rate is None else _number(rate, files[-1])
    )


def _array(file: TorchFile, value: Any) -> Array:
    found: Array = file.array(value) if isinstance(value, StoredTensor) else value
    return found


def _only_tensor(path: Path) -> Array:
    file = TorchFile(path)
    if not is_tensor(file.content):
        raise DataError(f"{path} should hold one tensor; it holds a {type(file.content).__name__}")
    return _array(file, file.content)


def _number(value: Any, path: Path) -> float:
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "fiu":
        raise DataError(f"the learning rate in {path} should be one number; leave it out and give --rate")
    return float(array.reshape(()))


def _class_folders(folder: Path) -> Given:
    """PNG or other files by class, with what `lqm export` writes beside them if it is there."""
    with Inside(folder) as inside:
        listing = list_folder(inside)
        named = inside.has_file(folder / "classes.json")
        taught = [name for name in (LEARNING, OLD_LEARNING) if inside.has_file(folder / name)]
    if listing.test is not None:
        raise DataError(f"{folder} has folders train and test; give that of the condensed set alone")
    found = read_listing(listing, Reading(folder.name or "folder", show_progress=False)).train
    names, numbers = listing.class_names, found.labels.numpy()
    if named:
        names, numbers = _renumbered(folder / "classes.json", names, numbers)
    training: dict[str, Any] = _stored(folder / taught[0], _TAUGHT) if taught else {}
    soft = _soft_labels(listing, training["soft_labels"]) if "soft_labels" in training else None
    files = tuple(path for path, _ in listing.train)
    images = in_memory(found.images, str(folder)).numpy()
    return Given(images, numbers, str(folder), files, soft, training.get("learning_rate"), names)


def _renumbered(path: Path, folders: tuple[str, ...], labels: Array) -> tuple[tuple[str, ...], Array]:
    """Names of classes and labels as `classes.json` numbers them, in place of the order of the folders."""
    stored = sorted(_stored(path, _CLASSES), key=lambda entry: int(entry["label"]))
    places = {entry["folder"]: place for place, entry in enumerate(stored)}
    if unknown := [folder for folder in folders if folder not in places]:
        raise DataError(f"{path} does not list {listed(unknown)}; {_AGAIN}")
    return tuple(entry["name"] for entry in stored), np.array([places[name] for name in folders])[labels]


def _stored(path: Path, kind: TypeAdapter[Any]) -> Any:
    value = read_json(path, _AGAIN)
    require_fields(kind, value, path, _AGAIN)
    return value


def _soft_labels(listing: Listing, rows: dict[str, list[float]]) -> Array:
    """The rows of `learning.json` in the order of the files."""
    names = [path.relative_to(listing.root).as_posix() for path, _ in listing.train]
    missing = next((name for name in names if name not in rows), None)
    lengths = {len(row) for row in rows.values()}
    if missing or len(lengths) != 1:
        raise DataError(
            f"{LEARNING} of {listing.root} has no soft labels of {missing or 'one length'}; {_AGAIN}"
        )
    return np.array([rows[name] for name in names], np.float32)

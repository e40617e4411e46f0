"""A condensed set for other tools: its records in formats that they read, none of which is pickle."""

import glob
import json
import re
import shutil
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.torch import save as save_tensors

from lqm.condensed.condensed_set import CondensedSet
from lqm.condensed.images import CondensedImages
from lqm.condensed.nodes import CondensedNodes
from lqm.condensed.sheet import as_png, contact_sheet
from lqm.utils.errors import ArtifactError
from lqm.utils.files import write_atomically
from lqm.utils.names import choose
from lqm.utils.paths import as_path

_CLASSES, _TRAINING = "classes.json", "training.json"
# What some file system takes for something else, control characters, and halves of what is no text.
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\ud800-\udfff]')
_LONGEST_NAME = 60
# What is older was left by a process that was killed.
_STALE_SECONDS = 86_400.0


def export(condensed: CondensedSet, to: str, path: str | Path) -> Path:
    """Write the records of a set, mosaics cut into their cells, for other tools.

    Args:
        condensed: the set.
        to: of images `folder`: PNG files, a folder a class; `npz`: NumPy, pixels in [0, 1]; `parquet`: as
            Hugging Face lays it out, with PNG images; `torch`: safetensors, normalised (or whitened), ready
            to train on; `png`: one image of all, with mosaics as they are. Of nodes `npz`: NumPy, in the
            form in which graphs are read; `torch`: safetensors.
        path: the folder or file; a file's suffix is added if it is not there.

    Returns:
        The path written.

    Raises:
        ConfigError: when there is no such export.
        ArtifactError: when something is at the path already, or it can't be written.
    """
    of_nodes = isinstance(condensed, CondensedNodes)
    suffix, write = choose(to, *((NODE_EXPORTS, "export of nodes") if of_nodes else (EXPORTS, "export")))
    path = as_path(path, "path")
    if not path.name:
        raise ArtifactError(f"'{path}' is no name for an export; name a file or a new folder")
    if path.suffix != suffix and to != "folder":
        path = path.parent / (path.name + suffix)
    try:
        free = not path.exists() or (to == "folder" and path.is_dir() and not any(path.iterdir()))
        if not free:
            raise ArtifactError(f"{path} exists already; choose another name or delete it")
        write(condensed, path)
    except OSError as error:
        raise ArtifactError(
            f"{path} could not be written: {error.strerror or error}; make room or choose another path"
        ) from error
    return path


def safe_names(names: Sequence[str]) -> list[str]:
    """Names that every file system takes as folders, each once, as near as can be to the given ones.

    Example:
        >>> safe_names(["cat", "cat/dog", "..", "", "Cat"])
        ['cat', 'cat_dog', 'class', 'class-2', 'Cat-2']
    """
    taken = {_CLASSES}
    safe = []
    for name in names:
        cleaned = _UNSAFE.sub("_", unicodedata.normalize("NFC", name))[:_LONGEST_NAME].strip(". ") or "class"
        free, copy = cleaned, 1
        while free.casefold() in taken:
            copy += 1
            free = f"{cleaned}-{copy}"
        taken.add(free.casefold())
        safe.append(free)
    return safe


def _write_folder(condensed: CondensedImages, path: Path) -> None:
    """`<class>/<number>.png`, and the classes in the order of their labels in `classes.json`.

    All is written beside `path` and then renamed, so that there is never half a folder.
    """
    images, labels = condensed.records()
    folders = safe_names(condensed.class_names)
    path = path.resolve()
    partial = path.with_name(f".{path.name[:40]}.{token_hex(8)}.partial")
    for left in path.parent.glob(f"{glob.escape(f'.{path.name[:40]}')}.*.partial"):
        if time.time() - left.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(left, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        for label, folder in enumerate(folders):
            (partial / folder).mkdir()
            for number, image in enumerate(images[labels == label]):
                (partial / folder / f"{number:05}.png").write_bytes(as_png(image))
        classes = [
            {"label": label, "name": name, "folder": folder}
            for label, (name, folder) in enumerate(zip(condensed.class_names, folders, strict=True))
        ]
        listed = json.dumps(classes, indent=2, ensure_ascii=False) + "\n"
        (partial / _CLASSES).write_bytes(listed.encode(errors="backslashreplace"))
        if condensed.learning_rate is not None:
            (partial / _TRAINING).write_text(json.dumps(_training(condensed, folders), indent=2) + "\n")
        if path.exists():
            path.rmdir()
        partial.rename(path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _training(condensed: CondensedImages, folders: Sequence[str]) -> dict[str, Any]:
    """What a folder of images does not say: the rate to learn at, and the soft labels of each file."""
    found: dict[str, Any] = {"learning_rate": condensed.learning_rate}
    if condensed.soft_labels is not None:
        counts = Counter[int]()
        files: dict[str, list[float]] = {}
        for label, shares in zip(condensed.records()[1].tolist(), condensed.targets().tolist(), strict=True):
            files[f"{folders[label]}/{counts[label]:05}.png"] = shares
            counts[label] += 1
        found["soft_labels"] = files
    return found


def _save_npz(path: Path, class_names: Sequence[str], **arrays: NDArray[Any]) -> None:
    buffer = BytesIO()
    np.savez(buffer, class_names=np.array(class_names, dtype=np.str_), **arrays)  # type: ignore[arg-type]
    write_atomically(path, buffer.getvalue())


def _write_npz(condensed: CondensedImages, path: Path) -> None:
    """Images float32 [R, C, H, W] in [0, 1], labels int64 [R], class_names, and mean and std to normalise.

    In place of the last two, images to be whitened have `whitening.mean`, `.basis` and `.spectrum`. With
    soft_labels float32 [R, classes] and a learning_rate where a set has them.
    """
    images, labels = condensed.records()
    arrays = {"images": images.float().numpy(), "labels": labels.long().numpy()}
    if condensed.whitening:
        arrays |= {name: tensor.numpy() for name, tensor in condensed.whitening.tensors().items()}
    else:
        arrays |= {name: np.array(condensed.preprocessing[name], np.float32) for name in ("mean", "std")}
    if condensed.learning_rate is not None:
        arrays["learning_rate"] = np.array(condensed.learning_rate, np.float32)
    if condensed.soft_labels is not None:
        arrays["soft_labels"] = condensed.targets().numpy()
    _save_npz(path, condensed.class_names, **arrays)


def _write_parquet(condensed: CondensedImages, path: Path) -> None:
    """Columns `image`, a PNG file and its name, and `label`; class names where Hugging Face looks.

    Where a set has them, a column `soft_label`, and the learning rate among the metadata.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    images, labels = condensed.records()
    features = {
        "image": {"_type": "Image"},
        "label": {"names": list(condensed.class_names), "_type": "ClassLabel"},
    }
    kinds = {"image": pa.struct({"bytes": pa.binary(), "path": pa.string()}), "label": pa.int64()}
    labelled = [{"bytes": as_png(image), "path": f"{i:05}.png"} for i, image in enumerate(images)]
    columns = {"image": labelled, "label": labels.tolist()}
    if condensed.soft_labels is not None:
        kinds["soft_label"], columns["soft_label"] = pa.list_(pa.float32()), condensed.targets().tolist()
        features["soft_label"] = {"feature": {"dtype": "float32", "_type": "Value"}, "_type": "Sequence"}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    if condensed.learning_rate is not None:
        metadata["learning_rate"] = repr(condensed.learning_rate)
    buffer = BytesIO()
    pq.write_table(pa.table(columns, schema=pa.schema(kinds, metadata=metadata)), buffer)
    write_atomically(path, buffer.getvalue())


def _write_torch(condensed: CondensedImages, path: Path) -> None:
    """Tensors `images` and `labels` as `dataset()` gives them, with names and preprocessing as JSON.

    Soft labels are float32 [R, classes]; a learning rate is among the metadata. Images that are whitened come
    with the tensors of the whitening, for test images.
    """
    images, labels = condensed.dataset().tensors
    metadata = {
        "class_names": json.dumps(condensed.class_names),
        "preprocessing": json.dumps(condensed.preprocessing),
    }
    if condensed.learning_rate is not None:
        metadata["learning_rate"] = repr(condensed.learning_rate)
    by = condensed.whitening.tensors() if condensed.whitening else {}
    stored = {name: part.contiguous() for name, part in {"images": images, "labels": labels, **by}.items()}
    write_atomically(path, save_tensors(stored, metadata))


def _write_nodes_npz(condensed: CondensedNodes, path: Path) -> None:
    """`x` float32 [M, F], `y` int64 [M], `edge_index` int64 [2, E], and `class_names`."""
    x, y, edges = condensed.features.float().numpy(), condensed.labels.numpy(), condensed.edges.numpy()
    _save_npz(path, condensed.class_names, x=x, y=y, edge_index=edges)


def _write_nodes_torch(condensed: CondensedNodes, path: Path) -> None:
    """Tensors `features`, `labels` and `edges`, with the names of the classes as JSON."""
    tensors = {name: tensor.contiguous() for name, tensor in condensed.tensors().items()}
    write_atomically(path, save_tensors(tensors, {"class_names": json.dumps(condensed.class_names)}))


class _Export(NamedTuple):
    suffix: str
    write: Callable[[Any, Path], None]


EXPORTS = {
    "folder": _Export("", _write_folder),
    "npz": _Export(".npz", _write_npz),
    "parquet": _Export(".parquet", _write_parquet),
    "png": _Export(".png", contact_sheet),
    "torch": _Export(".safetensors", _write_torch),
}
NODE_EXPORTS = {
    "npz": _Export(".npz", _write_nodes_npz),
    "torch": _Export(".safetensors", _write_nodes_torch),
}

"""A condensed set for other tools: its records in formats that they read, none of which is pickle."""

import json
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.torch import save as save_tensors

from lqm.condensed.condensed_set import CondensedSet
from lqm.condensed.export_folder import is_export, safe_names, write_folder
from lqm.condensed.images import CondensedImages
from lqm.condensed.nodes import CondensedNodes
from lqm.condensed.sheet import as_png, contact_sheet
from lqm.condensed.table import CondensedTable
from lqm.condensed.table_export import TABLE_WRITERS
from lqm.utils.errors import ArtifactError
from lqm.utils.extras import missing
from lqm.utils.files import write_atomically
from lqm.utils.names import choose
from lqm.utils.paths import as_path

__all__ = ["EXPORTS", "NODE_EXPORTS", "TABLE_EXPORTS", "export", "exported_path", "safe_names"]


def export(
    condensed: CondensedSet,
    to: str,
    path: str | Path,
    *,
    beside: Mapping[str, bytes] | None = None,
    force: bool = False,
) -> Path:
    """Write the records of a set, mosaics cut into their cells, for other tools.

    Args:
        condensed: the set.
        to: of images `folder`: PNG files, a folder a class; `npz`: NumPy, pixels in [0, 1]; `parquet`: as
            Hugging Face lays it out, with PNG images; `torch`: safetensors, normalised (or whitened), ready
            to train on; `png`: one image of all, with mosaics as they are. Of nodes `npz`: NumPy, in the
            form in which graphs are read; `torch`: safetensors. Of rows `csv`, `npz` and `parquet`: in the
            units of the source, as tables are read; `torch`: safetensors, standardised.
        path: the folder or file; a file's suffix is added if it is not there.
        beside: more files by name, such as a dataset card: in the folder, or beside the file with its name
            in front.
        force: whether to write over an earlier export.

    Returns:
        The path written.

    Raises:
        ConfigError: when there is no such export.
        ArtifactError: when something is at the path already, or it can't be written.
    """
    path, more = exported_path(condensed, to, path), beside or {}
    _, write = _forms(condensed)[0][to]
    try:
        if to == "folder":
            _require_free(path, force)
            write_folder(condensed, path, more)  # type: ignore[arg-type]
            return path
        others = {path.with_name(f"{path.name}.{name}"): content for name, content in more.items()}
        for each in (path, *others):
            _require_free(each, force)
        write(condensed, path)
        for each, content in others.items():
            write_atomically(each, content)
    except OSError as error:
        raise ArtifactError(
            f"{path} could not be written: {error.strerror or error}; make room or choose another path"
        ) from error
    return path


def exported_path(condensed: CondensedSet, to: str, path: str | Path) -> Path:
    """Where an export goes: the path, with the suffix of the form if it is a file."""
    suffix = choose(to, *_forms(condensed)).suffix
    path = as_path(path, "path")
    if not path.name:
        raise ArtifactError(f"'{path}' is no name for an export; name a file or a new folder")
    return path if path.suffix == suffix or to == "folder" else path.parent / (path.name + suffix)


def _forms(condensed: CondensedSet) -> tuple[Mapping[str, "_Export"], str]:
    """The forms that a set can be written in, and what one of them is called in messages."""
    if isinstance(condensed, CondensedTable):
        return TABLE_EXPORTS, "export of rows"
    return (NODE_EXPORTS, "export of nodes") if isinstance(condensed, CondensedNodes) else (EXPORTS, "export")


def _require_free(path: Path, force: bool) -> None:
    """Refuse to write over what is there, and ever to delete a folder that is no export."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not force:
        raise ArtifactError(f"{path} exists already; choose another name, or write over it by --force")
    if path.is_dir() and not is_export(path):
        raise ArtifactError(f"{path} is a folder that lqm has not exported; choose another name or delete it")


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
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise missing("a Parquet file", "pyarrow", "parquet") from error
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
    "folder": _Export("", write_folder),
    "npz": _Export(".npz", _write_npz),
    "parquet": _Export(".parquet", _write_parquet),
    "png": _Export(".png", contact_sheet),
    "torch": _Export(".safetensors", _write_torch),
}
NODE_EXPORTS = {
    "npz": _Export(".npz", _write_nodes_npz),
    "torch": _Export(".safetensors", _write_nodes_torch),
}
TABLE_EXPORTS = {form: _Export(*writer) for form, writer in TABLE_WRITERS.items()}

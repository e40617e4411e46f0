"""A condensed table in the forms in which tables are read."""

import csv
import json
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
from safetensors.torch import save as save_tensors

from lqm.condensed.table import CondensedTable
from lqm.utils.files import write_atomically

_LABEL = "label"


def label_column(names: tuple[str, ...]) -> str:
    """A name for the column of the labels that no feature has.

    Example:
        >>> label_column(("age", "label"))
        'label_'
    """
    label = _LABEL
    while label in names:
        label += "_"
    return label


def _write_csv(condensed: CondensedTable, path: Path) -> None:
    """A header, the features in the units of the source, and the name of the class in the last column."""
    features, labels = condensed.records()
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*condensed.feature_names, label_column(condensed.feature_names)])
    for row, label in zip(features.tolist(), labels.tolist(), strict=True):
        writer.writerow([*map(repr, row), condensed.class_names[label]])
    write_atomically(path, text.getvalue().encode("utf-8", "backslashreplace"))


def _write_npz(condensed: CondensedTable, path: Path) -> None:
    """`X` float64 [M, F] in the units of the source, `y` int64 [M], names, and mean and scale."""
    features, labels = condensed.records()
    buffer = BytesIO()
    np.savez(
        buffer,
        X=features.numpy(),
        y=labels.numpy(),
        class_names=np.array(condensed.class_names, np.str_),
        feature_names=np.array(condensed.feature_names, np.str_),
        mean=condensed.standardisation.mean.numpy(),
        scale=condensed.standardisation.scale.numpy(),
    )
    write_atomically(path, buffer.getvalue())


def _write_parquet(condensed: CondensedTable, path: Path) -> None:
    """A column a feature, in the units of the source, and the name of the class in the last one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    features, labels = condensed.records()
    names = (*condensed.feature_names, label_column(condensed.feature_names))
    columns = [pa.array(column) for column in features.numpy().T]
    columns.append(pa.array([condensed.class_names[label] for label in labels.tolist()]))
    buffer = BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, names=list(names)), buffer)
    write_atomically(path, buffer.getvalue())


def _write_torch(condensed: CondensedTable, path: Path) -> None:
    """All tensors of the set, its `rows` standardised, with the names of classes and features as JSON."""
    tensors = {name: tensor.contiguous() for name, tensor in condensed.tensors().items()}
    metadata = {
        "class_names": json.dumps(condensed.class_names),
        "feature_names": json.dumps(condensed.feature_names),
    }
    write_atomically(path, save_tensors(tensors, metadata))


# By form: the suffix of the file, and what writes it.
TABLE_WRITERS = {
    "csv": (".csv", _write_csv),
    "npz": (".npz", _write_npz),
    "parquet": (".parquet", _write_parquet),
    "torch": (".safetensors", _write_torch),
}

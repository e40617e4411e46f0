"""Small valid files of every format, from which fuzzing starts."""

import gzip
import io
import json
import pickle
import zipfile
from dataclasses import asdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from PIL import Image
from scipy.sparse import csr_matrix
from torch.utils.data import TensorDataset

import lqm
from lqm.studies.lines import CellLine, StudyHead

SEAL_LENGTH = 64
NO_SEAL = b'"seal": "' + b"0" * SEAL_LENGTH + b'"'
_RANDOM = np.random.default_rng(0)
_PIXELS = _RANDOM.integers(0, 256, (8, 8, 8), dtype=np.uint8)
_LABELS = np.arange(8) % 2


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _members(**arrays: object) -> dict[str, bytes]:
    return {f"{name}.npy": _npy(np.asarray(array)) for name, array in arrays.items()}


def image_arrays() -> dict[str, bytes]:
    """Images, labels and names."""
    return _members(x=_PIXELS, y=_LABELS, class_names=["cat", "dog"])


def graph_arrays() -> dict[str, bytes]:
    """A graph with sparse features and masks."""
    rows = csr_matrix(np.eye(12, 4, dtype=np.float32) + np.eye(12, 4, -4, dtype=np.float32))
    masks = {
        f"{part}_mask": np.arange(12) % 3 == number for number, part in enumerate(("train", "val", "test"))
    }
    return _members(
        edge_index=np.stack([np.arange(11), np.arange(1, 12)]),
        y=np.arange(12) // 3 % 2,
        **{f"x_{piece}": getattr(rows, piece) for piece in ("data", "indices", "indptr", "shape")},
        **masks,
        class_names=["cat", "dog"],
        edge_weight=np.ones(11, np.float32),
    )


def benchmark_arrays() -> dict[str, bytes]:
    """A graph as CSR pieces, as the common benchmarks have it."""
    ring = csr_matrix(np.eye(12, k=1, dtype=np.float32) + np.eye(12, k=-1, dtype=np.float32))
    rows = csr_matrix(_RANDOM.random((12, 5), np.float32))
    pieces = ("data", "indices", "indptr", "shape")
    return _members(
        **{f"adj_{piece}": getattr(ring, piece) for piece in pieces},
        **{f"attr_{piece}": getattr(rows, piece) for piece in pieces},
        labels=np.arange(12) % 2,
    )


def _saved(content: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def torch_files() -> list[bytes]:
    """A condensed set in the layouts of the field's scripts."""
    images, labels = torch.from_numpy(_PIXELS[:4, None] / np.float32(255)), torch.from_numpy(_LABELS[:4])
    accuracies = {"ConvNet": [np.float64(0.5), 0.25]}
    return [
        _saved([images, labels]),
        _saved({"images": images.half(), "labels": labels.int()}),
        _saved({"data": [[images.double(), labels]], "accs_all_exps": accuracies}),
        _saved({"data": images.bfloat16(), "targets": labels, "lr": torch.tensor(0.02)}),
    ]


def torch_programs() -> list[bytes]:
    """The `data.pkl` of each of them; all have the tensors of the first."""
    made = []
    for content in torch_files():
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            made.append(archive.read("archive/data.pkl"))
    return made[:1]


def parquet() -> list[bytes]:
    """Images in the two layouts of columns, with and without dictionaries, in several compressions."""
    pictures_of = [_encoded(Image.fromarray(pixels), "PNG") for pixels in _PIXELS]
    names = {b"huggingface": json.dumps({"info": {"features": {"label": {"names": ["a", "b"]}}}}).encode()}
    structs = pa.table({"image": [{"bytes": each, "path": None} for each in pictures_of], "label": _LABELS})
    plain = pa.table({"img": pictures_of, "fine_label": _LABELS})
    made = []
    for table, dictionary, compression in (
        (structs.replace_schema_metadata(names), False, "none"),
        (structs, True, "snappy"),
        (plain, True, "zstd"),
        (plain, False, "gzip"),
    ):
        buffer = io.BytesIO()
        pq.write_table(table, buffer, use_dictionary=dictionary, compression=compression, row_group_size=4)
        made.append(buffer.getvalue())
    return made


def idx() -> dict[str, bytes]:
    """The four files of MNIST, of 8 images of 8 x 8."""
    head = bytes([0, 0, 8, 3]) + np.array([8, 8, 8], ">u4").tobytes()
    labels = bytes([0, 0, 8, 1]) + np.array([8], ">u4").tobytes() + _LABELS.astype(np.uint8).tobytes()
    return {
        f"{part}-{what}-ubyte": content
        for part, pixels in (("train", _PIXELS), ("t10k", 255 - _PIXELS))
        for what, content in (("images-idx3", head + pixels.tobytes()), ("labels-idx1", labels))
    }


def idx_parts() -> list[bytes]:
    """Each of the files, and each compressed."""
    files = list(idx().values())
    plain = [bytes([number]) + content for number, content in enumerate(files)]
    return plain + [bytes([128 + number]) + gzip.compress(content) for number, content in enumerate(files)]


def cifar() -> dict[str, bytes]:
    """The pickles of CIFAR-10, of four images each."""
    names = pickle.dumps({b"label_names": [b"cat", b"dog"]}, protocol=2)
    batches = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    images = _RANDOM.integers(0, 256, (6, 4, 3072), dtype=np.uint8)
    content = [pickle.dumps({b"data": rows, b"labels": [0, 1, 0, 1]}, protocol=2) for rows in images]
    return {"batches.meta": names} | dict(zip(batches, content, strict=True))


def pictures() -> list[bytes]:
    """One picture in each of the usual formats."""
    picture = Image.fromarray(_RANDOM.integers(0, 256, (8, 8, 3), dtype=np.uint8))
    formats = ("PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP", "PPM", "JPEG2000", "AVIF")
    modes = [_encoded(picture.convert(mode), "PNG") for mode in ("L", "LA", "P", "1", "RGBA")]
    return [_encoded(picture, kind) for kind in formats] + modes


def folder() -> dict[str, bytes]:
    """Four different pictures."""
    pixels = _RANDOM.integers(0, 256, (4, 8, 8, 3), dtype=np.uint8)
    return {str(number): _encoded(Image.fromarray(each), "PNG") for number, each in enumerate(pixels)}


def planetoid() -> dict[str, bytes]:
    """The pickles of Planetoid: eight known nodes, of which four are for training, and four tested ones."""
    known, tested = (csr_matrix(_RANDOM.random((rows, 5), np.float32)) for rows in (8, 4))
    classes = np.eye(2, dtype=np.int32)[np.arange(8) % 2]
    ring = {node: [(node + 1) % 12, (node - 1) % 12] for node in range(12)}
    content = {
        "graph": ring,
        "allx": known,
        "tx": tested,
        "ally": classes,
        "ty": classes[:4],
        "y": classes[:4],
    }
    files = {f"ind.made.{ending}": pickle.dumps(value, protocol=2) for ending, value in content.items()}
    return files | {"ind.made.test.index": b"8\n9\n10\n11\n"}


def ogb() -> dict[str, bytes]:
    """The tables of an OGB folder, not yet compressed."""
    nodes = range(12)
    lines = {
        "raw/edge.csv.gz": [f"{node},{(node + 1) % 12}" for node in nodes],
        "raw/num-node-list.csv.gz": ["12"],
        "raw/node-feat.csv.gz": [f"{node},{node % 3}.5" for node in nodes],
        "raw/node-label.csv.gz": [str(node % 2) for node in nodes],
        "mapping/labelidx2name.csv.gz": ["label idx,name", "0,cat", "1,dog"],
        "split/time/train.csv.gz": [str(node) for node in range(6)],
        "split/time/valid.csv.gz": [str(node) for node in range(6, 8)],
        "split/time/test.csv.gz": [str(node) for node in range(8, 12)],
    }
    return {name: ("\n".join(rows) + "\n").encode() for name, rows in lines.items()}


def dataset() -> TensorDataset:
    """Labelled images as a dataset of torch."""
    images = torch.from_numpy(_PIXELS.astype(np.float32) / 255)[:, None]
    return TensorDataset(images, torch.from_numpy(_LABELS))


@cache
def _condensed() -> dict[str, bytes]:
    """The files of a run of two steps."""
    source = lqm.from_dataset(dataset(), name="made")
    with TemporaryDirectory() as folder:
        settings = {"steps": 2, "network": "mlp"}
        lqm.condense(
            source, method="dm", per_class=1, out=f"{folder}/run", settings=settings, show_progress=False
        )
        return {path.name: path.read_bytes() for path in Path(folder, "run").iterdir() if path.is_file()}


def manifest() -> dict[str, object]:
    """The manifest of a set, without a seal."""
    found: dict[str, object] = json.loads(_condensed()["manifest.json"])
    return found | {"seal": "0" * SEAL_LENGTH}


def manifests() -> list[bytes]:
    """The manifest of a set as text."""
    return [json.dumps(manifest(), indent=2).encode()]


def tensors_name() -> str:
    """The name of the file of tensors."""
    return next(name for name in _condensed() if name.startswith("data-"))


def tensors() -> list[bytes]:
    """The tensors of a set."""
    return [_condensed()[tensors_name()]]


def run() -> dict[str, bytes]:
    """The files of a run."""
    return {name: content for name, content in sorted(_condensed().items()) if not name.startswith(".")}


def cells() -> list[bytes]:
    """Lines of two cells of a study that form a pair."""
    head = StudyHead("mine", "Two distances", "", "distance", "mean")
    lines = [
        CellLine(
            head,
            f"digits-{distance}-seed-0",
            {"source": "digits", "distance": distance},
            0,
            key="0" * 16,
            settings={"steps": 100},
            protocol="quick-200",
            seconds={"condense": 2.5, "evaluate": 1.0},
            scores={"convnet": [0.8, 0.9]},
            baselines={"random": [0.5]},
            paper=45.3,
        )
        for distance in ("mean", "lqm")
    ]
    return [b"\n".join(json.dumps(asdict(line)).encode() for line in lines)]


def studies() -> list[bytes]:
    """A study as TOML."""
    return [
        b"""title = "Mine"
compare = "distance"
against = "mean"
[[cpu.grid]]
source = ["digits"]
method = "dm"
distance = ["mean", "lqm"]
per_class = [1, 10]
seed = "0..2"
protocol = "quick-200"
sketch = { encoders = 4 }
settings = { steps = 20 }
tune = { learning_rate = [0.1, 1.0] }
[[paper_scores]]
source = "digits"
per_class = 1
accuracy = 45.3
"""
    ]


def _encoded(picture: Image.Image, kind: str) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind)
    return buffer.getvalue()

"""What is fuzzed: how bytes become files of each format, who reads them, and bytes that are valid.

Where a format has checksums, the bytes are put inside of them, or nothing behind them would ever be reached.
A format of several files takes the number of the one that is changed as its first byte.
"""

import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import lqm
from fuzz import seeds
from lqm.studies.files import load_study
from lqm.studies.folder import read_results
from lqm.studies.layout import render
from lqm.studies.lines import CELLS
from lqm.studies.tables import all_tables
from lqm.utils.errors import LqmError
from lqm.utils.limits import limited_to
from lqm.utils.lines import append_lines

MEMORY = "64MB"


class Reader(NamedTuple):
    """A format.

    Attributes:
        write: puts the bytes into an empty folder, as files of the format, and returns what to read.
        read: reads that.
        valid: bytes that are read without an error.
    """

    write: Callable[[bytes, Path], Path]
    read: Callable[[Path], object]
    valid: Callable[[], list[bytes]]


def attempt(reader: Reader, content: bytes, folder: Path) -> str | None:
    """The sentence by which bytes are refused, if they are; any other error is a bug.

    Raises:
        AssertionError: when what is said is no sentence of one line.
    """
    path = reader.write(content, folder)
    try:
        with limited_to(MEMORY):
            reader.read(path)
    except LqmError as error:
        sentence = str(error)
        assert sentence, "an error without a word"
        assert len(sentence.splitlines()) == 1, f"more than a line: {sentence!r}"
        return sentence
    return None


def _images(path: Path) -> object:
    return lqm.load_source(path, show_progress=False)


def _graph(path: Path) -> object:
    return lqm.load_graph(path, show_progress=False)


@cache
def _source() -> lqm.ImageSource:
    return lqm.from_dataset(seeds.dataset(), name="made", class_names=("cat", "dog"), show_progress=False)


def _imported(path: Path) -> object:
    return lqm.import_set(path, source=_source(), clip=True, item=0 if path.suffix == ".pt" else None)


@cache
def _first_of(files: Callable[[], list[bytes]]) -> bytes:
    return files()[0]


def _torch_program(content: bytes, folder: Path) -> Path:
    """A file of torch with another `data.pkl`, and checksums that fit."""
    valid = io.BytesIO(_first_of(seeds.torch_files))
    with zipfile.ZipFile(valid) as archive, zipfile.ZipFile(folder / "made.pt", "w") as made:
        for name in archive.namelist():
            made.writestr(name, content if name.endswith("data.pkl") else archive.read(name))
    return folder / "made.pt"


def _file(name: str) -> Callable[[bytes, Path], Path]:
    def write(content: bytes, folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return write


def _one_of(
    files: Callable[[], dict[str, bytes]], wrap: Callable[[bytes], bytes] = bytes
) -> Callable[[bytes, Path], Path]:
    """All files of a valid set, but for the one that the first byte names."""

    def write(content: bytes, folder: Path) -> Path:
        valid = _once(files)
        changed = list(valid)[content[0] % len(valid)] if content else ""
        for name, inside in valid.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(wrap(content[1:] if name == changed else inside))
        return folder

    return write


@cache
def _once(files: Callable[[], dict[str, bytes]]) -> dict[str, bytes]:
    return files()


def _each(files: Callable[[], dict[str, bytes]]) -> Callable[[], list[bytes]]:
    return lambda: [bytes([number]) + inside for number, inside in enumerate(_once(files).values())]


def _members(files: Callable[[], dict[str, bytes]]) -> Callable[[bytes, Path], Path]:
    """The arrays of a `.npz`, one of them changed, with checksums that fit."""
    write_all = _one_of(files)

    def write(content: bytes, folder: Path) -> Path:
        write_all(content, folder / "members")
        with zipfile.ZipFile(folder / "made.npz", "w") as archive:
            for name in _once(files):
                archive.writestr(name, (folder / "members" / name).read_bytes())
        return folder / "made.npz"

    return write


def _zipped(files: Callable[[], dict[str, bytes]]) -> Callable[[], list[bytes]]:
    def valid() -> list[bytes]:
        made = []
        for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w", compression) as archive:
                for name, content in _once(files).items():
                    archive.writestr(name, content)
            made.append(buffer.getvalue())
        return made

    return valid


def _picture(content: bytes, folder: Path) -> Path:
    """A folder of two classes, one picture of which is changed."""
    for number, inside in enumerate(_once(seeds.folder).values()):
        place = folder / ("a", "b")[number % 2]
        place.mkdir(exist_ok=True)
        (place / f"{number}.png").write_bytes(inside if number else content)
    return folder


def _idx(content: bytes, folder: Path) -> Path:
    """The four files of MNIST, one of them changed; compressed if the first byte is 128 or more."""
    files = _once(seeds.idx)
    for name, inside in files.items():
        (folder / name).write_bytes(inside)
    changed = list(files)[content[0] % len(files)] if content else "train-images-idx3-ubyte"
    zipped = bool(content) and content[0] >= 128
    (folder / changed).unlink()
    (folder / (f"{changed}.gz" if zipped else changed)).write_bytes(content[1:])
    return folder


def _tensors(content: bytes, folder: Path) -> Path:
    """A sealed set whose tensors are these bytes."""
    digest = hashlib.sha256(content).hexdigest()
    name = f"data-{digest[:12]}.safetensors"
    (folder / name).write_bytes(content)
    manifest = seeds.manifest() | {"data": {"file": name, "sha256": digest, "bytes": len(content)}}
    return _sealed(json.dumps(manifest).encode(), folder)


def _sealed(content: bytes, folder: Path) -> Path:
    """A set whose manifest is these bytes, with the seal that fits if there is a place for one."""
    seal = hashlib.sha256(content).hexdigest().encode()
    (folder / "manifest.json").write_bytes(
        content.replace(seeds.NO_SEAL, seeds.NO_SEAL.replace(b"0" * 64, seal), 1)
    )
    return folder


def _manifest(content: bytes, folder: Path) -> Path:
    (folder / seeds.tensors_name()).write_bytes(seeds.tensors()[0])
    return _sealed(content, folder)


def _run(content: bytes, folder: Path) -> Path:
    """A run beside a good one."""
    _one_of(seeds.run)(content, folder / "runs" / "strange")
    return folder / "runs"


def _list_runs(path: Path) -> object:
    from lqm.api.runs import find_runs

    return find_runs(path)


def _cells(content: bytes, folder: Path) -> Path:
    """Lines with the checksum that each has to have, where they can have one."""
    path = folder / CELLS
    for line in content.split(b"\n"):
        try:
            record = json.loads(line)
            append_lines(path, [record])
        except (ValueError, TypeError, AttributeError):
            with path.open("ab") as file:
                file.write(line + b"\n")
    return folder


def _study_tables(path: Path) -> object:
    tables = all_tables(read_results(path))
    return [(render(each, "md"), render(each, "tex"), render(each, "csv")) for each in tables]


READERS: dict[str, Reader] = {
    "npz": Reader(_file("made.npz"), _images, _zipped(seeds.image_arrays)),
    "import-npz": Reader(_file("made.npz"), _imported, _zipped(seeds.image_arrays)),
    "torch": Reader(_file("made.pt"), _imported, seeds.torch_files),
    "torch-program": Reader(_torch_program, _imported, seeds.torch_programs),
    "npy": Reader(_members(seeds.image_arrays), _images, _each(seeds.image_arrays)),
    "graph-npy": Reader(_members(seeds.graph_arrays), _graph, _each(seeds.graph_arrays)),
    "benchmark-npy": Reader(_members(seeds.benchmark_arrays), _graph, _each(seeds.benchmark_arrays)),
    "parquet": Reader(_file("train.parquet"), _images, seeds.parquet),
    "idx": Reader(
        _idx, lambda path: lqm.load_source("mnist", data_dir=path, show_progress=False), seeds.idx_parts
    ),
    "cifar": Reader(
        _one_of(seeds.cifar),
        lambda path: lqm.load_source("cifar10", data_dir=path, show_progress=False),
        _each(seeds.cifar),
    ),
    "picture": Reader(_picture, _images, seeds.pictures),
    "planetoid": Reader(_one_of(seeds.planetoid), _graph, _each(seeds.planetoid)),
    "ogb": Reader(_one_of(seeds.ogb, gzip.compress), _graph, _each(seeds.ogb)),
    "tensors": Reader(_tensors, lqm.load, seeds.tensors),
    "manifest": Reader(_manifest, lqm.load, seeds.manifests),
    "run": Reader(_run, _list_runs, _each(seeds.run)),
    "cells": Reader(_cells, _study_tables, seeds.cells),
    "study": Reader(_file("mine.toml"), load_study, seeds.studies),
}

"""Torch's files, compared with what torch wrote, and files that are to be refused."""

import io
import os
import pickle
import zipfile

import numpy as np
import pytest
import torch

from lqm.utils.errors import DataError
from lqm.utils.limits import limited_to
from lqm.utils.torch_files import TorchFile

KINDS = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")


def saved(path, content, **options):
    torch.save(content, path, **options)
    return path


def changed(path, **members):
    """A file with other members, and checksums that fit."""
    with zipfile.ZipFile(path) as archive:
        stored = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in stored.items():
            archive.writestr(name, members.get(name.rpartition("/")[2].replace(".", "_"), content))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_every_type_are_those_of_torch(tmp_path, kind):
    tensor = (torch.arange(24).reshape(2, 3, 4) * 5).to(getattr(torch, kind))
    file = TorchFile(saved(tmp_path / "a.pt", tensor))
    expected = tensor.float() if kind == "bfloat16" else tensor
    assert np.array_equal(file.array(file.content), expected.numpy())


@pytest.mark.parametrize(
    "view",
    [
        lambda whole: whole[3:5],
        lambda whole: whole.transpose(0, 2),
        lambda whole: whole[:, ::2, 1],
        lambda whole: whole[0, 0, 0],
        lambda whole: whole[:0],
        lambda whole: torch.ones(1).expand(50, 50),
        torch.nn.Parameter,
    ],
)
def test_views_and_parameters_are_those_of_torch(tmp_path, view):
    tensor = view(torch.rand(6, 4, 3))
    file = TorchFile(saved(tmp_path / "a.pt", tensor))
    found = file.array(file.content)
    assert found.shape == tensor.shape
    assert np.array_equal(found, tensor.detach().numpy())


def test_containers_and_numbers_beside_tensors_are_kept(tmp_path):
    content = {"a": [1, 2.5, "x", None, True], "b": {"c": np.float64(0.5)}, "d": torch.Size([2, 3])}
    assert TorchFile(saved(tmp_path / "a.pt", content)).content == content | {"d": (2, 3)}


class Harmful:
    def __reduce__(self):
        return os.mkdir, ("made-by-a-pickle",)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (Harmful(), "mkdir"),
        ([torch.zeros(2), Harmful()], "mkdir"),
        (torch.nn.Linear(2, 2), r"torch\.nn\.modules"),
        (torch.eye(3).to_sparse(), "sparse"),
    ],
)
def test_what_is_no_plain_tensor_is_refused_and_not_run(tmp_path, monkeypatch, content, word):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=rf"a\.pt asks for .*{word}.*not run; save plain tensors"):
        TorchFile(saved(tmp_path / "a.pt", content))
    assert not (tmp_path / "made-by-a-pickle").exists()


def test_files_of_other_formats_are_refused_in_a_sentence(tmp_path):
    old = saved(tmp_path / "old.pt", torch.zeros(3), _use_new_zipfile_serialization=False)
    plain = tmp_path / "plain.pt"
    plain.write_bytes(pickle.dumps([1]))
    archive = tmp_path / "archive.pt"
    np.savez(archive.open("wb"), x=np.zeros(2))
    for path in (old, plain, archive):
        with pytest.raises(DataError, match=r"can't be read as a file of torch.*torch 1\.6"):
            TorchFile(path)


def test_a_tensor_beyond_its_numbers_is_refused(tmp_path):
    path = saved(tmp_path / "a.pt", torch.zeros(4, 5))
    with zipfile.ZipFile(path) as archive:
        program = archive.read("a/data.pkl")
    assert program.count(b"K\x04K\x05\x86") == 1
    with pytest.raises(DataError, match="longer than its numbers"):
        TorchFile(changed(path, data_pkl=program.replace(b"K\x04K\x05\x86", b"K\x04K\x06\x86")))


def test_numbers_that_are_cut_off_are_refused(tmp_path):
    path = changed(saved(tmp_path / "a.pt", torch.zeros(4)), **{"0": b"\0" * 12})
    file = TorchFile(path)
    with pytest.raises(DataError, match="not of the length"):
        file.array(file.content)


def test_a_small_file_that_claims_a_large_tensor_is_refused_before_memory_is_taken(tmp_path):
    file = TorchFile(saved(tmp_path / "a.pt", torch.ones(1).expand(30_000, 30_000)))
    with limited_to("64MB"), pytest.raises(DataError, match="above the limit of 64 MiB"):
        file.array(file.content)


def test_numbers_of_a_machine_with_the_other_order_of_bytes_are_turned(tmp_path):
    buffer = io.BytesIO()
    torch.save(torch.arange(5), buffer)
    path = tmp_path / "a.pt"
    path.write_bytes(buffer.getvalue())
    changed(path, byteorder=b"big", **{"0": np.arange(5, dtype=">i8").tobytes()})
    file = TorchFile(path)
    assert file.array(file.content).tolist() == [0, 1, 2, 3, 4]

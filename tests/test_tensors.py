"""Files of tensors as we read and write them, against the library's."""

import torch
from safetensors.torch import load_file, save_file

from lqm.utils.tensors import TensorFile, write_tensors


def test_safetensors_of_our_own_and_of_the_library_are_the_same(tmp_path):
    tensors = {
        "a": torch.rand(3, 4),
        "b": torch.randint(0, 9, (5,)),
        "c": torch.tensor(True),
        "d": torch.zeros(0, 7, dtype=torch.float64),
        "e": torch.rand(2).to(torch.bfloat16),
        "f": torch.tensor(3, dtype=torch.uint8),
    }
    save_file(tensors, tmp_path / "file.safetensors", {"x": "y"})
    found = TensorFile(tmp_path / "file.safetensors", "")
    assert found.metadata == {"x": "y"}
    for name, tensor in load_file(tmp_path / "file.safetensors").items():
        assert found[name].dtype == tensor.dtype
        assert found[name].equal(tensor)
    assert {*found.tensors()} == {*tensors}
    with (tmp_path / "own.safetensors").open("wb") as file:
        write_tensors(file, tensors, {"x": "y"})
    for name, tensor in load_file(tmp_path / "own.safetensors").items():
        assert tensor.dtype == tensors[name].dtype
        assert tensor.equal(tensors[name])
    assert TensorFile(tmp_path / "own.safetensors", "").metadata == {"x": "y"}

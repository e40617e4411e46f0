"""Arrays in files: every record as it is in memory, in any order; and files whose records come one by one."""

import copy
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from lqm.utils import tensor_drafts
from lqm.utils.errors import ArtifactError, DataError
from lqm.utils.limits import limited_to
from lqm.utils.stored_arrays import Part, chunks, in_memory, subset
from lqm.utils.tensor_drafts import TensorDraft
from lqm.utils.tensors import TensorFile, save_tensors

COUNT = 40
NUMBERS = st.lists(st.integers(-COUNT, COUNT - 1), max_size=60)
ENDS = st.none() | st.integers(-COUNT - 5, COUNT + 5)


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    """An array in memory, and the same in a file."""
    array = torch.randint(0, 256, (COUNT, 3, 5, 5), dtype=torch.uint8, generator=torch.Generator())
    path = tmp_path_factory.mktemp("arrays") / "file.safetensors"
    save_tensors(path, {"a": torch.rand(7), "x": array})
    return array, TensorFile(path, "make it again").stored("x")


@given(NUMBERS)
def test_numbers_in_any_order_give_the_same_records(arrays, numbers):
    array, stored = arrays
    places = torch.tensor(numbers, dtype=torch.int64)
    assert stored[places].equal(array[places])
    assert stored[numbers].equal(array[places])
    assert Part(stored, places)[:].equal(array[places])


@given(ENDS, ENDS, st.integers(1, 3))
def test_slices_give_the_same_records(arrays, first, last, step):
    array, stored = arrays
    assert stored[first:last:step].equal(array[first:last:step])


@given(st.lists(st.integers(0, COUNT - 1), min_size=1, max_size=30), st.integers(1, 7))
def test_a_part_of_a_part_is_read_in_its_order_and_in_pieces(arrays, places, count):
    array, stored = arrays
    own, inner = torch.tensor(places), torch.arange(len(places)).flip(0)
    for records in (array, stored):
        part = Part(Part(records, own), inner)
        assert next(part.split(count)).equal(array[own[inner]][:count])
        assert torch.cat([*part.split(count)]).equal(array[own[inner]])


def test_numbers_masks_and_shapes_are_those_of_a_tensor(arrays):
    array, stored = arrays
    mask = torch.arange(COUNT) % 3 == 0
    assert stored[mask].equal(array[mask])
    assert subset(stored, mask)[1].equal(array[3])
    assert isinstance(subset(array, mask), torch.Tensor)
    assert stored[-1].equal(array[-1])
    assert stored[torch.tensor(4)].equal(array[4])
    assert (len(stored), stored.ndim, stored.numel()) == (COUNT, 4, array.numel())
    assert (stored.shape, stored.dtype, stored.element_size()) == (tuple(array.shape), torch.uint8, 1)
    assert [part.shape[0] for part in Part(stored, torch.zeros(0, dtype=torch.int64)).split(4)] == [0]
    for wrong in (COUNT, -COUNT - 1):
        with pytest.raises(IndexError):
            stored[wrong]
    with pytest.raises(IndexError):
        stored[mask[:-1]]


def test_chunks_are_of_some_bytes_and_hold_all(arrays, monkeypatch):
    array, stored = arrays
    monkeypatch.setattr("lqm.utils.stored_arrays._CHUNK", 200)
    found = [*chunks(stored)]
    assert {len(part) for part in found} == {2}
    assert torch.cat(found).equal(array)


def test_a_whole_array_is_read_only_within_the_limit(arrays):
    array, stored = arrays
    assert in_memory(stored, "these").equal(array)
    assert in_memory(array, "these") is array
    with limited_to("1KB"), pytest.raises(DataError, match=r"these would take .*above the limit"):
        in_memory(stored, "these")


def test_threads_read_at_once(arrays):
    array, stored = arrays
    places = [torch.randperm(COUNT, generator=torch.Generator().manual_seed(n)) for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(stored.__getitem__, places)]
    assert all(own.equal(array[chosen]) for own, chosen in zip(found, places, strict=True))


def test_another_process_opens_the_file_anew(arrays):
    array, stored = arrays
    # As in a process that it is sent to.
    again = copy.deepcopy(Part(stored, torch.tensor([3, 1])))
    assert again[:].equal(array[[3, 1]])


def test_a_file_that_is_cut_short_in_use_is_a_sentence(tmp_path):
    save_tensors(tmp_path / "file.safetensors", {"x": torch.rand(100, 100)})
    stored = TensorFile(tmp_path / "file.safetensors", "make it again").stored("x")
    os.truncate(tmp_path / "file.safetensors", 1000)
    with pytest.raises(ArtifactError, match=r"file\.safetensors .*cut short.*; make it again"):
        stored[torch.tensor([99, 0])]


def test_a_tensor_that_is_not_there_is_a_sentence(tmp_path):
    save_tensors(tmp_path / "file.safetensors", {"x": torch.rand(2)})
    with pytest.raises(ArtifactError, match="there is no 'y'"):
        TensorFile(tmp_path / "file.safetensors", "").stored("y")


@pytest.mark.parametrize("first_colour", [0, 1, 7, None])
def test_records_that_come_one_by_one_are_a_file_of_safetensors(tmp_path, monkeypatch, first_colour):
    monkeypatch.setattr(tensor_drafts, "_AT_A_TIME", 3 * 3 * 16)  # three records at a time
    random = np.random.default_rng(0)
    records = [random.integers(0, 256, (1, 4, 4), dtype=np.uint8) for _ in range(9)]
    if first_colour is not None:
        records[first_colour] = random.integers(0, 256, (3, 4, 4), dtype=np.uint8)
    labels = torch.arange(6)
    with (tmp_path / "file").open("w+b") as file:
        draft = TensorDraft(
            file, {"y": labels}, {"a": 6, "b": 3}, records[0].shape, np.dtype(np.uint8), {"k": "v"}
        )
        for record in records:
            if len(record) > draft.shape[0]:
                draft.widen(len(record))
            draft.add(record)
        draft.finish()
    channels = 1 if first_colour is None else 3
    whole = torch.from_numpy(np.stack([np.broadcast_to(record, (channels, 4, 4)) for record in records]))
    found = load_file(tmp_path / "file")
    assert torch.cat([found["a"], found["b"]]).equal(whole)
    assert found["y"].equal(labels)
    assert TensorFile(tmp_path / "file", "").metadata == {"k": "v"}
    assert TensorFile(tmp_path / "file", "").stored("b")[:].equal(whole[6:])

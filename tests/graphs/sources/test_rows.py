"""Sparse matrices out of files; the oracle is a naive loop over the entries."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from lqm.graphs.sources.rows import rows_of
from lqm.utils.errors import DataError

WRONG = np.array([0, 10**6] + [10**6] * 18 + [0])
NOTHING = {"data": np.zeros(0, np.float32), "indices": np.zeros(0, np.int32), "indptr": WRONG}


def naive(data, indices, indptr, shape):
    """The dense matrix; None if the pieces are those of none."""
    rows, columns = shape
    if len(indptr) != rows + 1 or indptr[0] != 0 or not indptr[-1] == len(indices) == len(data):
        return None
    matrix = np.zeros(shape)
    for row in range(rows):
        if indptr[row] > indptr[row + 1]:
            return None
        for place in range(indptr[row], indptr[row + 1]):
            if place >= len(indices) or not 0 <= indices[place] < columns:
                return None
            matrix[row, indices[place]] += data[place]
    return matrix


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.data())
def test_pieces_are_refused_exactly_if_they_are_those_of_no_matrix(data):
    rows, columns = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    entries = data.draw(st.integers(0, 6))
    number = st.integers(-1, 7)
    inner = sorted(data.draw(st.lists(st.integers(0, entries), min_size=max(rows - 1, 0), max_size=rows)))
    indptr = [0, *inner, entries] if rows else [0]
    indices = data.draw(st.lists(st.integers(0, max(columns - 1, 0)), min_size=entries, max_size=entries))
    for wrong in (indptr, indices):
        if wrong and data.draw(st.booleans()):
            wrong[data.draw(st.integers(0, len(wrong) - 1))] = data.draw(number)
    values = list(range(1, data.draw(st.sampled_from([entries, entries, entries + 1])) + 1))
    kind = data.draw(st.sampled_from([np.int64, np.int32, np.int8, ">i4"]))
    pieces = (np.array(values, "f4"), np.array(indices, kind), np.array(indptr, kind))
    expected = naive(values, indices, indptr, (rows, columns))
    if expected is None:
        with pytest.raises(DataError, match=r"^the matrix is no sparse matrix \(.+\); .*again$"):
            rows_of(*pieces, (rows, columns), place="the matrix")
    else:
        found = rows_of(*pieces, (rows, columns), place="the matrix")
        found.sum_duplicates()
        np.testing.assert_array_equal(found.toarray(), expected)


@pytest.mark.parametrize(
    "changed",
    [
        {"shape": (10**9, 10**9)},
        {"shape": (-1, 3)},
        {"shape": (2,)},
        {"shape": (2, 3, 1)},
        {"shape": (2.0, 3.0)},
        {"shape": (True, 3)},
        {"shape": (2, 2**70)},
        {"shape": np.array(2)},
        {"shape": None},
        {"indptr": np.array([0.0, 1, 2])},
        {"indptr": np.array([[0, 1, 2]])},
        {"indptr": np.array(0)},
        {"indptr": np.array([0, 2**64 - 1, 2], np.uint64)},
        {"indices": np.array([0, 3])},
        {"indices": np.array([0, 2**64 - 1], np.uint64)},
        {"indices": np.array(["0", "1"])},
        {"data": np.array(["a", "b"])},
        {"data": np.array([1j, 2])},
        {"data": [1, 2]},
    ],
)
def test_pieces_of_odd_types_are_refused(changed):
    pieces = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": (2, 3)}
    rows_of(**pieces, place="it")
    with pytest.raises(DataError, match="it is no sparse matrix"):
        rows_of(**(pieces | changed), place="it")


@pytest.mark.parametrize("kind", ["f2", "g", ">f8", "?", "u1"])
def test_all_numbers_are_values(kind):
    found = rows_of(np.ones(2, kind), np.array([1, 0]), np.array([0, 2]), np.array([1, 2]), place="it")
    found.sum_duplicates()
    found.eliminate_zeros()
    np.testing.assert_array_equal(found.toarray(), [[1, 1]])


LOAD_ALL = """
import sys, warnings
from types import SimpleNamespace
import torch
from lqm.graphs.sources import load_graph, from_pyg
from lqm.utils.errors import LqmError
warnings.simplefilter("ignore")

def bad():
    nothing = torch.zeros(0, dtype=torch.int64)
    wrong = torch.tensor([0] + [10**6] * 19 + [0])
    x = torch.sparse_csr_tensor(wrong, nothing, torch.zeros(0), (20, 3), check_invariants=False)
    entry = torch.tensor([[10**8], [0]])
    far = torch.sparse_coo_tensor(entry, torch.ones(1), (20, 3), check_invariants=False)
    nodes = torch.arange(20)
    edges = torch.stack([nodes, nodes.roll(1)])
    return [SimpleNamespace(x=values, edge_index=edges, y=nodes % 2) for values in (x, far)]

for make in [*(lambda path=path: load_graph(path) for path in sys.argv[1:]),
             *(lambda data=data: from_pyg(data) for data in bad())]:
    try:
        make()
    except LqmError as error:
        print("refused" if "\\n" not in str(error) else str(error))
"""


def prefixed(pieces, prefix, shape):
    return {f"{prefix}{name}": piece for name, piece in {**pieces, "shape": np.array(shape)}.items()}


def test_no_file_leads_scipy_outside_of_its_memory(tmp_path, write, random):
    nodes = np.arange(20)
    good = csr_matrix(np.eye(20, k=1, dtype=np.float32))
    ring = {name: getattr(good, name) for name in ("data", "indices", "indptr")}
    labels = {"labels": nodes % 2}
    files = {
        "adjacency": prefixed(NOTHING, "adj_", (20, 20)) | labels,
        "attributes": prefixed(ring, "adj_", (20, 20)) | prefixed(NOTHING, "attr_", (20, 3)) | labels,
    }
    paths = [write("features", x=None, **prefixed(NOTHING, "x_", (20, 3)))]
    for name, arrays in files.items():
        np.savez(tmp_path / f"{name}.npz", **arrays)
        paths.append(tmp_path / f"{name}.npz")
    for part in ("allx", "tx"):
        paths.append(planetoid(tmp_path / part, random, part))
    # In a process of its own, since a crash would end all tests.
    done = subprocess.run([sys.executable, "-c", LOAD_ALL, *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split("\n")[:-1] == ["refused"] * (len(paths) + 2)


def planetoid(folder, random, part):
    """Files of 20 nodes, and 20 test nodes; one of the sparse matrices leads outside of its memory."""
    folder.mkdir()
    one_hot = np.eye(2)[np.arange(20) % 2]
    features = csr_matrix(random.random((20, 3), dtype=np.float32))
    wrong = csr_matrix((20, 3), dtype=np.float32)
    wrong.indptr = WRONG.astype(np.int32)
    values = {
        "x": features,
        "allx": features,
        "tx": features,
        "y": one_hot[:4],
        "ally": one_hot,
        "ty": one_hot,
    }
    graph = {node: [(node + 1) % 40] for node in range(40)}
    for name, value in {**values, "graph": graph, part: wrong}.items():
        (folder / f"ind.cora.{name}").write_bytes(pickle.dumps(value, 2))
    (folder / "ind.cora.test.index").write_text("\n".join(str(node) for node in range(20, 40)))
    return folder

"""A `Data` of PyG as a source."""

import numpy as np
import pytest
import torch
from scipy.sparse import issparse
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

from lqm.graphs.graph import dense
from lqm.graphs.sources import from_pyg, is_graph, load_graph
from lqm.utils.errors import DataError


@pytest.fixture
def data():
    draws = torch.Generator().manual_seed(0)
    edges = to_undirected(torch.randint(0, 30, (2, 60), generator=draws))
    edges = edges[:, edges[0] != edges[1]]
    return Data(torch.rand(30, 4, generator=draws), edges, y=torch.arange(30) % 3)


def test_a_data_becomes_a_source(data):
    assert is_graph(data)
    source = load_graph(data)
    assert (source.name, source.origin, source.class_names) == ("graph", None, ("0", "1", "2"))
    assert source.graph.features.equal(data.x)
    expected = np.zeros((30, 30))
    expected[tuple(data.edge_index.numpy())] = 1
    np.testing.assert_array_equal(source.graph.adjacency.toarray(), expected)
    assert source.split.startswith("random")
    named = from_pyg(data, "letters", ["a", "b", "c"])
    assert (named.name, named.class_names) == ("letters", ("a", "b", "c"))


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_sparse_features_stay_sparse(data, layout):
    expected = data.x * (data.x > 0.7)
    data.x = expected.to_sparse(layout=layout)
    found = from_pyg(data).graph.features
    assert issparse(found)
    assert dense(found).equal(expected)


def test_features_of_another_type_become_floats(data):
    data.x = data.x.bfloat16()
    assert from_pyg(data).graph.features.equal(data.x.float())


@pytest.mark.parametrize("columns", [0, 3])
def test_masks_are_the_published_split(data, columns):
    for place, part in enumerate(("train", "val", "test")):
        mask = torch.arange(30) // 10 == place
        data[f"{part}_mask"] = torch.stack([mask, *[~mask] * (columns - 1)], dim=1) if columns else mask
    source = from_pyg(data)
    assert source.split == "published"
    assert source.validation.tolist() == list(range(10, 20))
    assert any("3 published splits" in note for note in source.notes) == bool(columns)
    assert load_graph(data, split="random").split.startswith("random")


def test_a_graph_without_features_asks_for_them(data):
    data.x = None
    with pytest.raises(DataError, match=r"'graph'.*features"):
        load_graph(data)
    assert load_graph(data, features="one-hot").graph.width == 30


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("y", None, r"\by$"),
        ("edge_index", None, "edge_index"),
        ("y", torch.rand(30, 4), r"labels.*\[30, 4\]"),
        ("y", torch.tensor(1), r"labels.*\[\]"),
        ("x", torch.full((30, 4), torch.nan), "NaN or infinity"),
        ("train_mask", torch.ones(30, dtype=torch.bool), "test_mask"),
    ],
)
def test_what_cant_be_used_is_refused(data, key, value, sentence):
    data[key] = value
    with pytest.raises(DataError, match=sentence):
        from_pyg(data)

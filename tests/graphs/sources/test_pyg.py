"""A `Data` of PyG as a source."""

import numpy as np
import pytest
import torch
from scipy.sparse import issparse
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.datasets import KarateClub
from torch_geometric.utils import to_undirected

import lqm
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


@pytest.mark.parametrize(
    "masks",
    [
        {"train_mask": torch.ones(30, dtype=torch.bool)},
        {"train_mask": torch.arange(30), "test_mask": torch.arange(30)},
        {"test_mask": torch.ones(7, dtype=torch.bool)},
    ],
)
def test_a_random_split_looks_at_no_mask(data, masks):
    expected = load_graph(data, split="random")
    data.update(masks)
    with pytest.raises(DataError, match="mask"):
        load_graph(data)
    assert load_graph(data, split="random").fingerprint == expected.fingerprint


def test_the_karate_club_is_condensed_and_learned_by_tasks():
    club = KarateClub()
    with pytest.raises(DataError, match=r"test_mask.*split random"):
        lqm.condense(club, show_progress=False)
    tiny = {"steps": 2, "width": 8}
    made = lqm.condense(club, split="random", budget=4, settings=tiny, show_progress=False)
    assert made.features.shape == (4, 34)
    found = lqm.continual(club[0], budget=2, settings={**tiny, "epochs": 2}, show_progress=False, repeats=1)
    assert found.matrices.shape == (1, 2, 2)


@pytest.mark.parametrize("key", ["edge_weight", "edge_attr"])
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_weights_of_edges_are_refused_unless_all_are_one(data, key, columns):
    expected = from_pyg(data).fingerprint
    shape = (data.edge_index.shape[1], *([columns] if columns else []))
    data[key] = torch.ones(shape, dtype=torch.bfloat16)
    assert from_pyg(data).fingerprint == expected
    data[key][-1] = 0.5
    with pytest.raises(DataError, match=rf"'graph' .*{key}.*del data\.{key}"):
        load_graph(data)
    del data[key]
    assert from_pyg(data).fingerprint == expected


class Graphs(InMemoryDataset):
    def __init__(self, graphs):
        super().__init__()
        self.data, self.slices = self.collate(graphs)


@pytest.mark.parametrize("kind", [list, tuple, Graphs])
def test_several_graphs_are_refused_and_one_is_taken(data, kind):
    several, one = kind([data, data, data]), kind([data])
    assert is_graph(several)
    with pytest.raises(DataError, match=r"\b3 graphs.*nodes of one"):
        lqm.condense(several, show_progress=False)
    assert load_graph(one).fingerprint == load_graph(data).fingerprint

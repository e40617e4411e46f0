"""Condensed nodes: as files, for PyG, and for other tools."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch_geometric.nn import GCNConv

import lqm
from lqm.condensed import CondensedNodes
from lqm.condensed.export import export
from lqm.utils.errors import ConfigError

FEATURES = torch.rand(5, 7, generator=torch.Generator().manual_seed(0))
LABELS = torch.tensor([0, 0, 1, 2, -1])
EDGES = torch.tensor([[0, 4], [4, 0]])


def nodes(edges=EDGES):
    return CondensedNodes(FEATURES, LABELS, ("a", "b", "c"), {"budget": 4}, edges=edges)


def test_nodes_come_back_from_a_folder_as_they_were(tmp_path):
    nodes().save(tmp_path / "set")
    again = lqm.load(tmp_path / "set")
    assert isinstance(again, CondensedNodes)
    assert again.features.equal(FEATURES)
    assert again.labels.equal(LABELS)
    assert again.edges.equal(EDGES)
    assert again.class_names == ("a", "b", "c")
    assert again.manifest["budget"] == 4


def test_a_network_of_pyg_trains_on_it_as_it_is():
    data = nodes().to_pyg()
    assert data.validate()
    layer = GCNConv(7, 3)
    adam = torch.optim.Adam(layer.parameters(), lr=0.1)

    def step():
        logits = layer(data.x, data.edge_index)[data.train_mask]
        loss = torch.nn.functional.cross_entropy(logits, data.y[data.train_mask])
        adam.zero_grad()
        loss.backward()
        adam.step()
        return loss.item()

    losses = [step() for _ in range(30)]
    assert losses[-1] < 0.7 * losses[0]


def test_the_dataset_is_the_nodes_with_a_label():
    features, labels = nodes().dataset().tensors
    assert features.equal(FEATURES[:4])
    assert labels.tolist() == [0, 0, 1, 2]


def test_npz_is_read_by_numpy_and_again_as_a_graph(tmp_path):
    many = CondensedNodes(FEATURES.repeat(4, 1), LABELS.repeat(4), ("a", "b", "c"), {}, edges=EDGES)
    path = export(many, "npz", tmp_path / "nodes")
    content = np.load(path)
    np.testing.assert_array_equal(content["x"], many.features.numpy())
    np.testing.assert_array_equal(content["y"], many.labels.numpy())
    source = lqm.load_graph(path)
    assert source.graph.edges == 1
    assert source.class_names == ("a", "b", "c")


def test_torch_is_safetensors(tmp_path):
    tensors = load_file(export(nodes(), "torch", tmp_path / "nodes"))
    assert tensors["features"].equal(FEATURES)
    assert tensors["edges"].equal(EDGES)


def test_what_is_for_images_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"'folder'.*npz, torch"):
        export(nodes(), "folder", tmp_path / "nodes")

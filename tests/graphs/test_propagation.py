"""Propagation and multiplication, against PyG and NumPy."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, issparse, random_array
from torch_geometric.nn import SGConv

from lqm.graphs.graph import Graph, dense, rows, stacked, undirected
from lqm.graphs.matrices import Matrix
from lqm.graphs.propagation import normalised_adjacency, propagate

CPU = torch.device("cpu")


def random_graph(nodes=40, edges=90, features=12, density=0.05, seed=0):
    draws = np.random.default_rng(seed)
    adjacency = undirected(draws.integers(0, nodes, edges), draws.integers(0, nodes, edges), nodes)
    sparse = csr_array(random_array((nodes, features), density=density, rng=draws, dtype=np.float32))
    return Graph(sparse, adjacency, torch.from_numpy(draws.integers(0, 3, nodes)))


@pytest.mark.parametrize("hops", [0, 1, 2, 5])
@pytest.mark.parametrize("as_dense", [False, True])
def test_propagation_is_that_of_pyg(hops, as_dense):
    graph = random_graph()
    features = dense(graph.features) if as_dense else graph.features
    found = propagate(features, graph.adjacency, hops)
    layer = SGConv(12, 12, K=hops, bias=False)
    layer.lin.weight.data = torch.eye(12)
    edges = torch.from_numpy(np.stack(graph.adjacency.nonzero())).long()
    expected = layer(dense(graph.features), edges) if hops else dense(graph.features)
    torch.testing.assert_close(dense(found), expected.detach())


def test_features_stay_sparse_while_they_are():
    few = random_graph(nodes=200, edges=600, features=50, density=0.02)
    assert issparse(propagate(few.features, few.adjacency, 1))
    assert not issparse(propagate(few.features, few.adjacency, 40))


def test_normalised_adjacency_times_features_is_one_hop():
    graph = random_graph()
    by_matrix = normalised_adjacency(graph.adjacency) @ graph.features
    np.testing.assert_allclose(
        by_matrix.toarray(), dense(propagate(graph.features, graph.adjacency)).numpy(), rtol=1e-5
    )


def test_an_isolated_node_keeps_its_features():
    graph = Graph(torch.rand(3, 4), undirected(np.array([0]), np.array([1]), 3), torch.zeros(3))
    assert propagate(graph.features, graph.adjacency, 3)[2].equal(graph.features[2])


@pytest.mark.parametrize("columns", [5, 90_001], ids=["narrow", "too wide for the cache"])
@pytest.mark.parametrize("as_dense", [False, True])
def test_a_product_and_its_gradient_are_those_of_dense_matrices(as_dense, columns):
    graph = random_graph()
    values = dense(graph.features) if as_dense else graph.features
    factor = torch.rand(12, columns, requires_grad=True)
    weights = torch.rand(40, columns)
    ((Matrix(values, CPU) @ factor) * weights).sum().backward()
    expected = factor.detach().clone().requires_grad_()
    ((dense(graph.features) @ expected) * weights).sum().backward()
    torch.testing.assert_close(factor.grad, expected.grad)
    torch.testing.assert_close(Matrix(values, CPU) @ factor.detach(), dense(graph.features) @ factor.detach())


def test_edges_are_made_undirected_once_and_without_self_loops():
    adjacency = undirected(np.array([0, 1, 0, 2, 3]), np.array([1, 0, 1, 2, 0]), 4)
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = expected[0, 3] = expected[3, 0] = 1
    np.testing.assert_array_equal(adjacency.toarray(), expected)


def test_a_part_holds_the_edges_between_its_nodes():
    graph = random_graph()
    nodes = torch.tensor([5, 3, 17, 2, 30])
    part = graph.part(nodes)
    np.testing.assert_array_equal(
        part.adjacency.toarray(), graph.adjacency.toarray()[np.ix_(nodes.numpy(), nodes.numpy())]
    )
    assert dense(part.features).equal(dense(graph.features)[nodes])
    assert part.labels.equal(graph.labels[nodes])


def test_stacking_stays_sparse_only_if_all_parts_are():
    graph = random_graph()
    one, two = rows(graph.features, torch.arange(3)), rows(graph.features, torch.arange(3, 8))
    assert issparse(stacked([one, two]))
    assert stacked([dense(one), two]).equal(dense(graph.features)[:8])

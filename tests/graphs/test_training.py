"""Training on graphs, against PyG's and torch's own loop."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from scipy.sparse import csr_array
from torch_geometric.nn.models import GCN

from lqm.graphs.graph import undirected
from lqm.graphs.networks import Inputs, make_network
from lqm.graphs.training import TrainingSet, accuracy, adam, predict, together, train
from lqm.utils.errors import DivergedError

CPU = torch.device("cpu")


def a_set(nodes=24, edges=40, features=6, sparse=True, seed=0):
    draws = np.random.default_rng(seed)
    labels = draws.integers(0, 3, nodes)
    values = draws.normal(size=(nodes, features)).astype(np.float32)
    values[np.arange(nodes), labels] += 3
    adjacency = undirected(*draws.integers(0, nodes, (2, edges)), nodes) if edges else None
    chosen = torch.arange(0, nodes, 2)
    inputs = Inputs(csr_array(values) if sparse else torch.from_numpy(values), adjacency, CPU)
    return TrainingSet(inputs, chosen, torch.from_numpy(labels)[chosen])


def fresh(spec="gcn:width=8", seed=0):
    torch.manual_seed(seed)
    return make_network(spec, 6, 3)


def state(network):
    return torch.cat([p.detach().flatten() for p in network.parameters()])


def test_training_is_pygs():
    data = a_set()
    ours, theirs = fresh(), GCN(6, 8, 2, 3)
    for number, conv in enumerate(theirs.convs):
        conv.lin.weight.data = ours.weights[number].data.T.clone()
        conv.bias.data = ours.biases[number].data.clone()
    loss = train(ours, adam(ours, 0.01, 5e-4), data, epochs=30)
    optimizer = torch.optim.Adam(theirs.parameters(), 0.01, weight_decay=5e-4)
    for _ in range(30):
        logits = theirs(data.inputs.dense, data.inputs.edge_index)
        expected = F.cross_entropy(logits[data.nodes], data.labels)
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
    assert loss == pytest.approx(expected.item(), rel=1e-3)
    torch.testing.assert_close(
        ours(data.inputs), theirs(data.inputs.dense, data.inputs.edge_index), rtol=1e-2, atol=1e-3
    )


@pytest.mark.parametrize("spec", ["sage:width=8", "gat:width=8:heads=2"])
def test_weights_for_edges_decay_even_where_there_are_none(spec):
    network, data = fresh(spec), a_set(edges=0)
    train(network, adam(network, 0.05, 5e-4), data, epochs=100)
    unused = network.neighbours if spec.startswith("sage") else [network.last.source, network.last.target]
    assert all(weights.abs().max() < 0.1 for weights in unused), "as in PyG, whose gradients are 0, not none"


def test_a_network_and_its_optimiser_go_on_across_calls():
    data, straight, twice = a_set(), fresh(), fresh()
    train(straight, adam(straight, 0.01, 5e-4), data, epochs=10)
    optimizer = adam(twice, 0.01, 5e-4)
    train(twice, optimizer, data, epochs=4)
    train(twice, optimizer, data, epochs=6)
    assert state(straight).equal(state(twice))


def test_logits_beyond_the_classes_seen_take_no_part():
    network, data = fresh(), a_set()
    seen = TrainingSet(data.inputs, data.nodes[data.labels < 2], data.labels[data.labels < 2])
    last = network.weights[-1][:, 2].detach().clone()
    loss = train(network, adam(network, 0.01, 0.0), seen, epochs=200, classes=2)
    assert loss < 0.1
    assert network.weights[-1][:, 2].equal(last)


def test_several_graphs_train_as_one_that_is_not_connected():
    parts = [a_set(seed=0), a_set(edges=0, sparse=False, seed=1), a_set(nodes=10, seed=2)]
    joined = together(parts)
    network = fresh()
    apart = torch.cat([network(part.inputs) for part in parts])
    torch.testing.assert_close(network(joined.inputs), apart)
    assert joined.labels.equal(torch.cat([part.labels for part in parts]))
    torch.testing.assert_close(
        network(joined.inputs)[joined.nodes], torch.cat([network(p.inputs)[p.nodes] for p in parts])
    )


def test_nodes_without_edges_stay_so_together():
    assert together([a_set(edges=0), a_set(edges=0, seed=1)]).inputs.adjacency is None


def test_classes_are_named_among_all_or_some():
    network, data = fresh(), a_set()
    train(network, adam(network, 0.01, 0.0), data, epochs=300)
    logits = network(data.inputs)[data.nodes]
    assert predict(network, data.inputs, data.nodes).equal(logits.argmax(dim=1))
    assert accuracy(network, data.inputs, data.nodes, data.labels) == 1.0
    among = torch.tensor([2, 0])
    found = predict(network, data.inputs, data.nodes, among=among)
    assert found.equal(among[logits[:, among].argmax(dim=1)])
    assert set(found.tolist()) <= {0, 2}
    share = (data.labels != 1).double().mean().item()
    assert accuracy(network, data.inputs, data.nodes, data.labels, among=among) == pytest.approx(share)


def test_a_loss_that_is_not_finite_is_refused():
    network, data = fresh(), a_set()
    with pytest.raises(DivergedError, match=r"GCN.*\bnan\b.*\b5 epochs.*rate"):
        train(network, adam(network, float("inf"), 0.0), data, epochs=5)

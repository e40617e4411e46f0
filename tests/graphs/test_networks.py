"""The networks against PyG's convolutions, with the same weights: outputs and gradients."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from scipy.sparse import csr_array, random_array
from torch_geometric import nn as pyg

from lqm.graphs.graph import dense, undirected
from lqm.graphs.networks import NETWORKS, Inputs, check_spec, describe, make_network
from lqm.utils.errors import ConfigError

CPU = torch.device("cpu")
FEATURES, CLASSES, NODES = 20, 3, 30


def a_graph(edges=40, density=0.2, seed=0):
    """Sparse features, and edges of all but the last five nodes."""
    draws = np.random.default_rng(seed)
    adjacency = undirected(*draws.integers(0, NODES - 5, (2, edges)), NODES)
    features = csr_array(random_array((NODES, FEATURES), density=density, rng=draws, dtype=np.float32))
    return features, adjacency


def _gcn(ours, x, edges):
    for number in range(len(ours.weights)):
        bias = {"bias": ours.biases[number]} if len(ours.biases) else {}
        conv = pyg.GCNConv(*ours.weights[number].shape, bias=bool(bias))
        x = _call(conv, x, edges, {"lin.weight": ours.weights[number].T, **bias})
        x = x.relu() if number < len(ours.weights) - 1 else x
    return x


def _mlp(ours, x, edges):
    for number, weight in enumerate(ours.weights):
        x = F.linear(x, weight.T, ours.biases[number] if len(ours.biases) else None)
        x = x.relu() if number < len(ours.weights) - 1 else x
    return x


def _sgc(ours, x, edges):
    bias = {} if ours.bias is None else {"lin.bias": ours.bias}
    conv = pyg.SGConv(FEATURES, CLASSES, K=ours.hops, bias=bool(bias))
    return _call(conv, x, edges, {"lin.weight": ours.weight.T, **bias})


def _sage(ours, x, edges):
    for number in range(len(ours.weights)):
        conv = pyg.SAGEConv(*ours.weights[number].shape)
        weights = {
            "lin_l.weight": ours.neighbours[number].T,
            "lin_l.bias": ours.biases[number],
            "lin_r.weight": ours.weights[number].T,
        }
        x = _call(conv, x, edges, weights)
        x = x.relu() if number < len(ours.weights) - 1 else x
    return x


def _appnp(ours, x, edges):
    return pyg.APPNP(K=ours.hops, alpha=0.1)(_mlp(ours, x, edges), edges)


def _gat(ours, x, edges):
    for layer in (*ours.layers, ours.last):
        heads, width = layer.source.shape
        conv = pyg.GATConv(layer.weight.shape[0], width, heads)
        weights = {
            "lin.weight": layer.weight.T,
            "att_src": layer.source[None],
            "att_dst": layer.target[None],
            "bias": layer.bias,
        }
        x = _call(conv, x, edges, weights)
        x = x if layer is ours.last else F.elu(x)
    return x


def _call(conv, x, edges, weights):
    """A convolution of PyG with our weights, so that gradients flow to them."""
    return torch.func.functional_call(conv, weights, (x, edges), strict=True)


ORACLES = {
    "gcn:width=8": _gcn,
    "gcn:width=8:depth=3": _gcn,
    "gcn:width=8:depth=3:bias=false": _gcn,
    "mlp:width=8": _mlp,
    "mlp:width=8:bias=false": _mlp,
    "sgc": _sgc,
    "sgc:hops=3": _sgc,
    "sgc:bias=false": _sgc,
    "sage:width=8": _sage,
    "sage:width=8:depth=3": _sage,
    "appnp:width=8": _appnp,
    "appnp:width=8:hops=3:bias=false": _appnp,
    "gat:width=8:heads=4": _gat,
    "gat:width=8:depth=3:heads=2": _gat,
}


@pytest.mark.parametrize("edges", [0, 40, 300])
@pytest.mark.parametrize("kind", ["sparse", "dense", "full"])
@pytest.mark.parametrize("spec", ORACLES)
def test_outputs_and_gradients_are_pygs(spec, kind, edges):
    features, adjacency = a_graph(edges, density=1.0 if kind == "full" else 0.05)
    inputs = Inputs(dense(features) if kind == "dense" else features, adjacency, CPU)
    ours = make_network(spec, FEATURES, CLASSES)
    for parameter in ours.parameters():
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    weights = torch.randn(NODES, CLASSES, generator=torch.Generator().manual_seed(0))
    expected = ORACLES[spec](ours, dense(features), inputs.edge_index)
    found = ours(inputs)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    for mine, theirs in zip(
        *(_gradients(ours, logits, weights) for logits in (found, expected)), strict=True
    ):
        torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-4)


def _gradients(network, logits, weights):
    return torch.autograd.grad((logits * weights).sum(), list(network.parameters()), materialize_grads=True)


@pytest.mark.parametrize("spec", NETWORKS)
def test_a_graph_without_edges_is_the_same_as_no_graph(spec):
    features, _ = a_graph()
    network = make_network(spec, FEATURES, CLASSES)
    without = network(Inputs(features, None, CPU))
    empty = csr_array((NODES, NODES), dtype=np.float32)
    assert without.equal(network(Inputs(features, empty, CPU)))
    assert without.equal(network(Inputs(*a_graph(), CPU).without_edges()))


@pytest.mark.parametrize("spec", NETWORKS)
def test_the_embedding_is_the_last_hidden_layer(spec):
    features, adjacency = a_graph()
    network = make_network(spec, FEATURES, CLASSES)
    embedded = network.embed(Inputs(features, adjacency, CPU))
    width = {"sgc": FEATURES, "gat": 64}.get(spec, 256)
    assert embedded.shape == (NODES, width)
    seen = Inputs(features, adjacency, CPU)
    if spec == "gcn":
        expected = seen.propagate(embedded @ network.weights[-1]) + network.biases[-1]
    elif spec == "sgc":
        expected = embedded @ network.weight + network.bias
    else:
        return
    torch.testing.assert_close(network(seen), expected)


def test_the_edges_have_a_self_loop_a_node_and_their_reverse_at_hand():
    inputs = Inputs(*a_graph(), CPU)
    sources, targets, *_ = inputs.attention
    assert len(sources) == inputs.edge_index.shape[1] + NODES
    assert (targets.diff() >= 0).all()
    reverse = inputs.attention.reverse
    assert sources[reverse].equal(targets)
    assert targets[reverse].equal(sources)
    alone = Inputs(a_graph()[0], None, CPU).attention
    assert alone.sources.equal(torch.arange(NODES))
    assert alone.targets.equal(torch.arange(NODES))


@pytest.mark.parametrize("density", [0.02, 1.0])
def test_the_order_of_multiplication_is_free(density, monkeypatch):
    features, adjacency = a_graph(density=density)
    weight = torch.randn(FEATURES, 4)
    found = []
    for speed in (1e-9, 1e9):
        monkeypatch.setattr("lqm.graphs.networks.inputs._DENSE_SPEED", speed)
        inputs = Inputs(features, adjacency, CPU)
        found.append((inputs.convolve(weight, hops=2), inputs.convolve_mean(weight)))
    torch.testing.assert_close(found[0], found[1])


def test_weights_are_glorots_and_biases_0():
    from torch_geometric.nn.inits import glorot

    network = make_network("gcn:width=500", 400, CLASSES)
    theirs = torch.empty(500, 400)
    glorot(theirs)
    assert network.weights[0].abs().max().item() == pytest.approx(theirs.abs().max().item(), rel=1e-2)
    assert network.weights[0].std().item() == pytest.approx(theirs.std().item(), rel=1e-2)
    assert not network.biases[0].any()


def test_specs_are_read_and_said():
    assert check_spec("gat:heads=4:width=32") == "gat:width=32:heads=4"
    assert describe("gcn") == "GCN-2 of width 256"
    assert describe("sgc:hops=3") == "SGC of 3 hops"


@pytest.mark.parametrize(("word", "biases"), [("false", 0), ("No", 0), ("0", 0), ("true", 2), ("1", 2)])
def test_an_option_may_be_true_or_false(word, biases):
    canonical = "false" if not biases else "true"
    assert check_spec(f"gcn:bias={word}:width=8") == f"gcn:width=8:bias={canonical}"
    assert check_spec(f"gcn:bias={canonical}") == f"gcn:bias={canonical}"
    assert ("no bias" in describe(f"gcn:bias={word}")) == (not biases)
    network = make_network(f"gcn:bias={word}", FEATURES, CLASSES)
    assert sum(part.ndim == 1 for part in network.parameters()) == biases
    with pytest.raises(ConfigError, match=r"bias of gcn is 'perhaps'.*true or false"):
        check_spec("gcn:bias=perhaps")
    with pytest.raises(ConfigError, match="no network 'gnc'; did you mean"):
        make_network("gnc", FEATURES, CLASSES)
    with pytest.raises(ConfigError, match="depth of mlp is 1, which leaves no hidden layer"):
        make_network("mlp:depth=1", FEATURES, CLASSES)
    with pytest.raises(ConfigError, match="width of gat is 10; it should be a multiple of its heads, 8"):
        make_network("gat:width=10", FEATURES, CLASSES)


def test_a_network_of_pyg_is_called_as_it_is_and_its_last_layer_is_heard():
    features, adjacency = a_graph()
    inputs = Inputs(features, adjacency, CPU)
    network = make_network(lambda f, c: pyg.models.GCN(f, 16, 2, c), FEATURES, CLASSES)
    assert network(inputs).equal(network.module(dense(features), inputs.edge_index))
    assert network.embed(inputs).shape == (NODES, 16)
    ours = make_network("gcn:width=16", FEATURES, CLASSES)
    for own, conv in zip(range(2), network.module.convs, strict=True):
        ours.weights[own].data, ours.biases[own].data = conv.lin.weight.data.T, conv.bias.data
    torch.testing.assert_close(network(inputs), ours(inputs))
    torch.testing.assert_close(network.embed(inputs), ours.embed(inputs))


def test_the_last_layer_is_found_below_a_wrapper_and_need_not_be_there():
    class Outer(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x, edge_index):
            return self.inner(x, edge_index).log_softmax(dim=1)

    inputs = Inputs(*a_graph(), CPU)
    wrapped = make_network(lambda f, c: Outer(pyg.models.GraphSAGE(f, 16, 2, c)), FEATURES, CLASSES)
    assert wrapped.embed(inputs).shape == (NODES, 16)

    class Alone(torch.nn.Module):
        def __init__(self, features, classes):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.rand(features, classes))

        def forward(self, x, edge_index):
            return x @ self.weight

    alone = make_network(Alone, FEATURES, CLASSES)
    assert alone.embed(inputs).equal(alone(inputs))


def test_networks_of_the_users_own_that_cant_judge_are_refused():
    def fails(features, classes):
        raise ValueError("no such luck.")

    with pytest.raises(ConfigError, match=r"fails can't be made for 20 features .*\(no such luck\)"):
        make_network(fails, FEATURES, CLASSES)
    with pytest.raises(ConfigError, match="is a module; give a function"):
        make_network(pyg.models.GCN(4, 4, 2, 4), FEATURES, CLASSES)
    with pytest.raises(ConfigError, match="has no weights to learn"):
        make_network(lambda f, c: pyg.APPNP(K=2, alpha=0.1), FEATURES, CLASSES)
    with pytest.raises(ConfigError, match="is made as a int"):
        make_network(lambda f, c: 3, FEATURES, CLASSES)
    with pytest.raises(ConfigError, match=r"gives \[2, 16\] for 2 nodes of 3 classes"):
        make_network(lambda f, c: pyg.models.GCN(f, 16, 2), FEATURES, CLASSES)
    with pytest.raises(ConfigError, match="fails on 2 nodes of 20 features"):
        make_network(lambda f, c: pyg.models.GCN(7, 16, 2, c), FEATURES, CLASSES)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("spec", [*ORACLES, "sgc:hops=1", "appnp:width=8:hops=2"])
def test_a_part_of_the_graph_gives_the_same_outputs_and_gradients(spec, kind, monkeypatch):
    monkeypatch.setattr("lqm.graphs.networks.inputs._SMALL_PART", 1.0)
    features, adjacency = a_graph(edges=25)
    whole = Inputs(dense(features) if kind == "dense" else features, adjacency, CPU)
    network = make_network(spec, FEATURES, CLASSES)
    nodes = torch.tensor([7, 2, 28, 2])
    part, places = whole.around(nodes, network.reach)
    assert part.nodes < whole.nodes
    weights = torch.randn(len(nodes), CLASSES, generator=torch.Generator().manual_seed(0))
    expected, found = network(whole)[nodes], network(part)[places]
    torch.testing.assert_close(found, expected)
    for mine, theirs in zip(*(_gradients(network, x, weights) for x in (found, expected)), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_a_large_part_is_not_worth_cutting():
    inputs = Inputs(*a_graph(), CPU)
    nodes = torch.arange(20)
    assert inputs.around(nodes, 0)[0] is inputs
    part, places = inputs.without_edges().around(torch.tensor([4, 1]), 5)
    assert part.nodes == 2
    assert places.tolist() == [1, 0]
    assert inputs.around(torch.tensor([29]), 0)[0].adjacency is not None, "a part of a graph with edges"

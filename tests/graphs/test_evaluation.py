"""What condensed nodes are worth: scores, baselines, and `lqm.evaluate` on graphs."""

import re
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from scipy.stats import cramervonmises_2samp
from torch_geometric.nn.models import GCN

import lqm
from lqm.condensed import CondensedImages, CondensedNodes
from lqm.evaluation.latents import LatentMatch
from lqm.graphs import evaluation
from lqm.graphs.baselines import baseline
from lqm.graphs.evaluation import PROTOCOLS, GraphProtocol, fresh_network, latent_match, score, training_set
from lqm.graphs.graph import Graph, dense, undirected
from lqm.graphs.networks import NETWORKS, Inputs
from lqm.graphs.propagation import normalised_adjacency
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.training import accuracy
from lqm.report.comparison import comparison_tables
from lqm.utils.errors import ConfigError, DataError

CPU = torch.device("cpu")
PROTOCOL = GraphProtocol(
    "tiny", epochs=40, networks=2, network="gcn:width=8", full_networks=1, learning_rate=0.05
)
PER_CLASS, CLASSES, FEATURES = 60, 3, 12


def a_source(seed=0, origin=None):
    """Three communities whose features say a little of their class."""
    draws = np.random.default_rng(seed)
    nodes = PER_CLASS * CLASSES
    labels = np.arange(nodes) % CLASSES
    values = draws.normal(size=(nodes, FEATURES)).astype(np.float32)
    values[np.arange(nodes), labels] += 1.5
    ends = draws.integers(0, nodes, (2, 12 * nodes))
    near = (labels[ends[0]] == labels[ends[1]]) | (draws.random(ends.shape[1]) < 0.1)
    graph = Graph(
        csr_array(values), undirected(*ends[:, near], nodes), torch.from_numpy(labels.astype(np.int64))
    )
    order = torch.from_numpy(draws.permutation(nodes))
    parts = (order[:100], order[100:120], order[120:])
    return GraphSource("blobs", graph, ("a", "b", "c"), *parts, origin=origin)


def a_set(source, counts=(3, 2, 1), edges=None):
    """A condensed set as a run leaves it: here, means of random training nodes."""
    draws = torch.Generator().manual_seed(0)
    features = []
    for label, count in enumerate(counts):
        own = dense(source.graph.features)[source.by_class[label]]
        features += [own[torch.randperm(len(own), generator=draws)[:8]].mean(dim=0) for _ in range(count)]
    labels = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    manifest = {
        "source": source.record,
        "method": "cat",
        "distance": {"name": "lqm"},
        "budget": sum(counts),
        "counts": list(counts),
        "seed": 0,
        "settings": {},
        "recipe": "",
        "steps": 5,
        "origin": source.origin,
        "evaluation": asdict(PROTOCOL),
        "environment": {},
        "seconds": 1.0,
    }
    condensed = CondensedNodes(torch.stack(features), labels, source.class_names, manifest)
    return condensed if edges is None else replace(condensed, edges=edges)


@pytest.fixture(scope="module")
def source():
    return a_source()


@pytest.fixture
def trained(monkeypatch):
    """How many labelled nodes each trained network has learned from."""
    count = []
    original = evaluation.train

    def spy(network, optimizer, data, **options):
        count.append(len(data.nodes))
        return original(network, optimizer, data, **options)

    monkeypatch.setattr(evaluation, "train", spy)
    return count


def judge(condensed, source=None, **options):
    usual = {"baselines": (), "device": "cpu", "show_progress": False}
    return lqm.evaluate(condensed, source=source, **usual | options)


def test_the_whole_graph_is_learned_and_has_its_own_distribution(source):
    chosen = baseline("full", source, (), 0)
    found = score(chosen, source, replace(PROTOCOL, epochs=150), seed=0, device=CPU, full=True)
    assert found.accuracy > 0.9
    assert found.records == 100
    assert len(found.accuracies) == 1
    assert found.before == found.after == LatentMatch(0.0, 0.0, (0.0,))


def test_no_label_but_those_of_the_training_nodes_is_given_away(source):
    labels = baseline("full", source, (), 0)(0).labels
    assert labels[source.train].equal(source.graph.labels[source.train])
    assert (labels[torch.cat([source.validation, source.test])] == -1).all()


@pytest.mark.parametrize("name", ["random", "herding", "k-centre"])
def test_baselines_are_training_nodes_without_edges_as_many_a_class(source, name):
    chosen = baseline(name, source, (4, 0, 2), seed=0)
    nodes = chosen(0)
    assert nodes.labels.tolist() == [0, 0, 0, 0, 2, 2]
    assert nodes.edges == 0
    raw = baseline(f"{name}-raw", source, (4, 0, 2), seed=0)(0)
    hat = torch.from_numpy(normalised_adjacency(source.graph.adjacency).toarray())
    everyone = dense(source.graph.features)
    for row, own, label in zip(nodes.features, raw.features, nodes.labels, strict=True):
        members = source.by_class[int(label)]
        (place,) = (everyone[members] == own).all(dim=1).nonzero()[:, 0].tolist()
        torch.testing.assert_close(row, (hat @ everyone)[members[place]])
    assert chosen(1).features.equal(nodes.features) == (name != "random")


def test_scores_repeat_for_a_seed_and_no_network_is_trained_twice(source, trained):
    chosen = baseline("random", source, (2, 2, 2), seed=0)
    first = score(chosen, source, PROTOCOL, seed=0, device=CPU)
    assert score(chosen, source, PROTOCOL, seed=0, device=CPU) == first
    assert trained == [6, 6]
    score(chosen, source, replace(PROTOCOL, networks=3), seed=0, device=CPU)
    assert trained == [6, 6, 6]
    score(chosen, a_source(seed=1), PROTOCOL, seed=0, device=CPU)
    assert len(trained) == 5, "other data, other answers"


def test_an_evaluation_that_was_stopped_goes_on_after_the_last_network(source, trained):
    def stop(count, metrics, cached):
        raise KeyboardInterrupt

    chosen = baseline("herding", source, (2, 2, 2), seed=0)
    with pytest.raises(KeyboardInterrupt):
        score(chosen, source, PROTOCOL, seed=0, device=CPU, after_each=stop)
    score(chosen, source, PROTOCOL, seed=0, device=CPU)
    assert len(trained) == 2


def test_networks_are_tested_on_the_test_nodes_of_the_whole_graph(source, monkeypatch):
    nodes = baseline("herding", source, (5, 5, 5), seed=0)
    monkeypatch.setattr(evaluation, "train", lambda *args, **options: None)
    found = score(nodes, source, PROTOCOL, seed=3, device=CPU)
    whole = Inputs(source.graph.features, source.graph.adjacency, CPU)
    expected = [
        accuracy(
            fresh_network(source, PROTOCOL.network, 3, j),
            whole,
            source.test,
            source.graph.labels[source.test],
        )
        for j in range(2)
    ]
    assert list(found.accuracies) == expected


def test_the_match_is_the_average_over_classes_and_features(source):
    condensed = a_set(source, counts=(4, 0, 3))
    real = Inputs(source.graph.features, source.graph.adjacency, CPU)
    nodes = Graph(condensed.features, csr_array((7, 7), dtype=np.float32), condensed.labels)
    data = training_set(nodes, real, source)
    network = fresh_network(source, "sgc:hops=1", 0, 0)
    found = latent_match(network, data, real, source)
    around, own = network.embed(real).numpy(), network.embed(data.inputs).numpy()
    statistics, extremes = [], []
    for label in (0, 2):
        theirs, mine = around[source.by_class[label].numpy()], own[condensed.labels.numpy() == label]
        for f in range(FEATURES):
            statistics.append(cramervonmises_2samp(theirs[:, f], mine[:, f]).statistic)
            outside = (mine[:, f] < theirs[:, f].min()) | (mine[:, f] > theirs[:, f].max())
            extremes.append(outside.mean())
    assert found.cramer_von_mises == pytest.approx(np.mean(statistics))
    assert found.extremes == pytest.approx(np.mean(extremes))


def test_condensed_nodes_are_judged_beside_baselines(source):
    found = judge(a_set(source), source, baselines="random,herding,full")
    assert list(found.rows) == ["condensed", "random", "herding", "full"]
    assert found.accuracy > 0.6
    assert [found.rows[name].records for name in found.rows] == [6, 6, 6, 100]
    assert "| condensed | 6 |" in str(found)
    (noted,) = found.condensed.manifest["scores"]
    assert noted["protocol"] == asdict(PROTOCOL)
    assert noted["records"] == 6


def test_a_saved_set_notes_its_score_and_is_compared(source, tmp_path):
    a_set(source).save(tmp_path / "small")
    found = judge(tmp_path / "small", source)
    assert lqm.load(tmp_path / "small").manifest["scores"][0]["accuracy"] == found.accuracy
    (table,) = comparison_tables([lqm.load(tmp_path / "small")])
    assert re.search("blobs.*tiny.*40 epochs.*gcn:width=8", str(table.title))


def test_all_networks_of_the_zoo_can_judge(source):
    found = judge(a_set(source), source, networks=list(NETWORKS))
    assert list(found.by_network) == list(NETWORKS)
    assert all(0.3 < scores["condensed"].accuracy <= 1 for scores in found.by_network.values())


def test_any_network_of_pyg_judges_by_its_name(source):
    found = judge(
        a_set(source), source, networks={"theirs": lambda f, c: GCN(f, 16, 2, c)}, baselines=("full",)
    )
    assert list(found.by_network) == ["own:theirs"]
    assert found.rows["full"].accuracy > 0.8
    assert re.search("2 .*theirs.*40 epochs", str(found))


def test_the_edges_of_a_set_are_used_and_its_nodes_without_a_label_not_learned(source, trained):
    edges = torch.tensor([[0, 1, 5, 0], [1, 0, 0, 5]])
    condensed = a_set(source, edges=edges)
    condensed = replace(condensed, labels=torch.cat([condensed.labels[:5], torch.tensor([-1])]))
    with_edges = judge(condensed, source, baselines=("random",))
    assert with_edges.score.records == with_edges.rows["random"].records == 5
    assert trained[0] == 5
    without = judge(replace(condensed, edges=edges[:, :0]), source)
    assert without.score.before != with_edges.score.before


def test_k_centre_is_for_graphs_only_and_mistakes_are_one_sentence(source):
    condensed = a_set(source)
    assert "k-centre" in judge(condensed, source, baselines=("k-centre",)).rows
    with pytest.raises(ConfigError, match=r"'k-center'.*'k-centre'"):
        judge(condensed, source, baselines=("k-center",))
    with pytest.raises(ConfigError, match="'convnet'"):
        judge(condensed, source, networks="convnet")
    with pytest.raises(ConfigError, match=r"'field-1000'.*cat-500, graph-quick"):
        judge(condensed, source, protocol="field-1000")
    images = CondensedImages(condensed.features, condensed.labels, condensed.class_names, condensed.manifest)
    with pytest.raises(ConfigError, match="'k-centre'"):
        judge(images, source, baselines=("k-centre",))


def test_the_memory_of_a_task_is_refused(source):
    memory = a_set(source)
    with pytest.raises(ConfigError, match=r"task 0\b.*stream"):
        judge(replace(memory, manifest={"task": 0}), source)


def test_another_graph_is_refused(source):
    with pytest.raises(DataError, match=r"'blobs'.*in Python"):
        judge(a_set(source))
    with pytest.raises(DataError, match=r"'blobs'.*nodes, features, edges, labels, class names"):
        judge(a_set(source), a_source(seed=1))


def test_a_graph_is_found_again_by_its_words(source, tmp_path):
    graph, place = source.graph, tmp_path / "old" / "mine.npz"
    place.parent.mkdir()
    masks = {"train_mask": np.arange(180) < 90, "test_mask": np.arange(180) >= 90}
    edges = np.stack(graph.adjacency.nonzero())
    np.savez(place, edge_index=edges, x=dense(graph.features), y=graph.labels, **masks)
    condensed = a_set(lqm.load_graph("mine", data_dir=place.parent, split="random"))
    accuracy = judge(condensed).accuracy
    place.parent.rename(tmp_path / "new")
    with pytest.raises(DataError, match=r"\bmine\b.*--source.*--data-dir"):
        judge(condensed)
    assert judge(condensed, data_dir=tmp_path / "new").accuracy == accuracy
    moved = lqm.load_graph(tmp_path / "new" / "mine.npz", split="random")
    assert judge(condensed, moved).accuracy == accuracy
    with pytest.raises(DataError, match="'mine'"):
        judge(condensed, lqm.load_graph(tmp_path / "new" / "mine.npz"))


def test_a_protocol_names_its_network_and_epochs():
    assert re.search(r"graph-quick.*\b3\b.*GCN-2 of width 256.*200 epochs", str(PROTOCOLS["graph-quick"]))

"""PUMA's classifier and pseudo-labels, against PyG's layers and a plain loop."""

import json
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch_geometric.nn import GCNConv

from lqm.graphs.continual.learning import Learner, accuracy_row, of_memory, whole_graphs
from lqm.graphs.continual.pseudo_labels import find_pseudo_labelled
from lqm.graphs.continual.settings import CondensedReplaySettings, PUMAReplaySettings, RealMemorySettings
from lqm.graphs.continual.storing import store_random
from lqm.graphs.stream import make_stream
from lqm.graphs.training import together
from tests.graphs.continual.making import CPU, TINY, run, same, small_graph

OLD_CLASSIFIER = "gcn:width=512:depth=3"


def memories_of(stream, counts=(2, 3)):
    return [store_random(stream, task, list(counts), 0, RealMemorySettings()) for task in stream.tasks]


def pyg_layers(learner):
    """GCNConv with biases, and the weights of a learner's network."""
    layers = [GCNConv(*weight.shape) for weight in learner.network.weights]
    for layer, weight in zip(layers, learner.network.weights, strict=True):
        layer.lin.weight.data = weight.detach().T.clone()
    return layers


def through(layers, x):
    for layer in layers[:-1]:
        x = layer(x).relu()
    return layers[-1](x)


def test_pumas_classifier_is_pygs_whose_linear_maps_alone_are_trained():
    stream = make_stream(small_graph())
    settings = PUMAReplaySettings(epochs=25)
    learner = Learner(stream, settings, 3, CPU, "classifier")
    assert all(part.ndim == 2 for part in learner.network.parameters())
    layers = pyg_layers(learner)
    optimizer = torch.optim.Adam(
        [part for layer in layers for part in layer.parameters()],
        settings.classifier_rate,
        weight_decay=settings.classifier_decay,
    )
    first, memory = stream.tasks[0], memories_of(stream)[0]
    learner.learn(first, of_memory(memory, CPU))
    for _ in range(settings.epochs):
        logits = through([layer.lin for layer in layers], memory.features)[:, : first.outputs.stop]
        optimizer.zero_grad()
        F.cross_entropy(logits, memory.labels).backward()
        optimizer.step()
    graphs = whole_graphs(stream, CPU)
    with torch.no_grad():
        edges = graphs[0].edge_index
        expected = through([lambda x, layer=layer: layer(x, edges) for layer in layers], first.graph.features)
        torch.testing.assert_close(learner.network(graphs[0]), expected, rtol=1e-3, atol=1e-4)
    right = expected[first.test, : first.outputs.stop].argmax(1) == first.graph.labels[first.test]
    row = accuracy_row(learner.network, stream, graphs, 0, among_task=False)
    assert row == [pytest.approx(right.double().mean().item())]


@pytest.mark.parametrize("among", ["seen", "task"])
@pytest.mark.parametrize("threshold", [0.0, 0.8])
def test_pseudo_labels_are_those_of_a_loop_over_nodes(among, threshold):
    stream = make_stream(small_graph(edges=60))
    settings = CondensedReplaySettings(
        classifier="gcn:width=8",
        epochs=12,
        classifier_rate=0.02,
        pseudo_labels="test",
        pseudo_threshold=threshold,
        pseudo_among=among,
    )
    kept = memories_of(stream, (1, 1))
    found, _ = find_pseudo_labelled(stream, kept, settings, 7, CPU, None, show_progress=False)
    learner = Learner(stream, replace(settings, retrain=True), 7, CPU, "pseudo-labels")
    elsewhere = unsure = 0
    for task, graph, by_class in zip(stream.tasks, whole_graphs(stream, CPU), found, strict=True):
        learner.learn(task, together([of_memory(memory, CPU) for memory in kept[: task.number + 1]]))
        with torch.no_grad():
            logits = learner.network(graph)
        expected = {output: [] for output in task.outputs}
        for node in task.test.tolist():
            candidates = range(task.outputs.stop) if among == "seen" else task.outputs
            powers = {output: float(logits[node, output].double().exp()) for output in candidates}
            best = max(powers, key=powers.get)
            if best not in task.outputs:
                elsewhere += 1
            elif powers[best] / sum(powers.values()) < threshold:
                unsure += 1
            else:
                expected[best].append(node)
        assert [nodes.tolist() for nodes in by_class] == list(expected.values())
    assert bool(elsewhere) == (among == "seen")
    assert bool(unsure) == (threshold > 0)


def as_of_earlier_version(folder):
    """Take out of the files of a run the setting that it would not have had."""
    for path in [*folder.rglob("run.json"), *folder.rglob("manifest.json")]:
        record = json.loads(path.read_text())
        del record.get("config", record)["settings"]["pseudo_among"]
        path.write_text(json.dumps(record))


@pytest.mark.parametrize("pseudo_labels", ["none", "validation"])
def test_a_run_of_an_earlier_version_goes_on_with_its_classifier_and_pseudo_labels(tmp_path, pseudo_labels):
    given = {name: value for name, value in TINY.items() if name != "classifier"} | {
        "updates": 1,
        "pseudo_labels": pseudo_labels,
    }
    old = given | {"classifier": OLD_CLASSIFIER, "pseudo_among": "task"}
    run(method="puma", settings=old, out=tmp_path)
    as_of_earlier_version(tmp_path)
    went_on = run(method="puma", settings=given, out=tmp_path, repeats=2)
    assert went_on.config["settings"]["classifier"] == OLD_CLASSIFIER
    same(went_on, run(method="puma", settings=old, repeats=2))


def test_a_new_run_has_the_classifier_without_biases(tmp_path):
    given = {name: value for name, value in TINY.items() if name != "classifier"}
    found = run(method="puma", settings=given, out=tmp_path)
    assert found.config["settings"]["classifier"].endswith("bias=false")
    same(run(method="puma", settings=given, out=tmp_path), found)

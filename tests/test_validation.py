"""Settings are chosen by validation records: no test record has a part in such a run."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import lqm
from lqm.evaluation.origins import source_of
from lqm.graphs.evaluation import NODES
from lqm.graphs.graph import Graph
from lqm.graphs.stream import make_stream
from lqm.images.sources.labelled import Images
from lqm.images.sources.source import ImageSource
from lqm.utils.errors import ConfigError, DataError
from tests.graphs.continual.making import LEARNING, TINY, run, same, small_graph
from tests.graphs.test_evaluation import a_source

QUIET = {"device": "cpu", "show_progress": False}
DM = {"per_class": 2, "method": "dm", "compile": "off", **QUIET}
DM_SETTINGS = {"steps": 2, "network": "convnet:width=4:depth=1", "real_batch": 8}
CAT = {"budget": 6, "settings": {"steps": 3, "width": 8}, **QUIET}


def images_of(counts, seed=0):
    draws = torch.Generator().manual_seed(seed)
    labels = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    return Images(torch.rand(len(labels), 1, 8, 8, generator=draws), labels)


def with_test(source, seed):
    """The same source with other test images and random labels."""
    draws = torch.Generator().manual_seed(seed)
    images = torch.rand(source.test.images.shape, generator=draws)
    labels = torch.randint(len(source.class_names), source.test.labels.shape, generator=draws)
    return replace(source, test=Images(images, labels))


def with_test_labels(source, seed, nodes):
    """The same graph with other labels of some nodes."""
    labels = source.graph.labels.clone()
    draws = torch.Generator().manual_seed(seed)
    labels[nodes] = torch.randint(len(source.class_names), (len(nodes),), generator=draws)
    return replace(source, graph=Graph(source.graph.features, source.graph.adjacency, labels))


@pytest.mark.parametrize("counts", [(10, 20, 5), (2, 3, 47)])
def test_a_fifth_of_each_class_is_held_out_and_the_rest_is_trained_on(counts):
    whole = ImageSource("mine", images_of(counts), images_of((3, 3, 3), 1), ("a", "b", "c"))
    source = whole.for_validation()
    held_out = source.test.labels.bincount().tolist()
    assert held_out == [max(1, round(count / 5)) for count in counts]
    rows = {tuple(image.flatten().tolist()) for image in whole.train.images}
    parts = [
        {tuple(image.flatten().tolist()) for image in part.images} for part in (source.train, source.test)
    ]
    assert parts[0] | parts[1] == rows
    assert not parts[0] & parts[1]
    assert source.for_validation() is source
    assert whole.for_validation().fingerprint == source.fingerprint


def test_a_class_of_one_image_stays_in_training_and_is_noted():
    source = ImageSource("mine", images_of((1, 8)), images_of((1, 1), 1), ("a", "b")).for_validation()
    assert source.train.labels.bincount().tolist() == [1, 6]
    assert source.notes == ("1 class has one image and none for validation",)
    with pytest.raises(DataError, match="every class of 'mine' has one training image"):
        ImageSource("mine", images_of((1, 1)), images_of((1, 1), 1), ("a", "b")).for_validation()


def test_garbage_in_place_of_the_test_images_changes_no_bit(digits, tmp_path, monkeypatch):
    found = []
    for seed in (1, 2):
        monkeypatch.setenv("LQM_CACHE", str(tmp_path / f"cache-{seed}"))
        source = with_test(digits, seed)
        made = lqm.condense(source, validation=True, settings=DM_SETTINGS, **DM)
        score = lqm.evaluate(
            made, source=source, protocol="quick-200", networks="mlp", baselines="random", **QUIET
        )
        found.append((made, score))
    (one, before), (two, after) = found
    assert one.images.equal(two.images)
    assert one.manifest["source"] == two.manifest["source"]
    assert {name: row.accuracies for name, row in before.rows.items()} == {
        name: row.accuracies for name, row in after.rows.items()
    }


def test_a_set_is_scored_on_the_split_that_its_manifest_names(tmp_path):
    pixels = images_of((30, 30, 30)).images.numpy()
    labels = np.arange(3).repeat(30)
    pixels[np.arange(90), 0, labels, :] = 1.0
    path = tmp_path / "mine.npz"
    np.savez(path, train_x=pixels, train_y=labels, test_x=pixels[::-1] * 0.5, test_y=np.zeros(90, int))
    made = lqm.condense(str(path), validation=True, out=tmp_path / "run", settings=DM_SETTINGS, **DM)
    assert made.manifest["source"]["name"] == "mine (validation)"
    found = lqm.evaluate(tmp_path / "run", protocol="quick-200", networks="mlp", baselines=(), **QUIET)
    assert len(lqm.load_source(path, validation=True).test.labels) == 18
    # Every test image says "class 0": a score of a third would be theirs.
    assert found.accuracy > 0.5


def test_neither_a_run_nor_a_sketch_goes_on_with_the_other_records(tmp_path):
    sketch = {"encoders": 1, "max_per_class": 2, "real_batch": 8, "compile": "off", **QUIET}
    lqm.sketch("digits", out=tmp_path / "sketch", network="convnet:width=4:depth=1", **sketch)
    with pytest.raises(DataError, match=r"made of 'digits', and this 'digits \(validation\)'"):
        lqm.condense("digits", validation=True, sketch=tmp_path / "sketch", **DM)
    lqm.condense("digits", out=tmp_path / "run", settings=DM_SETTINGS, **DM)
    with pytest.raises(lqm.LqmError, match="source"):
        lqm.condense("digits", out=tmp_path / "run", validation=True, settings=DM_SETTINGS, **DM)


def test_a_graph_is_scored_on_its_validation_nodes_without_a_label_of_a_test_node():
    source = a_source()
    chosen = source.for_validation()
    assert chosen.train.equal(source.train)
    assert chosen.test.equal(source.validation)
    assert not len(chosen.validation)
    assert (chosen.graph.labels[source.test] == -1).all()
    assert chosen.fingerprint != source.fingerprint
    assert chosen.for_validation() is chosen
    none = replace(source, validation=source.validation[:0])
    with pytest.raises(DataError, match="'blobs' has no validation nodes"):
        lqm.condense(none, validation=True, **CAT)


def test_other_labels_of_the_test_nodes_change_no_bit(tmp_path, monkeypatch):
    found = []
    for seed in (1, 2):
        monkeypatch.setenv("LQM_CACHE", str(tmp_path / f"cache-{seed}"))
        source = a_source()
        source = with_test_labels(source, seed, source.test)
        made = lqm.condense(source, validation=True, **CAT)
        score = lqm.evaluate(
            made, source=source, baselines=("random", "full"), networks="gcn:width=8", **QUIET
        )
        found.append(
            (made.features, made.manifest["source"], [row.accuracies for row in score.rows.values()])
        )
    (features, *one), (others, *two) = found
    assert features.equal(others)
    assert one == two


def test_the_validation_nodes_of_a_graph_are_found_again_by_its_origin(tmp_path):
    spec = "synthetic:nodes=200,classes=3,features=8"
    made = lqm.condense(spec, validation=True, out=tmp_path / "run", **CAT)
    whole = lqm.load_graph(spec)
    again = source_of(NODES, made.manifest, None, None)
    assert again.test.equal(whole.validation)
    by_object = source_of(NODES, made.manifest, whole, None)
    assert by_object.fingerprint == again.fingerprint == made.manifest["source"]["fingerprint"]


@pytest.mark.parametrize("inter_task_edges", [False, True])
def test_a_stream_is_scored_on_the_validation_nodes_of_its_tasks(inter_task_edges):
    source = small_graph()
    pair = (make_stream(source, inter_task_edges=inter_task_edges, validation=v) for v in (False, True))
    for plain, chosen in zip(*(stream.tasks for stream in pair), strict=True):
        assert chosen.train.equal(plain.train)
        assert chosen.test.equal(plain.validation)
        assert chosen.nodes == plain.nodes
        assert (chosen.graph.labels[plain.test] == -1).all()
        assert chosen.graph.labels[plain.validation].equal(plain.graph.labels[plain.validation])


def with_swapped_tests(source):
    """The same graph, where every test node of a task of two classes has the label of the other class."""
    labels = source.graph.labels.clone()
    for task in make_stream(source).tasks:
        own = torch.isin(source.graph.labels, torch.tensor(task.classes)).nonzero()[:, 0]
        labels[own[task.test]] = sum(task.classes) - labels[own[task.test]]
    return replace(source, graph=replace(source.graph, labels=labels))


@pytest.mark.parametrize("options", [{}, {"pseudo_labels": "test"}, {"method": "joint"}])
def test_other_labels_of_the_test_nodes_of_a_stream_change_no_bit(options):
    keep = {"method": "joint", "budget": None, "settings": LEARNING} if "method" in options else {}
    given = {"settings": TINY | options, **keep}
    sources = small_graph(), with_swapped_tests(small_graph())
    same(*(run(source, validation=True, **given) for source in sources))
    one, two = (run(source, **given).matrices.nan_to_num(-1) for source in sources)
    assert not one.equal(two)


def test_a_stream_records_that_it_was_scored_on_validation_nodes(tmp_path):
    found = run(validation=True, out=tmp_path / "run")
    assert found.config["stream"]["validation"] is True
    assert "scored on validation nodes" in found.title
    assert "validation" not in run().config["stream"]
    with pytest.raises(lqm.LqmError, match="stream"):
        run(out=tmp_path / "run")
    with pytest.raises(ConfigError, match="pseudo_labels = validation"):
        run(validation=True, settings=TINY | {"pseudo_labels": "validation"})

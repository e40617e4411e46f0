"""What is done to a graph while it is read, and what is refused."""

import numpy as np
import pytest
import torch

from lqm.graphs.graph import undirected
from lqm.graphs.sources import load_graph
from lqm.graphs.sources.edges import clean_edges
from lqm.utils.errors import ConfigError, DataError

NODES = np.arange(20)
RING = np.stack([NODES, (NODES + 1) % 20])
BOTH = np.concatenate([RING, RING[::-1]], axis=1)


def assert_noted(source, beginnings):
    """There is a note for each beginning, in this order."""
    assert len(source.notes) == len(beginnings)
    for note, beginning in zip(source.notes, beginnings, strict=True):
        assert note.startswith(beginning)


def test_a_clean_graph_comes_without_a_note(write):
    source = load_graph(write())
    assert source.notes == ()
    assert (source.name, source.graph.nodes, source.graph.edges, source.graph.width) == ("ring", 20, 20, 3)
    assert source.class_names == ("0", "1")
    expected = np.zeros((20, 20))
    expected[BOTH[0], BOTH[1]] = 1
    np.testing.assert_array_equal(source.graph.adjacency.toarray(), expected)
    assert source.graph.adjacency.dtype == np.float32
    assert source.graph.adjacency.indices.dtype == np.int32
    assert source.graph.features.dtype == torch.float32


@pytest.mark.parametrize(
    ("edges", "notes"),
    [
        (RING, ["20 directed edges "]),
        (np.append(BOTH, [[3], [3]], axis=1), ["1 self-loop "]),
        (np.append(BOTH, [[3, 5], [3, 5]], axis=1), ["2 self-loops "]),
        (np.append(BOTH, BOTH[:, :5], axis=1), ["5 duplicate edges "]),
        (np.append(BOTH, [[0], [7]], axis=1), ["1 directed edge "]),
        (
            np.array([[0, 1, 2, 2, 3, 4], [1, 0, 3, 3, 3, 5]], np.uint8),
            ["1 self-loop ", "1 duplicate edge ", "2 directed edges ", "14 isolated nodes "],
        ),
    ],
)
def test_edges_are_cleaned_and_it_is_noted(write, edges, notes):
    source = load_graph(write(edge_index=edges))
    assert_noted(source, notes)
    expected = np.zeros((20, 20))
    expected[edges[0], edges[1]] = expected[edges[1], edges[0]] = 1
    np.fill_diagonal(expected, 0)
    np.testing.assert_array_equal(source.graph.adjacency.toarray(), expected)
    assert source.graph.adjacency.has_canonical_format


@pytest.mark.parametrize("kind", [np.uint64, np.uint32, ">i4", np.int8])
def test_any_whole_numbers_are_ends_of_edges(write, kind):
    expected = load_graph(write()).graph.adjacency
    found = load_graph(write(edge_index=BOTH.astype(kind)))
    assert found.notes == ()
    assert (found.graph.adjacency != expected).nnz == 0
    assert (undirected(RING[0].astype(kind), RING[1], 20) != expected).nnz == 0


def test_ends_that_dont_go_together_are_refused():
    for first, second in ((NODES, NODES[:3]), (NODES[None], NODES[None])):
        with pytest.raises(DataError, match=r"edges of 'ring'.*\[E\]"):
            clean_edges((first, second), 20, "'ring'")


@pytest.mark.parametrize("none", [-1, np.nan])
def test_nodes_without_a_label_stay_in_the_graph_only(write, none):
    labels = (NODES % 2).astype(np.float64 if np.isnan(none) else np.int8)
    labels[[4, 9]] = none
    source = load_graph(write(y=labels))
    assert_noted(source, ["2 nodes have no label"])
    assert source.graph.nodes == 20
    assert source.graph.labels[[4, 9]].tolist() == [-1, -1]
    parts = torch.cat([source.train, source.validation, source.test])
    assert sorted(parts.tolist()) == [node for node in range(20) if node not in (4, 9)]


def test_gaps_in_labels_are_closed_and_the_numbers_kept_as_names(write):
    source = load_graph(write(y=np.array([0, 2, 5, 5] * 5)))
    assert source.class_names == ("0", "2", "5")
    assert source.graph.labels.tolist() == [0, 1, 2, 2] * 5
    assert_noted(source, ["class numbers without a node"])


def test_given_names_go_with_their_numbers(write):
    names = np.array(["ant", "bee", "cat", "dog"])
    source = load_graph(write(y=np.array([0, 2] * 10), class_names=names))
    assert source.class_names == ("ant", "cat")
    assert_noted(source, ["classes without a node"])
    assert source.notes[0].endswith("'bee', 'dog'")


def test_classes_of_one_name_are_told_apart_by_their_numbers(write):
    names = np.array(["other", "ant", "other", "other (2)", "gone", "gone"])
    source = load_graph(write(y=np.array([0, 1, 2, 3] * 5), class_names=names))
    assert source.class_names == ("other (0)", "ant", "other (2) (2)", "other (2) (3)")
    dropped, renamed = source.notes
    assert dropped.endswith("'gone', 'gone'")
    assert "'other'" in renamed


def test_labels_in_a_column_are_labels(write):
    assert load_graph(write(y=NODES[:, None] % 2)).graph.labels.tolist() == (NODES % 2).tolist()


def changed(array, value):
    array = array.astype(type(value))
    array[0, 7] = value
    return array


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"edge_index": changed(BOTH, 20)}, "'ring'.* node 20.* 20 nodes.* 0 to 19"),
        ({"edge_index": changed(BOTH, -2)}, "'ring'.* node -2.* 20 nodes"),
        ({"edge_index": BOTH.T}, r"edges of 'ring'.*\[40, 2\].*\[2, E\]"),
        ({"edge_index": BOTH[0]}, r"\[40\]"),
        ({"edge_index": BOTH.astype(float)}, "float64.*whole numbers"),
        ({"edge_index": np.zeros((2, 3), int)}, "no edge between two nodes"),
        ({"edge_index": np.zeros((2, 0), int)}, "no edge between two nodes"),
        ({"y": NODES % 2 - 2}, "-2.*-1 for none"),
        ({"y": NODES % 2 * 1e19}, "10000000000000000000.*0, 1, 2"),
        ({"y": np.where(NODES % 2, 2.0**63, 1)}, "9223372036854775808.*0, 1, 2"),
        ({"y": np.where(NODES % 2, np.uint64(2**64 - 1), np.uint64(1))}, "18446744073709551615"),
        ({"y": NODES % 2 + 0.5}, "labels.*whole numbers"),
        ({"y": np.array(["a", "b"] * 10)}, "labels.*<U1"),
        ({"y": np.zeros((20, 3), int)}, r"labels.*\[20, 3\]"),
        ({"y": np.array(3)}, r"labels.*\[\]"),
        ({"y": np.zeros(20, int)}, "labels.* 1 class.*two"),
        ({"y": np.full(20, -1)}, "labels.* 0 class"),
        ({"y": np.zeros(0, int)}, "'ring' has no nodes"),
        ({"x": np.zeros((19, 3))}, r"features of 'ring'.*\[19, 3\].*\[20, F\]"),
        ({"x": np.zeros(20)}, r"features.*\[20\]"),
        ({"x": np.zeros((20, 0))}, r"features.*\[20, 0\]"),
        ({"x": np.full((20, 3), "a")}, "features.*<U1"),
        ({"x": np.where(np.eye(20, 3) > 0, np.nan, 1)}, "NaN or infinity"),
        ({"x": np.full((20, 3), 1e300)}, "NaN or infinity"),
        ({"class_names": np.array(["one"])}, "label 1.* 1 class names"),
        ({"class_names": np.array([1, 2])}, "strings"),
    ],
)
def test_what_cant_be_used_is_refused_in_a_sentence(write, arrays, sentence):
    with pytest.raises(DataError, match=sentence):
        load_graph(write(**arrays))


def test_a_random_split_is_60_20_20_of_each_class(write):
    labels = np.array([0] * 10 + [1] * 5 + [2] * 4 + [3])
    source = load_graph(write(y=labels))
    assert source.split.startswith("random 60/20/20")
    counts = {
        part: np.bincount(labels[getattr(source, part).numpy()], minlength=4).tolist()
        for part in ("train", "validation", "test")
    }
    assert counts == {"train": [6, 3, 2, 1], "validation": [2, 1, 1, 0], "test": [2, 1, 1, 0]}
    assert load_graph(write(y=labels)).fingerprint == source.fingerprint


def masks(train, validation, test):
    parts = {"train_mask": train, "val_mask": validation, "test_mask": test}
    return {name: np.isin(NODES, nodes) for name, nodes in parts.items()}


def test_a_published_split_is_used_unless_another_is_asked_for(write):
    path = write(**masks([1, 2, 8], [0, 3], [4, 5, 19]))
    for split in (None, "published"):
        source = load_graph(path, split=split)
        assert source.split == "published"
        assert source.train.tolist() == [1, 2, 8]
        assert source.validation.tolist() == [0, 3]
        assert source.test.tolist() == [4, 5, 19]
    forced = load_graph(path, split="random")
    assert forced.split.startswith("random")
    assert len(forced.train) == 12


def test_a_published_split_leaves_nodes_without_a_label_out(write):
    source = load_graph(write(y=np.where(NODES == 4, -1, NODES % 2), **masks([1, 2], [0], [4, 5])))
    assert source.test.tolist() == [5]
    assert source.notes[-1].startswith("1 node of the published split")


def test_of_several_published_splits_the_first_is_used(write):
    columns = {name: np.stack([mask, ~mask], axis=1) for name, mask in masks([1, 2], [0], [4, 5]).items()}
    source = load_graph(write(**columns))
    assert source.train.tolist() == [1, 2]
    assert_noted(source, ["of 2 published splits the first"])


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        (masks([2, 4], [1], [5]), "training.*'1'.*--split random"),
        (masks([1, 2], [3], []), "test.*--split random"),
        (masks([1, 2], [2], [5]), "two parts"),
        ({"train_mask": NODES < 9}, "test_mask"),
        (
            masks([1, 2], [], [5]) | {"test_mask": np.ones(19, bool)},
            r"test_mask .*\[19\].*\[20\]",
        ),
        (masks([1, 2], [], [5]) | {"test_mask": NODES}, "test_mask .*int64"),
    ],
)
def test_a_published_split_that_cant_be_used_is_refused(write, arrays, sentence):
    with pytest.raises(DataError, match=sentence):
        load_graph(write(**arrays))


def test_a_split_that_is_not_there_is_refused(write):
    with pytest.raises(DataError, match=r"published.*--split random"):
        load_graph(write(), split="published")
    with pytest.raises(ConfigError, match=r"'rando'.*'random'"):
        load_graph(write(), split="rando")


def test_a_graph_too_small_to_hold_a_node_out_is_refused(write):
    path = write(edge_index=np.array([[0], [1]]), y=np.array([0, 1]), x=np.eye(2))
    with pytest.raises(DataError, match="three nodes"):
        load_graph(path)

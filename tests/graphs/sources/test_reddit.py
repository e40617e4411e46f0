"""The two files of Reddit."""

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csr_matrix, save_npz

from lqm.graphs.sources import is_graph, load_graph
from lqm.utils.errors import DataError


def make(folder, random, kind=coo_matrix, **replaced):
    folder.mkdir(parents=True, exist_ok=True)
    edges = np.triu(random.random((30, 30)) < 0.2, 1)
    save_npz(folder / "reddit_graph.npz", kind((edges | edges.T).astype(np.float32)))
    arrays = {
        "feature": random.random((30, 5)),
        "label": np.arange(30) % 3,
        "node_types": np.repeat([1, 2, 3], 10),
    }
    np.savez(folder / "reddit_data.npz", **(arrays | replaced))
    return edges | edges.T, arrays["feature"]


@pytest.mark.parametrize("kind", [coo_matrix, csr_matrix])
@pytest.mark.parametrize("inside", ["", "raw"])
def test_both_files_make_a_graph(tmp_path, random, kind, inside):
    edges, features = make(tmp_path / "Reddit" / inside, random, kind)
    assert is_graph(tmp_path / "Reddit")
    source = load_graph(tmp_path / "Reddit")
    np.testing.assert_array_equal(source.graph.adjacency.toarray(), edges)
    np.testing.assert_allclose(source.graph.features.numpy(), features, rtol=1e-6)
    assert source.graph.labels.tolist() == (np.arange(30) % 3).tolist()
    parts = [source.train, source.validation, source.test]
    assert [part.tolist() for part in parts] == [list(range(start, start + 10)) for start in (0, 10, 20)]
    assert source.split == "published"
    assert source.notes == ()


def test_other_types_of_nodes_are_refused(tmp_path, random):
    make(tmp_path, random, node_types=np.arange(30))
    with pytest.raises(DataError, match="1, 2 or 3"):
        load_graph(tmp_path)


def test_a_missing_file_is_named(tmp_path, random):
    make(tmp_path, random)
    (tmp_path / "reddit_data.npz").unlink()
    with pytest.raises(DataError, match=r"reddit_data\.npz"):
        load_graph(tmp_path)

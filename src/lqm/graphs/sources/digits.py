"""The embedded graph: scikit-learn's handwritten digits, each tied to those that look most like it."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

from lqm.graphs.sources.edges import edges_of_rows
from lqm.graphs.sources.found import Found, Reading

_NEIGHBOURS = 10


def digits_knn(reading: Reading) -> Found:
    """The 1,797 digits; pixels are features, and edges tie each to its 10 nearest in Euclidean distance."""
    reading.refuse_features()
    bunch = load_digits()
    pixels = (bunch.data / 16).astype(np.float32)
    nearest = kneighbors_graph(pixels, _NEIGHBOURS)
    # Both ways, since to be near is meant so: nothing was done to the graph that a note should tell.
    nearest = nearest.maximum(nearest.T).tocsr()
    names = tuple(str(name) for name in bunch.target_names)
    return Found(edges_of_rows(nearest.indptr, nearest.indices), bunch.target, pixels, names)

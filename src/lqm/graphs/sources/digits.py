"""The embedded graph: scikit-learn's handwritten digits, each tied to those that look most like it."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

from lqm.graphs.sources.cleaning import RawGraph, ReadOptions
from lqm.graphs.sources.edges import edges_of_rows

_NEIGHBOURS = 10


def digits_knn(options: ReadOptions) -> RawGraph:
    """The 1,797 digits; pixels are features, and edges tie each to its 10 nearest in Euclidean distance."""
    options.refuse_features()
    bunch = load_digits()
    pixels = (bunch.data / 16).astype(np.float32)
    # Several threads would choose others among neighbours that are equally near.
    with threadpool_limits(1):
        nearest = kneighbors_graph(pixels, _NEIGHBOURS)
    # Both directions, so that no note reports directed edges.
    nearest = nearest.maximum(nearest.T).tocsr()
    names = tuple(str(name) for name in bunch.target_names)
    return RawGraph(edges_of_rows(nearest), bunch.target, pixels, names)

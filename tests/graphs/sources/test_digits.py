from threadpoolctl import threadpool_limits

from lqm.graphs.sources.cleaning import ReadOptions
from lqm.graphs.sources.digits import digits_knn


def test_the_graph_is_the_same_whatever_the_number_of_threads():
    """Digits that are equally near are many, and threads would choose among them."""
    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads):
            found.append(digits_knn(ReadOptions("digits-knn")).edges)
    for edges in found[1:]:
        assert all((one == other).all() for one, other in zip(edges, found[0], strict=True))

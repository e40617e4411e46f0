"""Tables that come with scikit-learn, and so need no download."""

from collections.abc import Callable
from typing import Any

from lqm.tabular.sources.arrays import from_arrays
from lqm.tabular.sources.source import TableSource


def _bunch(loader: str, name: str, test_fraction: float) -> TableSource:
    from sklearn import datasets

    bunch: Any = getattr(datasets, loader)()
    return from_arrays(
        bunch.data,
        bunch.target,
        class_names=bunch.target_names,
        feature_names=bunch.feature_names,
        test_fraction=test_fraction,
        name=name,
    )


# Diagnoses from 30 measurements of cells, cultivars from 13 of wine, and digits as rows of 64 pixels, which
# stand for embeddings: many features of one kind.
TABLES: dict[str, Callable[[float], TableSource]] = {
    "breast-cancer": lambda share: _bunch("load_breast_cancer", "breast-cancer", share),
    "wine": lambda share: _bunch("load_wine", "wine", share),
    "digits-table": lambda share: _bunch("load_digits", "digits-table", share),
}

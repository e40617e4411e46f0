"""Dataset condensation by latent quantile matching: S* = argmin over S of D(phi(T), phi(S)).

The names below are imported when they are first used, so that `lqm --help` does not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "CondensedImages",
    "CondensedNodes",
    "CondensedSet",
    "ContinualResult",
    "Evaluation",
    "GraphSource",
    "ImageSource",
    "Images",
    "LqmError",
    "Sketch",
    "condense",
    "continual",
    "evaluate",
    "from_dataset",
    "from_pyg",
    "load",
    "load_graph",
    "load_source",
    "sketch",
    "tune_allocator",
    "write_figures",
    "write_report",
]

if TYPE_CHECKING:
    from lqm.api.condense import condense
    from lqm.api.continual import ContinualResult, continual
    from lqm.api.sketch import sketch
    from lqm.banks import Sketch
    from lqm.condensed import CondensedImages, CondensedNodes, CondensedSet, load
    from lqm.evaluating import Evaluation, evaluate
    from lqm.graphs.sources import from_pyg, load_graph
    from lqm.graphs.sources.source import GraphSource
    from lqm.images.sources import Images, ImageSource, from_dataset, load_source
    from lqm.report.figures import write_figures
    from lqm.report.page import write_report
    from lqm.utils.allocator import tune_allocator
    from lqm.utils.errors import LqmError

_HOMES = {
    "CondensedNodes": "lqm.condensed",
    "CondensedImages": "lqm.condensed",
    "CondensedSet": "lqm.condensed",
    "ContinualResult": "lqm.api.continual",
    "Evaluation": "lqm.evaluating",
    "GraphSource": "lqm.graphs.sources.source",
    "ImageSource": "lqm.images.sources",
    "LqmError": "lqm.utils.errors",
    "Images": "lqm.images.sources",
    "Sketch": "lqm.banks",
    "condense": "lqm.api.condense",
    "continual": "lqm.api.continual",
    "evaluate": "lqm.evaluating",
    "from_dataset": "lqm.images.sources",
    "from_pyg": "lqm.graphs.sources",
    "load": "lqm.condensed",
    "load_graph": "lqm.graphs.sources",
    "load_source": "lqm.images.sources",
    "sketch": "lqm.api.sketch",
    "tune_allocator": "lqm.utils.allocator",
    "write_figures": "lqm.report.figures",
    "write_report": "lqm.report.page",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'lqm' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

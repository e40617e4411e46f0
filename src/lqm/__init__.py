"""Dataset condensation by latent quantile matching: S* = argmin over S of D(phi(T), phi(S)).

The names below are imported when they are first used, so that `lqm --help` does not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "CondensedNodes",
    "CondensedPictures",
    "CondensedSet",
    "ContinualResult",
    "Evaluation",
    "GraphSource",
    "ImageSource",
    "LqmError",
    "Pictures",
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
    from lqm.allocator import tune_allocator
    from lqm.condensed import CondensedNodes, CondensedPictures, CondensedSet, load
    from lqm.condensing import condense
    from lqm.errors import LqmError
    from lqm.evaluating import Evaluation, evaluate
    from lqm.graphs.source import GraphSource
    from lqm.graphs.sources import from_pyg, load_graph
    from lqm.images.sources import ImageSource, Pictures, from_dataset, load_source
    from lqm.report.figures import write_figures
    from lqm.report.page import write_report
    from lqm.sketches import Sketch
    from lqm.sketching import sketch
    from lqm.streaming import ContinualResult, continual

_HOMES = {
    "CondensedNodes": "lqm.condensed",
    "CondensedPictures": "lqm.condensed",
    "CondensedSet": "lqm.condensed",
    "ContinualResult": "lqm.streaming",
    "Evaluation": "lqm.evaluating",
    "GraphSource": "lqm.graphs.source",
    "ImageSource": "lqm.images.sources",
    "LqmError": "lqm.errors",
    "Pictures": "lqm.images.sources",
    "Sketch": "lqm.sketches",
    "condense": "lqm.condensing",
    "continual": "lqm.streaming",
    "evaluate": "lqm.evaluating",
    "from_dataset": "lqm.images.sources",
    "from_pyg": "lqm.graphs.sources",
    "load": "lqm.condensed",
    "load_graph": "lqm.graphs.sources",
    "load_source": "lqm.images.sources",
    "sketch": "lqm.sketching",
    "tune_allocator": "lqm.allocator",
    "write_figures": "lqm.report.figures",
    "write_report": "lqm.report.page",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'lqm' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

"""Dataset condensation by latent quantile matching: S* = argmin over S of D(phi(T), phi(S)).

The names below are imported when they are first used, so that `lqm --help` does not wait for torch.
"""

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "CondensedImages",
    "CondensedNodes",
    "CondensedSet",
    "CondensedTable",
    "ContinualResult",
    "Evaluation",
    "Experts",
    "GraphSource",
    "ImageSource",
    "Images",
    "LqmError",
    "ProxyResult",
    "Sketch",
    "StudyResult",
    "TableSource",
    "audit",
    "condense",
    "continual",
    "evaluate",
    "experts",
    "export_set",
    "from_dataset",
    "from_pyg",
    "import_set",
    "load",
    "load_graph",
    "load_source",
    "load_table",
    "proxy",
    "sketch",
    "study",
    "tune_allocator",
    "write_figures",
    "write_report",
]

# What type checkers take for true; `typing` takes longer to import than all the rest of this file.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from lqm.api.audit import audit
    from lqm.api.condense import condense
    from lqm.api.continual import ContinualResult, continual
    from lqm.api.evaluate import evaluate
    from lqm.api.evaluation_result import Evaluation
    from lqm.api.experts import experts
    from lqm.api.exports import export_set
    from lqm.api.figures import write_figures
    from lqm.api.imports import import_set
    from lqm.api.proxy import ProxyResult, proxy
    from lqm.api.report import write_report
    from lqm.api.sketch import sketch
    from lqm.api.study import StudyResult, study
    from lqm.banks import Experts, Sketch
    from lqm.condensed import CondensedImages, CondensedNodes, CondensedSet, CondensedTable, load
    from lqm.evaluation.audit.result import Audit
    from lqm.graphs.sources import GraphSource, from_pyg, load_graph
    from lqm.images.sources import Images, ImageSource, from_dataset, load_source
    from lqm.tabular.sources import TableSource, load_table
    from lqm.utils.allocator import tune_allocator
    from lqm.utils.errors import LqmError

_HOMES = {
    "Audit": "lqm.evaluation.audit.result",
    "CondensedImages": "lqm.condensed",
    "CondensedNodes": "lqm.condensed",
    "CondensedSet": "lqm.condensed",
    "CondensedTable": "lqm.condensed",
    "ContinualResult": "lqm.api.continual",
    "Evaluation": "lqm.api.evaluation_result",
    "Experts": "lqm.banks",
    "GraphSource": "lqm.graphs.sources",
    "ImageSource": "lqm.images.sources",
    "Images": "lqm.images.sources",
    "LqmError": "lqm.utils.errors",
    "ProxyResult": "lqm.api.proxy",
    "Sketch": "lqm.banks",
    "StudyResult": "lqm.api.study",
    "TableSource": "lqm.tabular.sources",
    "audit": "lqm.api.audit",
    "condense": "lqm.api.condense",
    "continual": "lqm.api.continual",
    "evaluate": "lqm.api.evaluate",
    "experts": "lqm.api.experts",
    "export_set": "lqm.api.exports",
    "from_dataset": "lqm.images.sources",
    "from_pyg": "lqm.graphs.sources",
    "import_set": "lqm.api.imports",
    "load": "lqm.condensed",
    "load_graph": "lqm.graphs.sources",
    "load_source": "lqm.images.sources",
    "load_table": "lqm.tabular.sources",
    "proxy": "lqm.api.proxy",
    "sketch": "lqm.api.sketch",
    "study": "lqm.api.study",
    "tune_allocator": "lqm.utils.allocator",
    "write_figures": "lqm.api.figures",
    "write_report": "lqm.api.report",
}
# Names of earlier versions that programs may still use.
_OLD_NAMES = {"CondensedPictures": "CondensedImages", "Pictures": "Images"}


def __getattr__(name: str) -> object:
    current = _OLD_NAMES.get(name, name)
    if current not in _HOMES:
        raise AttributeError(f"module 'lqm' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[current]), current)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

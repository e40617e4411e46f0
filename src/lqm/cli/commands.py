"""All commands. Torch is imported when one of them needs it, so that help is quick."""

from collections.abc import Callable
from typing import Any

from lqm.cli.audit import audit
from lqm.cli.cache import cache
from lqm.cli.compare import compare
from lqm.cli.condense import Condense
from lqm.cli.continual import Continual
from lqm.cli.demo import demo
from lqm.cli.evaluate import evaluate
from lqm.cli.experts import TrainExperts
from lqm.cli.export import export
from lqm.cli.figures import figures
from lqm.cli.import_ import import_
from lqm.cli.recipes import recipes
from lqm.cli.report import report
from lqm.cli.runs import runs
from lqm.cli.sketch import MakeSketch
from lqm.cli.study import study

COMMANDS: dict[str, Callable[..., Any]] = {
    "condense": Condense,
    "sketch": MakeSketch,
    "experts": TrainExperts,
    "continual": Continual,
    "evaluate": evaluate,
    "study": study,
    "audit": audit,
    "compare": compare,
    "report": report,
    "runs": runs,
    "figures": figures,
    "export": export,
    "import": import_,
    "recipes": recipes,
    "cache": cache,
    "demo": demo,
}

"""The commands: one thin function each. Torch is imported when a command needs it, so that help is quick."""

from collections.abc import Callable
from typing import Any

from lqm.cli.compare import compare
from lqm.cli.condense import condense
from lqm.cli.continual import continual
from lqm.cli.demo import demo
from lqm.cli.evaluate import evaluate
from lqm.cli.export import export
from lqm.cli.figures import figures
from lqm.cli.recipes import recipes
from lqm.cli.report import report
from lqm.cli.runs import runs
from lqm.cli.sketch import sketch

COMMANDS: dict[str, Callable[..., Any]] = {
    "sketch": sketch,
    "condense": condense,
    "continual": continual,
    "evaluate": evaluate,
    "compare": compare,
    "report": report,
    "runs": runs,
    "figures": figures,
    "export": export,
    "recipes": recipes,
    "demo": demo,
}

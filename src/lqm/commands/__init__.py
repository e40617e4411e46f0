"""The commands: one thin function each. Torch is imported when a command needs it, so that help is quick."""

from collections.abc import Callable
from typing import Any

from lqm.commands.compare import compare
from lqm.commands.condense import condense
from lqm.commands.continual import continual
from lqm.commands.demo import demo
from lqm.commands.evaluate import evaluate
from lqm.commands.export import export
from lqm.commands.figures import figures
from lqm.commands.recipes import recipes
from lqm.commands.report import report
from lqm.commands.runs import runs
from lqm.commands.sketch import sketch

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

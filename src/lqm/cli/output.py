"""How a command prints what it has found: for people, or as one document for programs."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

from lqm.api.requests import QuietFlag
from lqm.utils.log import say, warn, write_line

if TYPE_CHECKING:
    from lqm.cli.documents import Document


@dataclass(frozen=True, kw_only=True)
class Output:
    """What is printed.

    Attributes:
        json: One JSON document; docs/json.md has its fields.
        quiet: No progress, no hints: results and warnings.
    """

    json: QuietFlag = False
    quiet: QuietFlag = False

    def hint(self, line: str) -> None:
        """What the user might do next; beside a document it goes to standard error."""
        if self.quiet:
            return
        if self.json:
            write_line(line, sys.stderr)
        else:
            say(line)

    def note(self, line: str) -> None:
        """How far the work has come, on standard error."""
        if not self.quiet:
            warn(line)

    def document(self, found: "Document") -> None:
        """Print the one document."""
        from lqm.cli.documents import as_json

        print(as_json(found))


@dataclass(frozen=True, kw_only=True)
class WorkOutput(Output):
    """What is printed by commands that compute for long.

    Attributes:
        config: Options from TOML or a run.json; words win.
        dry_run: Only say what would be done, and its cost.
    """

    config: Annotated[str | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None
    dry_run: QuietFlag = False


# For commands that are functions: the same options, in a box of their own.
Printed = Annotated[Output, tyro.conf.OmitArgPrefixes, tyro.conf.arg(name="output")]
WorkPrinted = Annotated[WorkOutput, tyro.conf.OmitArgPrefixes, tyro.conf.arg(name="output")]
USUAL, USUAL_WORK = Output(), WorkOutput()

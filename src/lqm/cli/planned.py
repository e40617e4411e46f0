"""How `--dry-run` is printed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lqm.cli.loading import loading_seconds
from lqm.cli.output import Output
from lqm.utils.log import say, warn

if TYPE_CHECKING:
    from lqm.api.dry_run import DryRun


def print_plan(output: Output, command: str, found: "Sequence[tuple[DryRun, int]]") -> None:
    """What would be done, each so many times, and what all of it takes.

    Args:
        output: how to print it.
        command: by whose remedies long work is made shorter.
        found: each kind of work, and how often it is to be done.
    """
    from lqm.api.dry_run import LOADED_AT
    from lqm.engine.forecast import SHORTER, duration, hours_warning
    from lqm.utils.limits import size_text

    seconds = sum(each.cost.seconds * count for each, count in found)
    memory = max(each.cost.memory for each, _ in found)
    disk = sum(each.cost.disk * count for each, count in found)
    warning = hours_warning(seconds, SHORTER[command])
    if output.json:
        from lqm.cli.documents import PlanDocument
        from lqm.cli.documents.planned import PlannedEntry

        work = [
            PlannedEntry(
                name=each.name,
                count=count,
                seconds=each.cost.seconds,
                memory=each.cost.memory,
                disk=each.cost.disk,
                measured=True,
                problem="",
            )
            for each, count in found
        ]
        output.document(
            PlanDocument(
                command=command,
                source=found[0][0].source,
                settings=[*dict.fromkeys(line for each, _ in found for line in each.settings)],
                result="; ".join(each.result for each, _ in found),
                work=work,
                seconds=seconds,
                memory=memory,
                disk=disk,
                warnings=[warning] if warning else [],
            )
        )
    else:
        say(found[0][0].source)
        for each, count in found:
            for line in each.settings:
                say(line)
            say(f"{each.name}: {each.result}" + f", {count} times, each with a seed of its own" * (count > 1))
        room = f" and {size_text(disk)} on the disk" if disk else ""
        whole = loading_seconds(LOADED_AT) + seconds
        say(f"about {duration(whole)}, {size_text(memory)} of memory{room}; nothing was made")
    if warning:
        warn(warning)

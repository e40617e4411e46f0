"""What a condensed set gives away."""

from dataclasses import asdict
from shlex import quote
from typing import Annotated

import tyro

from lqm.cli.arguments import Folder, Name, Run
from lqm.cli.output import USUAL, Printed
from lqm.utils.log import say

_WIDEST = 1000


def audit(
    run: Run,
    /,
    *,
    shadows: int = 8,
    canaries: int = 0,
    steps: Annotated[int | None, tyro.conf.arg(metavar="N", help_behavior_hint="")] = None,
    references: Annotated[str, tyro.conf.arg(metavar="NAME,...")] = "random",
    epsilon: float = 8.0,
    protocol: Name = None,
    source: Annotated[str | None, tyro.conf.arg(metavar="SOURCE", help_behavior_hint="")] = None,
    data_dir: Folder = None,
    seed: int = 0,
    device: str = "auto",
    max_memory: Annotated[str | None, tyro.conf.arg(metavar="SIZE", help_behavior_hint="")] = None,
    output: Printed = USUAL,
) -> None:
    """Find out what a condensed set gives away of its training records: copies, and who was among them.

    Example: lqm audit runs/digits --canaries 20

    Args:
        run: A run, or a saved condensed set.
        shadows: Sets to condense from random halves of the attacked records, for likelihood ratios; 0: none.
        canaries: Mislabelled held-out records to plant in two sets that are condensed again; 0: none.
        steps: Of each set that is condensed again (default: the set's own, at most 100).
        references: To measure beside it: none, or some of random (real records), noise (as init; condenses
            again), dp (a network trained by DP-SGD; of images, needs opacus).
        epsilon: Of DP-SGD, from 0.1 to 1,000.
        protocol: How networks are trained, as for evaluate; else what the set asks for.
        source: Where the real data are, if they have moved.
        data_dir: Where the named sources are, if they have moved.
        seed: Of everything that is drawn.
        device: Where to compute: auto, cpu, cuda, ...
        max_memory: The most that the content of a file may take, such as 4GB.
        output: How it is printed.
    """
    from rich.console import Console
    from rich.measure import Measurement

    import lqm
    from lqm.evaluation.audit.result import audit_layout
    from lqm.report.tables import plain_table
    from lqm.utils.errors import ArtifactError

    found = lqm.audit(
        run,
        shadows=shadows,
        canaries=canaries,
        steps=steps,
        references=() if references == "none" else references,
        epsilon=epsilon,
        protocol=protocol,
        source=source,
        data_dir=data_dir,
        seed=seed,
        device=device,
        max_memory=max_memory,
        show_progress=not output.quiet,
    )
    if output.json:
        from lqm.cli.documents import AuditDocument
        from lqm.cli.documents.base import entry

        derived = {"findings": found.findings, "verdict": found.verdict, "meaning": found.meaning}
        whole = asdict(found) | derived | {"run": str(run), "command": "audit"}
        output.document(entry(AuditDocument, whole))
    else:
        say(found.verdict)
        console, table = Console(), plain_table(*audit_layout(found))
        wide = Measurement.get(console, console.options.update(max_width=_WIDEST), table).maximum
        Console(width=max(console.width, wide)).print(table)
        for line in found.meaning:
            say(line)
    if found.not_kept:
        raise ArtifactError(f"the audit above was not kept: {found.not_kept}")
    output.hint(f"next: lqm report {quote(str(run))}")

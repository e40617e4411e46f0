"""What the page shows of audits: what each set gives away."""

from collections.abc import Sequence
from typing import Any

from lqm.evaluation.audit.result import Audit, audit_layout
from lqm.evaluation.audit.stored import audit_in
from lqm.evaluation.cases import Case
from lqm.report.page.answer import Answer, Line


def privacy(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Of each set that was audited: its number, the verdict, the table and what it means."""
    found = []
    for number, case in enumerate(cases):
        if audit := audit_in(case.manifest):
            header, rows = audit_layout(audit)
            found.append(
                {
                    "case": number,
                    "verdict": audit.verdict,
                    "header": header,
                    "rows": rows,
                    "meaning": audit.meaning,
                    "copies": _copies(audit),
                }
            )
    return found


def what_it_gives_away(cases: Sequence[Case], audits: Sequence[dict[str, Any]]) -> list[Answer]:
    """The answer for each set; none where no set was audited."""
    if not audits:
        return []
    known = {audit["case"]: audit["copies"] for audit in audits}
    lines = [
        Line(number, *known[number]) if number in known else Line(number, "not audited")
        for number in range(len(cases))
    ]
    note = "Training records that the set holds, by lqm audit; attacks are below. It is no formal guarantee."
    return [Answer("What does it give away?", lines, note)]


def _copies(audit: Audit) -> tuple[str, str]:
    copies = audit.own.copies
    assert copies is not None
    if copies.near or not copies.tells:
        return f"{copies.near:,}", f"of {copies.records:,} near copies"
    return f"{copies.traceable:,}", f"of {copies.records:,} traceable"

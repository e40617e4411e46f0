"""The time that training on condensed sets saves."""

from collections.abc import Mapping, Sequence
from math import ceil

from lqm.condensed.described import IMPORTED
from lqm.evaluation.cases import Case
from lqm.evaluation.standing import Bar, Standing
from lqm.report.page.answer import Answer, Line


def time_saved(bars: Mapping[int, Bar], cases: Sequence[Case], standing: Standing) -> list[Answer]:
    """How many times as long a network trains on all real records; none where that was not measured."""
    full = standing.full
    if full is None or not full.training_seconds:
        return []
    known = {number: bar.training_seconds for number, bar in bars.items() if bar.training_seconds}
    lines = [
        Line(number, f"{full.training_seconds / own:.1f}", f"times, {own:.3g} s")
        for number, own in known.items()
    ]
    if not lines:
        return []
    records, protocol = standing.protocol.records, standing.protocol
    epochs = protocol.epochs_for(full.records, full=True)
    fewer = (
        f", in {epochs:,} epochs where the sets have {protocol.epochs:,}" if epochs < protocol.epochs else ""
    )
    note = (
        f"Training one network on all {full.records:,} real {records} takes {full.training_seconds:.3g} s"
        f"{fewer}: so many times as long as on the set, as lqm evaluate measured both."
    )
    return [Answer("How much training time is saved?", lines, f"{note}{_paid_back(known, cases, full)}")]


def _paid_back(known: Mapping[int, float], cases: Sequence[Case], full: Bar) -> str:
    """After how many networks the time of condensing is made up for, where it ever is."""
    assert full.training_seconds is not None
    saved = {number: full.training_seconds - own for number, own in known.items()}
    gains = {number: gain for number, gain in saved.items() if gain > 0}
    if not gains:
        return "\nTraining on the set is no faster here."
    manifests = {number: cases[number].manifest for number in gains}
    own = {number: made for number, made in manifests.items() if made["method"] != IMPORTED}
    after = [ceil(made["seconds"] / gains[number]) for number, made in own.items()]
    if not after:
        return "\nWhat it took to make the set is not known."
    least, most = f"{max(1, min(after)):,}", f"{max(1, max(after)):,}"
    span = least if least == most else f"{least} to {most}"
    apart = any(bank in cases[number].manifest for number in known for bank in ("sketch", "experts"))
    bank = ", that of a sketch or of experts apart," if apart else ""
    return f"\nThe time of condensing{bank} is made up for after {span} network{'s' * (most != '1')}."

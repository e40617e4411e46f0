"""Scores as a table: its layout, and the table in Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lqm.evaluation.latents import MATCHED
from lqm.evaluation.protocol import Protocol
from lqm.evaluation.scores import Score, recovery
from lqm.evaluation.spread import Spread
from lqm.evaluation.table import CONDENSED
from lqm.evaluation.verdict import records_in_words

Scores = Mapping[str, Score]
Rows = Sequence[tuple[str, ...]]

_RECOVERY, _BEST = "recovery\n%", "best\nepoch %"


def score_markdown(by_network: Mapping[str, Scores], protocol: Protocol, mosaics: int | None = None) -> str:
    """Scores as Markdown, as `score_layout` lays them out."""
    header, rows, notes = score_layout(by_network, protocol, mosaics)
    return "\n".join([markdown(header, rows), *(f"\n{note}" for note in notes)]) + "\n"


def markdown(header: Sequence[str], rows: Rows) -> str:
    """A table in Markdown; the first column to the left, the others to the right."""
    ruler = ["---", *["---:"] * (len(header) - 1)]
    lines = ("| " + " | ".join(cells) + " |" for cells in (header, ruler, *rows))
    return "\n".join(line.replace("\n", " ") for line in lines)


def percent(share: float | None) -> str:
    """A share in percent, or a dash."""
    return "-" if share is None else f"{100 * share:.1f}"


def score_layout(
    by_network: Mapping[str, Scores], protocol: Protocol, mosaics: int | None = None
) -> tuple[Sequence[str], Rows, list[str]]:
    """Header, rows and notes: all numbers by one kind of network, or the accuracies by several.

    The condensed records may be cells of so many mosaics.
    """
    if len(by_network) == 1:
        ((network, scores),) = by_network.items()
        records = protocol.records
        columns, way = _columns(scores, records, mosaics), ""
        if {"random", "full"} <= scores.keys():
            way = f"recovery: the share of the way from random to all real {records}; "
        else:
            del columns[_RECOVERY]
        if not any(score.best for score in scores.values()):
            del columns[_BEST]
        else:
            way = f"best epoch: of the tests along the training, chosen on test {records}; {way}"
        note = (
            f"{way}CvM: Cramer-von Mises statistic of the latent features against the real class (compare "
            f"sets of as many {records}); extremes: share of them outside the range of the real class "
            f"({MATCHED} {records} of it at most); before and after the training."
        )
        notes = [_rules(protocol, network, scores), note]
        return [*columns], [*zip(*columns.values(), strict=True)], notes
    sets = next(iter(by_network.values()))
    rows: list[tuple[str, ...]] = [
        (name, *(scores[name].spread.percent() for scores in by_network.values())) for name in sets
    ]
    found = [recovery(scores[CONDENSED], scores) for scores in by_network.values()]
    if any(share is not None for share in found):
        rows.append(("recovery of condensed", *map(percent, found)))
    header = ("accuracy % by", *(name.replace(":", "\n", 1) for name in by_network))
    notes = [_rules(protocol, "of each kind", sets)]
    if mosaics:
        size = records_in_words(sets[CONDENSED].records, protocol.records, mosaics)
        notes.append(f"{CONDENSED}: {size}")
    return header, rows, notes


def _columns(scores: Scores, records: str, mosaics: int | None) -> dict[str, list[str]]:
    rows = [*scores.values()]
    sizes = {name: f"{score.records:,}" for name, score in scores.items()}
    if mosaics and CONDENSED in sizes:
        sizes[CONDENSED] = f"{mosaics:,} mosaics\n= {sizes[CONDENSED]}"
    return {
        "trained on": [*scores],
        records: [*sizes.values()],
        "accuracy %": [score.spread.percent() for score in rows],
        _BEST: [Spread(score.best).percent() if score.best else "-" for score in rows],
        _RECOVERY: [percent(recovery(score, scores)) for score in rows],
        "CvM\nbefore": [f"{score.before.cramer_von_mises:.3f}" for score in rows],
        "CvM\nafter": [f"{score.after.cramer_von_mises:.3f}" for score in rows],
        "extremes\n% before": [f"{100 * score.before.extremes:.2f}" for score in rows],
        "extremes\n% after": [f"{100 * score.after.extremes:.2f}" for score in rows],
    }


def _rules(protocol: Protocol, network: str, scores: Scores) -> str:
    full = scores["full"].records if "full" in scores else None
    return replace(protocol, network=network).in_words(full)

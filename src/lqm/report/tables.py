"""Scores as a table, on the terminal and in Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich import box
from rich.table import Table
from rich.text import Text

from lqm.latents import MATCHED
from lqm.scores import Protocol, Score

Scores = Mapping[str, Score]
Rows = Sequence[tuple[str, ...]]

_RECOVERY = "recovery\n%"
# So many networks fit into 80 columns with their deviations beside the accuracies.
_SIDE_BY_SIDE = 4


def recovery(score: Score, rows: Scores) -> float | None:
    """(accuracy - random) / (full - random), where both are known and apart."""
    random, full = rows.get("random"), rows.get("full")
    if random is None or full is None or full.accuracy == random.accuracy:
        return None
    return (score.accuracy - random.accuracy) / (full.accuracy - random.accuracy)


def score_table(by_network: Mapping[str, Scores], protocol: Protocol) -> Table:
    """A table for the terminal: all numbers by one kind of network, or the accuracies by several."""
    header, rows, notes = _layout(by_network, protocol)
    if len(by_network) > _SIDE_BY_SIDE:
        rows = [tuple(cell.replace(" ±", "\n±") for cell in row) for row in rows]
    return plain_table(header, rows, "\n".join(notes))


def score_markdown(by_network: Mapping[str, Scores], protocol: Protocol) -> str:
    """The same as Markdown."""
    header, rows, notes = _layout(by_network, protocol)
    return "\n".join([markdown(header, rows), *(f"\n{note}" for note in notes)]) + "\n"


def plain_table(header: Sequence[str], rows: Rows, caption: str = "", title: str = "") -> Table:
    """A table for the terminal; the first column to the left, the others to the right.

    What stands in it is text: a folder may be called `[red]`.
    """
    table = Table(
        box=box.SIMPLE,
        pad_edge=False,
        collapse_padding=True,
        caption=Text(caption) if caption else None,
        caption_justify="left",
        title=Text(title) if title else None,
        title_justify="left",
    )
    for index, column in enumerate(header):
        table.add_column(Text(column), justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def markdown(header: Sequence[str], rows: Rows) -> str:
    """A table in Markdown; the first column to the left, the others to the right."""
    names = [column.replace("\n", " ") for column in header]
    ruler = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (names, ruler, *rows))


def percent(share: float | None) -> str:
    """A share in percent, or a dash."""
    return "-" if share is None else f"{100 * share:.1f}"


def _layout(by_network: Mapping[str, Scores], protocol: Protocol) -> tuple[Sequence[str], Rows, list[str]]:
    if len(by_network) == 1:
        ((network, scores),) = by_network.items()
        columns = _columns(protocol)
        words, note = _words(replace(protocol, network=network), scores), _note(protocol)
        if {"random", "full"} <= scores.keys():
            way = f"recovery: the share of the way from random to all real {protocol.records};"
            return columns, _numbers(scores), [words, f"{way} {note}"]
        kept = [column for column, name in enumerate(columns) if name != _RECOVERY]
        numbers = [tuple(row[column] for column in kept) for row in _numbers(scores)]
        return [columns[column] for column in kept], numbers, [words, note]
    sets = next(iter(by_network.values()))
    rows: list[tuple[str, ...]] = [
        (name, *(_accuracy(scores[name]) for scores in by_network.values())) for name in sets
    ]
    found = [recovery(scores["condensed"], scores) for scores in by_network.values()]
    if any(share is not None for share in found):
        rows.append(("recovery of condensed", *map(percent, found)))
    header = ("accuracy % by", *(name.replace(":", "\n", 1) for name in by_network))
    return header, rows, [_words(replace(protocol, network="of each kind"), sets)]


def _columns(protocol: Protocol) -> Sequence[str]:
    return (
        "trained on",
        protocol.records,
        "accuracy %",
        _RECOVERY,
        "CvM\nbefore",
        "CvM\nafter",
        "extremes\n% before",
        "extremes\n% after",
    )


def _note(protocol: Protocol) -> str:
    records = protocol.records
    return (
        "CvM: Cramer-von Mises statistic of the latent features against the real class (compare sets of as "
        f"many {records}); extremes: share of them outside the range of the real class ({MATCHED} {records} "
        "of it at most); before and after the training."
    )


def protocol_in_words(protocol: Protocol, full_records: int | None) -> str:
    """How networks were trained, those on the full training set of so many records too, if there are any."""
    if full_records is None:
        return str(protocol)
    epochs = protocol.epochs_for(full_records, full=True)
    networks = f"{protocol.full_networks} network" + "s" * (protocol.full_networks > 1)
    return f"{protocol}; full: {networks}, {epochs} epochs"


def _words(protocol: Protocol, scores: Scores) -> str:
    return protocol_in_words(protocol, scores["full"].records if "full" in scores else None)


def _numbers(rows: Scores) -> Rows:
    return [
        (
            name,
            f"{score.records:,}",
            _accuracy(score),
            percent(recovery(score, rows)),
            *(f"{match.cramer_von_mises:.3f}" for match in (score.before, score.after)),
            *(f"{100 * match.extremes:.2f}" for match in (score.before, score.after)),
        )
        for name, score in rows.items()
    ]


def _accuracy(score: Score) -> str:
    return f"{100 * score.accuracy:.1f} ± {100 * score.deviation:.1f}"

"""Scores as a table, on the terminal and in Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich import box
from rich.table import Table

from lqm.images.evaluation import EvaluationProtocol, Score

Scores = Mapping[str, Score]
Rows = Sequence[tuple[str, ...]]

_COLUMNS = (
    "trained on",
    "pictures",
    "accuracy %",
    "recovery\n%",
    "CvM\nbefore",
    "CvM\nafter",
    "extremes\n% before",
    "extremes\n% after",
)
_RECOVERY = "recovery: the share of the way from random to all real pictures;"
_NOTE = (
    "CvM: Cramer-von Mises statistic of the latent features against the real class (compare sets of as many "
    "pictures); extremes: share of them outside the range of the real class (500 pictures of it at most); "
    "before and after the training."
)


def recovery(score: Score, rows: Scores) -> float | None:
    """(accuracy - random) / (full - random), where both are known and apart."""
    random, full = rows.get("random"), rows.get("full")
    if random is None or full is None or full.accuracy == random.accuracy:
        return None
    return (score.accuracy - random.accuracy) / (full.accuracy - random.accuracy)


def score_table(by_network: Mapping[str, Scores], protocol: EvaluationProtocol) -> Table:
    """A table for the terminal: all numbers by one kind of network, or the accuracies by several."""
    header, rows, notes = _layout(by_network, protocol)
    return plain_table(header, rows, "\n".join(notes))


def score_markdown(by_network: Mapping[str, Scores], protocol: EvaluationProtocol) -> str:
    """The same as Markdown."""
    header, rows, notes = _layout(by_network, protocol)
    return "\n".join([markdown(header, rows), *(f"\n{note}" for note in notes)]) + "\n"


def plain_table(header: Sequence[str], rows: Rows, caption: str = "") -> Table:
    """A table for the terminal; the first column to the left, the others to the right."""
    table = Table(
        box=box.SIMPLE, pad_edge=False, collapse_padding=True, caption=caption, caption_justify="left"
    )
    for index, column in enumerate(header):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def markdown(header: Sequence[str], rows: Rows) -> str:
    """A table in Markdown; the first column to the left, the others to the right."""
    names = [column.replace("\n", " ") for column in header]
    ruler = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (names, ruler, *rows))


def percent(share: float | None) -> str:
    """A share in percent, or a dash."""
    return "-" if share is None else f"{100 * share:.1f}"


def _layout(
    by_network: Mapping[str, Scores], protocol: EvaluationProtocol
) -> tuple[Sequence[str], Rows, list[str]]:
    if len(by_network) == 1:
        ((network, scores),) = by_network.items()
        words = _words(replace(protocol, network=network), scores)
        if {"random", "full"} <= scores.keys():
            return _COLUMNS, _numbers(scores), [words, f"{_RECOVERY} {_NOTE}"]
        kept = [column for column in range(len(_COLUMNS)) if _COLUMNS[column] != "recovery\n%"]
        numbers = [tuple(row[column] for column in kept) for row in _numbers(scores)]
        return [_COLUMNS[column] for column in kept], numbers, [words, _NOTE]
    sets = next(iter(by_network.values()))
    rows: list[tuple[str, ...]] = [
        (name, *(_accuracy(scores[name]) for scores in by_network.values())) for name in sets
    ]
    found = [recovery(scores["condensed"], scores) for scores in by_network.values()]
    if any(share is not None for share in found):
        rows.append(("recovery of condensed", *map(percent, found)))
    header = ("accuracy % by", *(name.replace(":", "\n", 1) for name in by_network))
    return header, rows, [_words(replace(protocol, network="of each kind"), sets)]


def _words(protocol: EvaluationProtocol, scores: Scores) -> str:
    if "full" not in scores:
        return str(protocol)
    epochs = protocol.epochs_for(scores["full"].pictures, full=True)
    return f"{protocol}; full: {protocol.full_networks} networks, {epochs} epochs"


def _numbers(rows: Scores) -> Rows:
    return [
        (
            name,
            f"{score.pictures:,}",
            _accuracy(score),
            percent(recovery(score, rows)),
            *(f"{match.cramer_von_mises:.3f}" for match in (score.before, score.after)),
            *(f"{100 * match.extremes:.2f}" for match in (score.before, score.after)),
        )
        for name, score in rows.items()
    ]


def _accuracy(score: Score) -> str:
    return f"{100 * score.accuracy:.1f} ± {100 * score.deviation:.1f}"

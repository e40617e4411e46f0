"""The first things that a reader asks of condensed sets, answered in a line each."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from lqm.report.cases import Case
from lqm.report.latents import Latents
from lqm.report.standing import Bar, Standing
from lqm.report.tables import percent


@dataclass(frozen=True)
class Line:
    """What is so of one case.

    Attributes:
        case: its number.
        value: what is to be seen first.
        more: what follows it.
    """

    case: int
    value: str
    more: str = ""


@dataclass(frozen=True)
class Answer:
    """A question, what is so of each case, and what it is to be held against."""

    question: str
    lines: list[Line]
    note: str


def answers(
    cases: Sequence[Case], standing: Standing | None, latents: Latents | None, tested: int | None
) -> list[Answer]:
    """How good, how far from all real data, how well matched, and which class is worst.

    Args:
        cases: the sets.
        standing: what they scored, if they were evaluated.
        latents: what a fresh network finds in them, if the real data are at hand.
        tested: how many records the networks were tested on, if that is known.
    """
    bars = [standing.of_case(number) for number in range(len(cases))] if standing else [None] * len(cases)
    judged = {number: bar for number, bar in enumerate(bars) if bar}
    found = [_how_good(judged, cases, tested)]
    if standing and judged:
        found += [_how_far(judged, standing)]
    statistics = {number: bar.cramer_von_mises for number, bar in judged.items()}
    if latents and not judged:
        statistics = {number: mean for number, mean in enumerate(latents.means) if mean is not None}
    if statistics:
        found += [_how_matched(cases, statistics)]
    if any(bar.by_class for bar in judged.values()):
        found += [_worst_class(judged, cases, standing)]
    elif latents:
        found += [_worst_matched(cases, latents, evaluated=bool(judged))]
    return found


def _how_good(judged: dict[int, Bar], cases: Sequence[Case], tested: int | None) -> Answer:
    records = type_of_records(cases)
    if not judged:
        return Answer(
            "How good is it?",
            [Line(number, "not evaluated", "") for number in range(len(cases))],
            f"Run lqm evaluate {shlex.quote(str(cases[0].folder))} to find out.",
        )
    lines = [
        Line(number, f"{percent(bar.accuracy)} %", f"± {percent(bar.deviation)}")
        for number, bar in judged.items()
    ]
    of = f"the {tested:,} test {records}" if tested else f"the test {records}"
    return Answer("How good is it?", lines, f"So many of {of} are named rightly by networks trained on it.")


def _how_far(judged: dict[int, Bar], standing: Standing) -> Answer:
    full, records = standing.full, standing.protocol.records
    if full is None:
        return Answer(
            "How far from all real data?",
            [Line(number, "not measured") for number in judged],
            "Networks have not been trained on all of them yet: lqm evaluate with --baselines full.",
        )
    lines = []
    for number, bar in judged.items():
        lines.append(Line(number, in_points(bar.accuracy - full.accuracy), "points"))
    beside = "".join(
        f"; {bar.records:,} random ones, {percent(bar.accuracy)} %" for bar in standing.real("random")
    )
    note = f"All {full.records:,} real {records} give {percent(full.accuracy)} %{beside}."
    return Answer("How far from all real data?", lines, note)


def _how_matched(cases: Sequence[Case], statistics: dict[int, float]) -> Answer:
    lines = [Line(number, f"{statistic:.3f}") for number, statistic in statistics.items()]
    what = "Cramér-von Mises statistic of the latent features: 0 would be the real distribution."
    sizes = {cases[number].records for number in statistics}
    if len(sizes) > 1:
        what += " Only sets of as many records are to be compared by it."
    elif len(statistics) > 1:
        best, next_best = sorted(statistics, key=lambda number: statistics[number])[:2]
        if statistics[best] < statistics[next_best]:
            lower = 100 * (1 - statistics[best] / statistics[next_best])
            what += f" {cases[best].label} matches best, {lower:.0f} % lower than {cases[next_best].label}."
    return Answer("How well is the distribution matched?", lines, what)


def _worst_class(judged: dict[int, Bar], cases: Sequence[Case], standing: Standing | None) -> Answer:
    names = cases[0].small.class_names
    full = standing.full if standing else None
    lines, beside = [], []
    for number, bar in judged.items():
        shares = {label: share for label, share in enumerate(bar.by_class) if share is not None}
        if not shares:
            continue
        worst = min(shares, key=lambda label: shares[label])
        lines.append(Line(number, names[worst], f"{percent(shares[worst])} %"))
        if full and full.by_class and full.by_class[worst] is not None:
            beside.append(f"{percent(full.by_class[worst])} % ({names[worst]})")
    note = "By the share of its test records that is named rightly"
    note += f"; on all real data, {', '.join(dict.fromkeys(beside))}." if beside else "."
    return Answer("Which class is worst?", lines, note)


def _worst_matched(cases: Sequence[Case], latents: Latents, *, evaluated: bool) -> Answer:
    lines = []
    for number, matches in enumerate(latents.matches):
        means = {label: match.statistic.mean().item() for label, match in matches.items()}
        worst = max(means, key=lambda label: means[label])
        lines.append(Line(number, cases[number].small.class_names[worst], f"{means[worst]:.3f}"))
    yet = "." if evaluated else "; not evaluated yet."
    return Answer("Which class is worst?", lines, f"By its Cramér-von Mises statistic{yet}")


def in_points(difference: float) -> str:
    """A difference of two shares in points of a percent, with its sign.

    Example:
        >>> in_points(-0.0342)
        '−3.4'
    """
    return f"{100 * difference:+.1f}".replace("-", "\N{MINUS SIGN}")


def type_of_records(cases: Sequence[Case]) -> str:
    """What the sets hold, in one word."""
    return "pictures" if "per_class" in cases[0].manifest else "nodes"

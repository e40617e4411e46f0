"""The first things that a reader asks of condensed sets, answered in a line each."""

import shlex
from collections.abc import Sequence

from lqm.evaluation.cases import Case
from lqm.evaluation.latents import Latents
from lqm.evaluation.markdown import percent
from lqm.evaluation.spread import in_points
from lqm.evaluation.standing import Bar, Standing
from lqm.report.page.answer import Answer, Line, and_more, class_in_words
from lqm.report.page.contest import contest
from lqm.report.page.matched import how_matched, how_matched_by_one, worst_matched
from lqm.report.page.saving import time_saved
from lqm.utils.paths import shown_path

Bars = dict[int, Bar]


def answers(
    cases: Sequence[Case], standing: Standing | None, latents: Latents | None, tested: int | None
) -> list[Answer]:
    """How good, how far from all real data, how well matched, and which class is worst.

    The standing is by one protocol, if the sets were evaluated; `tested` is the number of test records, if
    it is known.
    """
    if standing is None:
        found = [_not_evaluated(cases)]
        if latents:
            found += [how_matched_by_one(cases, latents), *worst_matched(cases, latents)]
        return found
    bars = {number: standing.of_case(number) for number in range(len(cases))}
    known = {number: bar for number, bar in bars.items() if bar}
    others = [Line(i, "not evaluated", f"by {standing.protocol.name}") for i in bars if i not in known]
    found = [
        _how_good(known, cases, standing, tested),
        _how_far(known, cases, standing),
        *time_saved(known, cases, standing),
        how_matched(known, cases, standing),
        *_worst_class(known, cases, standing),
    ]
    return [
        Answer(each.question, sorted([*each.lines, *others], key=lambda line: line.case), each.note)
        for each in found
    ]


def _not_evaluated(cases: Sequence[Case]) -> Answer:
    return Answer(
        "How good is it?",
        [Line(number, "not evaluated") for number in range(len(cases))],
        f"Run lqm evaluate {shlex.quote(shown_path(cases[0].folder))} to find out.",
    )


def _how_good(bars: Bars, cases: Sequence[Case], standing: Standing, tested: int | None) -> Answer:
    lines = [
        Line(number, f"{percent(bar.accuracy)} %", bar.spread.percent().partition(" ")[2])
        for number, bar in bars.items()
    ]
    protocol = standing.protocol
    of = f"the {tested:,} test {protocol.records}" if tested else f"the test {protocol.records}"
    note = f"The share of {of} that networks trained on it name rightly ({protocol.name})."
    for size in sorted({bar.records for bar in bars.values()}):
        own = {number: bar for number, bar in bars.items() if bar.records == size}
        if standing.paired:
            note += _ahead(own, cases)
    missing = [case for number, case in enumerate(cases) if number not in bars]
    if missing:
        more = " and so on" if len(missing) > 1 else ""
        note += f"\n{_command(missing[0], standing)}{more} to evaluate the others."
    return Answer("How good is it?", lines, note)


def _ahead(bars: Bars, cases: Sequence[Case]) -> str:
    """A line that says which of some sets is best and by how much, if that is clear; none of a single one."""
    found = contest(bars, cases, lambda bar: bar.accuracy, lambda bar: bar.accuracies)
    if found is None:
        return ""
    best, other = found.best, found.next_best
    claim = f"{best.name} is {percent(best.mean - other.mean)} points ahead of {other.name}"
    return f"\n{found.sentence(claim, 'ahead')}."


def _how_far(bars: Bars, cases: Sequence[Case], standing: Standing) -> Answer:
    full, records = standing.full, standing.protocol.records
    if full is None:
        return Answer(
            "How far from all real data?",
            [Line(number, "not measured") for number in bars],
            f"{_command(cases[next(iter(bars))], standing, 'full')} to find out.",
        )
    lines = [Line(number, in_points(bar.accuracy - full.accuracy), "points") for number, bar in bars.items()]
    beside = "".join(
        f"; {bar.records:,} random ones, {percent(bar.accuracy)} %" for bar in standing.real("random")
    )
    note = f"All {full.records:,} real {records} give {percent(full.accuracy)} %{beside}."
    return Answer("How far from all real data?", lines, note)


def _command(case: Case, standing: Standing, baselines: str = "") -> str:
    """The command that evaluates a set, or real records beside it, without options that are its own."""
    protocol, usual = standing.protocol, case.manifest.get("evaluation", {})
    if protocol.network.startswith("own:"):
        beside = f" and baselines=('{baselines}',)" if baselines else ""
        return f"Call lqm.evaluate with the network {protocol.network[4:]}{beside}"
    options = {
        "protocol": "" if protocol.name == usual.get("name") else protocol.name,
        "networks": "" if protocol.network == usual.get("network") else protocol.network,
        "seed": standing.seeds[0] or "",
        "baselines": baselines,
    }
    given = "".join(f" --{name} {value}" for name, value in options.items() if value)
    return f"Run lqm evaluate {shlex.quote(shown_path(case.folder))}{given}"


def _worst_class(bars: Bars, cases: Sequence[Case], standing: Standing) -> list[Answer]:
    """None where no class is worse than another, or shares by class are not known."""
    names = cases[0].condensed.class_names
    full = standing.full
    lines, beside = [], []
    for number, bar in bars.items():
        shares = {label: share for label, share in enumerate(bar.by_class) if share is not None}
        worst = [label for label in shares if shares[label] == min(shares.values())]
        if len(worst) == len(shares):
            continue
        name = class_in_words(names[worst[0]])
        lines.append(Line(number, name + and_more(worst), f"{percent(shares[worst[0]])} %"))
        if full and full.by_class and full.by_class[worst[0]] is not None:
            beside.append(f"{name} {percent(full.by_class[worst[0]])} %")
    if not lines:
        return []
    note = "The share of its test records that is named rightly"
    note += f"; by networks trained on all real data: {', '.join(dict.fromkeys(beside))}." if beside else "."
    return [Answer("Which class is worst?", lines, note)]


def type_of_records(cases: Sequence[Case]) -> str:
    """What the sets hold, in one word."""
    return cases[0].evaluator.protocol_of(cases[0].condensed).records

"""The first things that a reader asks of condensed sets, answered in a line each."""

import shlex
from collections.abc import Sequence

from lqm.evaluation.cases import Case
from lqm.evaluation.latents import Latents
from lqm.evaluation.markdown import percent
from lqm.evaluation.standing import Bar, Standing
from lqm.report.page.answer import Answer, Line, and_more, class_in_words, in_points, told_apart
from lqm.report.page.matched import how_matched, how_matched_by_one, worst_matched

Judged = dict[int, Bar]


def answers(
    cases: Sequence[Case], standing: Standing | None, latents: Latents | None, tested: int | None
) -> list[Answer]:
    """How good, how far from all real data, how well matched, and which class is worst.

    Args:
        cases: the sets.
        standing: what they scored in one way of judging, if they were evaluated.
        latents: what a fresh network finds in them, if the real data are at hand.
        tested: how many records the networks were tested on, if that is known.
    """
    if standing is None:
        found = [_not_evaluated(cases)]
        if latents:
            found += [how_matched_by_one(cases, latents), *worst_matched(cases, latents)]
        return found
    bars = {number: standing.of_case(number) for number in range(len(cases))}
    judged = {number: bar for number, bar in bars.items() if bar}
    others = [
        Line(number, "not judged", f"by {standing.protocol.name}") for number in bars if not bars[number]
    ]
    found = [
        _how_good(judged, cases, standing, tested),
        _how_far(judged, cases, standing),
        how_matched(judged, cases, standing),
        *_worst_class(judged, cases, standing),
    ]
    return [
        Answer(each.question, sorted([*each.lines, *others], key=lambda line: line.case), each.note)
        for each in found
    ]


def _not_evaluated(cases: Sequence[Case]) -> Answer:
    return Answer(
        "How good is it?",
        [Line(number, "not evaluated") for number in range(len(cases))],
        f"Run lqm evaluate {_folder(cases[0])} to find out.",
    )


def _folder(case: Case) -> str:
    return shlex.quote(str(case.folder))


def _how_good(judged: Judged, cases: Sequence[Case], standing: Standing, tested: int | None) -> Answer:
    lines = [
        Line(number, f"{percent(bar.accuracy)} %", bar.spread.percent().partition(" ")[2])
        for number, bar in judged.items()
    ]
    protocol = standing.protocol
    of = f"the {tested:,} test {protocol.records}" if tested else f"the test {protocol.records}"
    note = f"The share of {of} that networks trained on it name rightly ({protocol.name}: {protocol.kind})."
    for size in sorted({bar.records for bar in judged.values()}):
        own = [bar for bar in judged.values() if bar.records == size]
        if len(own) > 1 and standing.paired and min(len(bar.accuracies) for bar in own) > 1:
            note += f"\n{_ahead(own)}"
    missing = [case for number, case in enumerate(cases) if number not in judged]
    if missing:
        more = " and so on" if len(missing) > 1 else ""
        note += f"\n{_command(missing[0], standing)}{more} to judge the others."
    return Answer("How good is it?", lines, note)


def _ahead(bars: Sequence[Bar]) -> str:
    """Which of some sets is best, by how much, and under how many networks: number j begins as the same."""
    worse, best = sorted(bars, key=lambda bar: bar.accuracy)[-2:]
    pairs = zip(best.accuracies, worse.accuracies, strict=False)
    said = f"{best.name} is {percent(best.accuracy - worse.accuracy)} points ahead of {worse.name}"
    return told_apart((best.name, worse.name), said, "ahead", [one > other for one, other in pairs]) + "."


def _how_far(judged: Judged, cases: Sequence[Case], standing: Standing) -> Answer:
    full, records = standing.full, standing.protocol.records
    if full is None:
        return Answer(
            "How far from all real data?",
            [Line(number, "not measured") for number in judged],
            f"{_command(cases[next(iter(judged))], standing, 'full')} to find out.",
        )
    lines = [
        Line(number, in_points(bar.accuracy - full.accuracy), "points") for number, bar in judged.items()
    ]
    beside = "".join(
        f"; {bar.records:,} random ones, {percent(bar.accuracy)} %" for bar in standing.real("random")
    )
    note = f"All {full.records:,} real {records} give {percent(full.accuracy)} %{beside}."
    return Answer("How far from all real data?", lines, note)


def _command(case: Case, standing: Standing, baselines: str = "") -> str:
    """What judges a set, or real records beside it, in one way; with what is not that of the set itself."""
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
    words = "".join(f" --{name} {value}" for name, value in options.items() if value)
    return f"Run lqm evaluate {_folder(case)}{words}"


def _worst_class(judged: Judged, cases: Sequence[Case], standing: Standing) -> list[Answer]:
    """None where no class is worse than another, or shares by class were not noted."""
    names = cases[0].condensed.class_names
    full = standing.full
    lines, beside = [], []
    for number, bar in judged.items():
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
    return "images" if "per_class" in cases[0].manifest else "nodes"

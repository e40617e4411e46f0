"""The first things that a reader asks of condensed sets, answered in a line each."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from lqm.report.cases import Case
from lqm.report.latents import Latents
from lqm.report.standing import Bar, Standing
from lqm.report.tables import percent
from lqm.scores import LatentMatch

Judged = dict[int, Bar]

_SIZES_DIFFER = "Only sets of as many records are to be compared by it."


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
        standing: what they scored in one way of judging, if they were evaluated.
        latents: what a fresh network finds in them, if the real data are at hand.
        tested: how many records the networks were tested on, if that is known.
    """
    if standing is None:
        found = [_not_evaluated(cases)]
        if latents:
            found += [_how_matched_by_one(cases, latents), *_worst_matched(cases, latents)]
        return found
    bars = {number: standing.of_case(number) for number in range(len(cases))}
    judged = {number: bar for number, bar in bars.items() if bar}
    others = [
        Line(number, "not judged", f"by {standing.protocol.name}") for number in bars if not bars[number]
    ]
    found = [
        _how_good(judged, standing, tested),
        _how_far(judged, cases, standing),
        _how_matched(judged, cases, standing),
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


def _how_good(judged: Judged, standing: Standing, tested: int | None) -> Answer:
    lines = [
        Line(number, f"{percent(bar.accuracy)} %", f"± {percent(bar.deviation)}")
        for number, bar in judged.items()
    ]
    protocol = standing.protocol
    of = f"the {tested:,} test {protocol.records}" if tested else f"the test {protocol.records}"
    note = f"The share of {of} that networks trained on it name rightly ({protocol.name}: {protocol.kind})."
    return Answer("How good is it?", lines, note)


def _how_far(judged: Judged, cases: Sequence[Case], standing: Standing) -> Answer:
    full, records = standing.full, standing.protocol.records
    if full is None:
        return Answer(
            "How far from all real data?",
            [Line(number, "not measured") for number in judged],
            _how_to_measure_full(cases[next(iter(judged))], standing),
        )
    lines = [
        Line(number, in_points(bar.accuracy - full.accuracy), "points") for number, bar in judged.items()
    ]
    beside = "".join(
        f"; {bar.records:,} random ones, {percent(bar.accuracy)} %" for bar in standing.real("random")
    )
    note = f"All {full.records:,} real {records} give {percent(full.accuracy)} %{beside}."
    return Answer("How far from all real data?", lines, note)


def _how_to_measure_full(case: Case, standing: Standing) -> str:
    """The command that adds all real data to a way of judging, with what is not that of the set itself."""
    protocol, usual = standing.protocol, case.manifest.get("evaluation", {})
    if protocol.network.startswith("own:"):
        return "Call lqm.evaluate with the same networks and baselines=('full',) to find out."
    options = {
        "protocol": "" if protocol.name == usual.get("name") else protocol.name,
        "networks": "" if protocol.network == usual.get("network") else protocol.network,
        "seed": standing.seeds[0] or "",
    }
    words = "".join(f" --{name} {value}" for name, value in options.items() if value)
    return f"Run lqm evaluate {_folder(case)}{words} --baselines full to find out."


def _how_matched(judged: Judged, cases: Sequence[Case], standing: Standing) -> Answer:
    notes = ["Cramér-von Mises statistic of the latent features before the training; lower is better."]
    sizes = sorted({bar.records for bar in judged.values()})
    if len(sizes) > 1:
        notes.append(_SIZES_DIFFER)
    for size in sizes:
        many = "As many" if len(sizes) == 1 else f"{size:,}"
        notes += [
            f"{many} random real ones: {statistic(bar.before)}."
            for bar in standing.real("random")
            if bar.records == size
        ]
        own = {number: bar for number, bar in judged.items() if bar.records == size}
        if len(own) > 1:
            before = _lowest({number: bar.before for number, bar in own.items()}, cases, standing.paired)
            after = _lowest({number: bar.after for number, bar in own.items()}, cases, standing.paired)
            notes.append(f"{before}; after the training, {after}.")
    return _matched({number: statistic(bar.before) for number, bar in judged.items()}, " ".join(notes))


def _lowest(matches: dict[int, LatentMatch], cases: Sequence[Case], paired: bool) -> str:
    """Which set is matched best, by how much, and under how many networks: a quarter at most may disagree."""
    best, next_best = sorted(matches, key=lambda number: matches[number].cramer_von_mises)[:2]
    names = cases[best].label, cases[next_best].label
    below, above = (matches[number].cramer_von_mises for number in (best, next_best))
    lower = round(100 * (1 - below / above)) if above else 0
    if lower == 0:
        return f"{names[0]} and {names[1]} are equal"
    said = f"{names[0]} is {lower} % lower than {names[1]}"
    pairs = list(zip(matches[best].by_network, matches[next_best].by_network, strict=False))
    if len(pairs) < 2 or not paired:
        return said
    under = sum(low < high for low, high in pairs)
    agreed = f"lower under {under} of {len(pairs)} networks"
    if under < 0.75 * len(pairs):
        return f"{names[0]} and {names[1]} can't be told apart ({names[0]} is {agreed})"
    return f"{said} ({agreed})"


def statistic(match: LatentMatch) -> str:
    """The Cramér-von Mises statistic, with its deviation over networks where it is known.

    Example:
        >>> statistic(LatentMatch(0.25, 0.0)), statistic(LatentMatch(0.25, 0.0, (0.2, 0.3)))
        ('0.250', '0.250 ± 0.050')
    """
    spread = f" ± {match.deviation:.3f}" if len(match.by_network) > 1 else ""
    return f"{match.cramer_von_mises:.3f}{spread}"


def _how_matched_by_one(cases: Sequence[Case], latents: Latents) -> Answer:
    found = {number: f"{mean:.3f}" for number, mean in enumerate(latents.means) if mean is not None}
    note = "Cramér-von Mises statistic of the latent features, by one network; lower is better."
    if len({case.records for case in cases}) > 1:
        note += f" {_SIZES_DIFFER}"
    return _matched(found, note)


def _matched(statistics: dict[int, str], note: str) -> Answer:
    lines = [Line(number, *found.split(" ", 1)) for number, found in statistics.items()]
    return Answer("How well is the distribution matched?", lines, note)


def _worst_class(judged: Judged, cases: Sequence[Case], standing: Standing) -> list[Answer]:
    """None where no class is worse than another, or shares by class were not noted."""
    names = cases[0].small.class_names
    full = standing.full
    lines, beside = [], []
    for number, bar in judged.items():
        shares = {label: share for label, share in enumerate(bar.by_class) if share is not None}
        worst = [label for label in shares if shares[label] == min(shares.values())]
        if len(worst) == len(shares):
            continue
        name = _class(names[worst[0]])
        lines.append(Line(number, name + and_more(worst), f"{percent(shares[worst[0]])} %"))
        if full and full.by_class and full.by_class[worst[0]] is not None:
            beside.append(f"{name} {percent(full.by_class[worst[0]])} %")
    if not lines:
        return []
    note = "The share of its test records that is named rightly"
    note += f"; by networks trained on all real data: {', '.join(dict.fromkeys(beside))}." if beside else "."
    return [Answer("Which class is worst?", lines, note)]


def _class(name: str) -> str:
    """The name of a class, which is not to be taken for a number."""
    return f"class {name}" if name[:1].isdigit() else name


def and_more(worst: Sequence[int]) -> str:
    """How many there are beside the first."""
    return f" and {len(worst) - 1} more" if len(worst) > 1 else ""


def _worst_matched(cases: Sequence[Case], latents: Latents) -> list[Answer]:
    """None where classes have different numbers of records, which the statistic grows with."""
    if len({len(match.own) for matches in latents.matches for match in matches.values()}) > 1:
        return []
    lines = []
    for number, matches in enumerate(latents.matches):
        means = {label: match.statistic.mean().item() for label, match in matches.items()}
        worst = max(means, key=lambda label: means[label])
        lines.append(Line(number, _class(cases[number].small.class_names[worst]), f"{means[worst]:.3f}"))
    note = "By its Cramér-von Mises statistic; not evaluated yet."
    return [Answer("Which class is worst matched?", lines, note)] if len(means) > 1 else []


def in_points(difference: float) -> str:
    """A difference of two shares in points of a percent, with its sign.

    Example:
        >>> in_points(-0.0342), in_points(-0.0001)
        ('−3.4', '+0.0')
    """
    return f"{round(100 * difference, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")


def type_of_records(cases: Sequence[Case]) -> str:
    """What the sets hold, in one word."""
    return "pictures" if "per_class" in cases[0].manifest else "nodes"

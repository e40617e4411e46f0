"""How well sets keep the latent distributions, in sentences."""

from collections.abc import Callable, Sequence

from lqm.evaluation.cases import Case
from lqm.evaluation.latents import LatentMatch, Latents
from lqm.evaluation.standing import Bar, Standing
from lqm.report.page.answer import Answer, Line, class_in_words
from lqm.report.page.contest import contest

_SIZES_DIFFER = "Only sets of as many records are to be compared by it."


def how_matched(bars: dict[int, Bar], cases: Sequence[Case], standing: Standing) -> Answer:
    """By all networks of an evaluation, before and after the training, among sets of as many records."""
    note = "Cramér-von Mises statistic of the latent features before the training; lower is better."
    sizes = sorted({bar.records for bar in bars.values()})
    if len(sizes) > 1:
        note += f" {_SIZES_DIFFER}"
    for size in sizes:
        many = "As many" if len(sizes) == 1 else f"{size:,}"
        lines = [
            f"{many} random real ones: {bar.before.statistic.shown(3)}."
            for bar in standing.real("random")
            if bar.records == size
        ]
        own = {number: bar for number, bar in bars.items() if bar.records == size}
        if standing.paired:
            before, after = (
                _lowest(own, cases, lambda bar: bar.before),
                _lowest(own, cases, lambda bar: bar.after),
            )
            lines += [f"{before}."] * bool(before) + [f"After the training, {after}."] * bool(after)
        note += f"\n{' '.join(lines)}" if lines else ""
    return _matched({number: bar.before.statistic.shown(3) for number, bar in bars.items()}, note)


def _lowest(bars: dict[int, Bar], cases: Sequence[Case], match: Callable[[Bar], LatentMatch]) -> str:
    """Which set is matched best and by how much, if that is clear; nothing where networks are not known."""
    found = contest(
        bars,
        cases,
        lambda bar: match(bar).cramer_von_mises,
        lambda bar: match(bar).by_network,
        lowest=True,
    )
    if found is None:
        return ""
    best, other = found.best, found.next_best
    lower = round(100 * (1 - best.mean / other.mean)) if other.mean else 0
    if lower == 0:
        return f"{best.name} and {other.name} are equal"
    return found.sentence(f"{best.name} is {lower} % lower than {other.name}", "lower")


def how_matched_by_one(cases: Sequence[Case], latents: Latents) -> Answer:
    """By the one network of the explorer, which is too few to compare by."""
    found = {number: f"{mean:.3f}" for number, mean in enumerate(latents.means) if mean is not None}
    note = "Cramér-von Mises statistic of the latent features, by one network; lower is better."
    if len({case.records for case in cases}) > 1:
        note += f" {_SIZES_DIFFER}"
    return _matched(found, note)


def _matched(statistics: dict[int, str], note: str) -> Answer:
    lines = [Line(number, *found.split(" ", 1)) for number, found in statistics.items()]
    return Answer("How well is the distribution matched?", lines, note)


def worst_matched(cases: Sequence[Case], latents: Latents) -> list[Answer]:
    """The worst class of each; none where classes differ in their records, which the statistic grows with."""
    if len({len(match.own) for matches in latents.matches for match in matches.values()}) > 1:
        return []
    lines = []
    for number, matches in enumerate(latents.matches):
        means = {label: match.statistic.mean().item() for label, match in matches.items()}
        worst = max(means, key=lambda label: means[label])
        lines.append(
            Line(number, class_in_words(cases[number].condensed.class_names[worst]), f"{means[worst]:.3f}")
        )
    note = "By its Cramér-von Mises statistic; not evaluated yet."
    return [Answer("Which class is worst matched?", lines, note)] if len(means) > 1 else []

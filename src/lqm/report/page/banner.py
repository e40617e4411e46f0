"""The banner of the page: what each set is worth, in one line, and whether that is good."""

from collections.abc import Sequence
from dataclasses import dataclass

from lqm.evaluation.cases import Case, alike
from lqm.evaluation.labels import mosaics_of
from lqm.evaluation.significance import Difference, welch
from lqm.evaluation.spread import in_points
from lqm.evaluation.standing import Bar, Standing
from lqm.evaluation.table import CONDENSED
from lqm.evaluation.verdict import verdict_of

# What a banner says before its line, by the tone that colours it.
WORDS = {"good": "Better", "even": "No gain shown", "bad": "Worse", "open": "Not compared"}
_CLEARLY = {
    "good": "clearly better",
    "even": "not to be told apart",
    "bad": "clearly WORSE",
    "open": "not compared",
}


@dataclass(frozen=True)
class Verdict:
    """A line about a set, or about runs that differ by their seed alone.

    Attributes:
        tone: `good`, `even` (not to be told from random records), `bad`, `open` (not compared) or `plain`.
        gain: accuracy beyond that of as many random records, if that is known.
    """

    tone: str
    line: str
    gain: float | None = None

    @property
    def word(self) -> str:
        """The tone in words, for those who see no colour."""
        return WORDS.get(self.tone, "")


def tone_of(difference: Difference) -> str:
    """Whether a difference to random records is good, as far as a test at 5 % tells."""
    if not difference.clear:
        return "even"
    return "good" if difference.mean > 0 else "bad"


def verdicts(cases: Sequence[Case], standing: Standing | None) -> list[Verdict]:
    """A line for each set; of runs that differ by their seed alone, one for all of them.

    By the protocol of the standing, if sets were evaluated by it.
    """
    each = [_verdict(case, number, standing) for number, case in enumerate(cases)]
    groups = alike(cases)
    if len(groups) == len(cases):
        named = len(cases) > 1
        return [
            Verdict(found.tone, f"{case.label}: " * named + found.line)
            for case, found in zip(cases, each, strict=True)
        ]
    return [
        _of_runs(
            label,
            [each[number].tone for number in numbers],
            [gain for number in numbers if (gain := each[number].gain) is not None],
            standing.protocol.records if standing else "records",
        )
        for label, numbers in groups.items()
    ]


def _verdict(case: Case, number: int, standing: Standing | None) -> Verdict:
    bar = standing.of_case(number) if standing else None
    if standing is None or bar is None:
        return Verdict("open", "not evaluated")
    random = _random(case, standing)
    real = {"full": standing.full, "random": random}
    scores = {CONDENSED: bar} | {name: own for name, own in real.items() if own}
    remedies = case.evaluator.remedies_of(case.condensed)
    line = verdict_of(scores, standing.protocol.records, remedies, mosaics_of(case.condensed))
    difference = welch(bar.spread, random.spread) if random else None
    return Verdict(tone_of(difference), line, difference.mean) if difference else Verdict("open", line)


def _random(case: Case, standing: Standing) -> Bar | None:
    """What as many random real records scored, if that was measured."""
    size = int((case.condensed.labels >= 0).sum())
    return next((own for own in standing.real("random") if own.records == size), None)


def _of_runs(label: str, tones: Sequence[str], gains: Sequence[float], records: str) -> Verdict:
    """One line about runs that differ by their seed alone: by how much, and how many are clearly so."""
    if not gains:
        return Verdict("open", f"{label}, {len(tones)} runs: not compared with random {records}")
    least, most = in_points(min(gains)), in_points(max(gains))
    span = least if least == most else f"{least} to {most}"
    parts = [
        f"{words} in {tones.count(tone)} of {len(tones)} runs"
        for tone, words in _CLEARLY.items()
        if tone in tones
    ]
    worst = next(tone for tone in ("bad", "open", "even", "good") if tone in tones)
    return Verdict(worst, f"{label}: {span} points over as many random {records}; {', '.join(parts)}")

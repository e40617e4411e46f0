"""What is compared with what: sides that differ in the distance, or else in the method, in pairs by seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from lqm.evaluation.labels import Config, budget_of, distance_of, distinct_labels, key_of
from lqm.evaluation.paired import Paired, holm, interval_in_words, p_in_words
from lqm.evaluation.significance import LEVEL
from lqm.evaluation.spread import in_points

_BASE = "mean"
_PARTS = ("method", "distance", "steps", "settings")
COLUMNS = ("side", "against", "points", "95 % by t", "bootstrap", "pairs", "p", "Holm p", "verdict")
NOTE = (
    "points: accuracy of a side less that of what it is against, the mean over pairs, which have the "
    "condensation seed, the sketch or experts if any, and the evaluation seeds in common; 95 % intervals of "
    "the mean by Student's t and by the bootstrap, which is too short for fewer than 6 pairs; p: sign-flip "
    "permutation test, and by Holm's rule over the table; better or worse: the t interval leaves out 0."
)


@dataclass(frozen=True)
class Side:
    """Runs that differ by their seed alone.

    Attributes:
        config: of one of them.
        folder: of one of them, which names the side if nothing else does.
        scores: by `pair_of` each run, and then by evaluation seed.
    """

    config: Config
    folder: Path
    scores: dict[str, dict[int, float]]


@dataclass(frozen=True)
class Contrast:
    """One side beside another.

    Attributes:
        side: its name.
        against: what the other has instead: a distance or a method.
        paired: the differences, side less the other, one a pair.
        holm: the p-value by Holm's rule over all contrasts that were found together.
    """

    side: str
    against: str
    paired: Paired
    holm: float

    @property
    def cells(self) -> tuple[str, ...]:
        """A row of a table with `COLUMNS`."""
        found = self.paired
        return (
            self.side,
            self.against,
            in_points(found.mean),
            interval_in_words(found.interval),
            interval_in_words(found.bootstrap),
            str(found.pairs),
            p_in_words(found.p),
            p_in_words(self.holm),
            found.verdict,
        )


def pair_of(config: Config, repeat: int = 0) -> str:
    """What both runs of a pair have in common: the seed, and the bank with the encoders."""
    return key_of([config["seed"] + repeat, config.get("sketch"), config.get("experts")])


def contrasts(sides: Sequence[Side]) -> list[Contrast]:
    """Every side against the one with the distance `mean` that is like it otherwise, or else the first such.

    A side that has no other with another distance stands against the first one with another method. What
    has fewer than two pairs is left out.
    """
    labels = distinct_labels(
        [{name: part for name, part in side.config.items() if name != "seed"} for side in sides],
        [side.folder for side in sides],
    )
    found = []
    for number, side in enumerate(sides):
        base = _base(number, sides)
        differences = [] if base is None else _differences(side, sides[base])
        if base is not None and len(differences) > 1:
            short = _short(side.config, sides[base].config) or labels[base]
            found.append((labels[number], short, Paired(tuple(differences))))
    adjusted = holm([paired.p for *_, paired in found])
    return [Contrast(*each, p) for each, p in zip(found, adjusted, strict=True)]


def least_ps(found: Sequence[Contrast]) -> str:
    """How small p-values can be where pairs are too few for one below 5 %; nothing if there are enough."""
    few = sorted({each.paired.pairs for each in found if each.paired.least_p > LEVEL})
    return "; ".join(f"{pairs} pairs give no p below 1/{2 ** (pairs - 1)}" for pairs in few)


def _base(number: int, sides: Sequence[Side]) -> int | None:
    """The number of the side that another stands against; None if it is such a one itself."""
    for part in ("distance", "method"):
        alike = [
            other
            for other, side in enumerate(sides)
            if other == number or _differing(side.config, sides[number].config) == {part}
        ]
        if len(alike) > 1:
            base = next((n for n in alike if distance_of(sides[n].config) == _BASE), alike[0])
            return None if base == number else base
    return None


def _differing(one: Config, other: Config) -> set[str]:
    """The parts in which two runs differ; of two methods, settings that one of them has not don't count."""
    parts = {name for name in _PARTS if key_of(one.get(name)) != key_of(other.get(name))}
    parts |= {"budget"} if budget_of(one) != budget_of(other) else set()
    parts |= {"sketch"} if ("sketch" in one) != ("sketch" in other) else set()
    own, others = one["settings"], other["settings"]
    if "method" in parts and all(own[name] == others[name] for name in own.keys() & others.keys()):
        parts -= {"settings"}
    return parts


def _differences(side: Side, base: Side) -> list[float]:
    """One for each pair that was evaluated by a common seed; the mean over these."""
    found = []
    for pair in sorted(side.scores.keys() & base.scores.keys()):
        own, other = side.scores[pair], base.scores[pair]
        if seeds := own.keys() & other.keys():
            found.append(fmean(own[s] for s in seeds) - fmean(other[s] for s in seeds))
    return found


def _short(side: Config, base: Config) -> str | None:
    """What the base has instead, if its name says so."""
    if side["method"] != base["method"]:
        return str(base["method"])
    return distance_of(base) if distance_of(side) != distance_of(base) else None

"""What a condensed set is worth, in one line: better than random real records, no better, or worse."""

from collections.abc import Mapping

from lqm.evaluation.scores import Score
from lqm.evaluation.significance import Difference, welch
from lqm.evaluation.spread import in_points


def verdict_of(scores: Mapping[str, Score], records: str, remedies: str, mosaics: int | None = None) -> str:
    """One line about the `condensed` set, from its score beside those of `random` and all (`full`) records.

    Two sets can't be told apart if 0 is in the 95 % interval, by Welch, of the difference of their accuracies
    over networks. What was not evaluated is left out, and named if it is the random records.

    Args:
        scores: by the name of the training set.
        records: what the sets hold, in one word.
        remedies: what to try where condensing gained nothing.
        mosaics: how many mosaics the condensed records are cells of, if they are.

    Example:
        >>> from lqm.evaluation.latents import LatentMatch
        >>> match = LatentMatch(0.1, 0.0)
        >>> own = Score(20, (0.80, 0.82), match, match)
        >>> verdict_of({"condensed": own, "random": Score(20, (0.5, 0.52), match, match)}, "images", "...")
        '+30.0 points over 20 random images'
    """
    condensed, random, full = (scores.get(name) for name in ("condensed", "random", "full"))
    if condensed is None:
        raise ValueError("there is no score of a condensed set")
    beyond = f", {_beside_all(condensed, full)}" if full else ""
    made_of = f" ({records_in_words(condensed.records, records, mosaics)})" if mosaics else ""
    if random is None:
        found = f"accuracy {100 * condensed.accuracy:.1f} %{made_of}{beyond}"
        return f"{found}; not compared with random {records}: evaluate with the baseline random"
    real = f"{random.records:,} random {records}"
    tell = f"a protocol of more networks, {remedies}"
    return beside_random(welch(condensed.spread, random.spread), real, remedies, tell, made_of, beyond)


def beside_random(
    difference: Difference,
    real: str,
    remedies: str,
    tell: str,
    made_of: str = "",
    beyond: str = "",
    unit: str = "network",
) -> str:
    """One line about records beside random ones, from the difference of their accuracies.

    Args:
        difference: over networks, or other units.
        real: the random records, in words.
        remedies: what to try where the records are worse.
        tell: what to try where that can't be told.
        made_of: what follows the random records in the line.
        beyond: how the records stand beside all real ones; not said of records that are worse.
        unit: what each of the accuracies is of.

    Example:
        >>> beside_random(Difference(-0.05, 0.01), "4 random nodes", "more steps", "more repeats")
        'WORSE than 4 random nodes (−5.0 points): do not use this set (try more steps)'
    """
    points = f"{in_points(difference.mean)} points"
    if difference.margin is None:
        return f"{_over(difference, real)}{made_of} by one {unit}, which is too few to tell{beyond}"
    if not (difference.mean or difference.margin):
        return f"level with {real}, {unit} by {unit}{made_of}{beyond}: no gain shown"
    if not difference.clear:
        noise = f"{points}, within the noise of {100 * difference.margin:.1f} over {unit}s"
        return f"can't be told from {real} ({noise}){made_of}{beyond}: no gain shown (try {tell})"
    if difference.mean < 0:
        return f"WORSE than {real} ({points}){made_of}: do not use this set (try {remedies})"
    return f"{_over(difference, real)}{made_of}{beyond}"


def records_in_words(count: int, records: str, mosaics: int | None = None) -> str:
    """How many records a set has, and of how many mosaics they are cells.

    Example:
        >>> records_in_words(400, "images"), records_in_words(400, "images", 100)
        ('400 images', '100 mosaics = 400 images')
    """
    return (f"{mosaics:,} mosaics = " if mosaics else "") + f"{count:,} {records}"


def _over(difference: Difference, real: str) -> str:
    points = _points(difference)
    if points > 0:
        return f"{in_points(difference.mean)} points over {real}"
    return f"{-points:.1f} points below {real}" if points else f"level with {real}"


def _beside_all(condensed: Score, full: Score) -> str:
    difference = welch(condensed.spread, full.spread)
    points, whole = _points(difference), f"all {full.records:,}"
    if not points:
        return f"level with {whole}"
    margin = difference.margin
    noise = "" if margin is None or difference.clear else f" (within the noise of {100 * margin:.1f})"
    return f"{abs(points):.1f} {'below' if points < 0 else 'above'} {whole}{noise}"


def _points(difference: Difference) -> float:
    return round(100 * difference.mean, 1)

"""Scores of training sets: from the findings of networks, and over several networks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isnan
from statistics import fmean
from typing import Any, Protocol, TypeVar

from torch import Tensor

from lqm.evaluation.confusion import Confused, confusions, mean_confusions, to_stored, unflattened
from lqm.evaluation.latents import LatentMatch
from lqm.evaluation.score_cache import Finding
from lqm.evaluation.spread import Spread

R = TypeVar("R")


class AfterEach(Protocol):
    """Is told how many networks have a score, the numbers of the last one, and whether that was cached."""

    def __call__(self, done: int, metrics: Mapping[str, float], *, cached: bool) -> None: ...  # noqa: D102


@dataclass(frozen=True)
class Score:
    """The score of one set by one protocol.

    The match is measured on the features of the protocol's networks `before` their training, which are the
    same for every set, and `after` it, as the paper does.

    Attributes:
        records: how many the networks were trained on.
        accuracies: of each network.
        by_class: the accuracy on each class, as the mean over networks; None if it has no test records.
        predicted: the share of the test records that is predicted as each class, as the mean over networks;
            empty of scores of older versions.
        best: the highest accuracy that each network had at any test along its training, where there were such
            tests. It is chosen on test records, as some papers do: to be held beside theirs, and for nothing
            else.
        confused: the pairs of classes that networks confuse, as the mean over networks; empty of scores of
            older versions. A manifest has the most frequent ones.
        training_seconds: of training one network, as the mean over networks; None where it is not known.
        seconds: of training and testing the networks, whenever that was; None where it is not known. A
            manifest does not have it.
    """

    records: int
    accuracies: tuple[float, ...]
    before: LatentMatch
    after: LatentMatch
    by_class: tuple[float | None, ...] = ()
    predicted: tuple[float, ...] = ()
    best: tuple[float, ...] = ()
    confused: tuple[Confused, ...] = ()
    training_seconds: float | None = field(default=None, compare=False)
    seconds: float | None = field(default=None, compare=False)

    @property
    def stored(self) -> dict[str, Any]:
        """As a manifest stores it."""
        whole = asdict(self)
        del whole["seconds"]
        for name in ("best", "training_seconds"):
            if not whole[name]:
                del whole[name]
        return whole | {"confused": to_stored(self.confused)}

    @property
    def knows_confused(self) -> bool:
        """Whether the pairs of classes are known: those of older versions are, if none was confused."""
        return bool(self.confused) or min(self.accuracies) == 1

    @property
    def spread(self) -> Spread:
        """The accuracy over networks."""
        return Spread(self.accuracies)

    @property
    def accuracy(self) -> float:
        """Mean over networks."""
        return self.spread.mean

    @property
    def deviation(self) -> float | None:
        """Sample standard deviation over networks; None for a single one."""
        return self.spread.deviation


def score_networks(
    networks: int,
    evaluate: Callable[[int], tuple[int, Finding]],
    after_each: Callable[[int, Mapping[str, float]], None],
) -> Score:
    """The score of several networks; `evaluate(j)` gives the number of training records and the finding."""
    scores = []
    for j in range(networks):
        records, found = evaluate(j)
        before, after = (LatentMatch(cvm, out, (cvm,)) for cvm, out in (found["before"], found["after"]))
        by_class = tuple(None if isnan(share) else share for share in found["by_class"])
        # What an older version has cached knows no predictions, no confusions and no seconds.
        predicted = tuple(found.get("predicted", ()))
        shares = by_class, predicted, tuple(found.get("best", ())), unflattened(found.get("confused", []))
        (training,), (seconds,) = (found.get(name, [None]) for name in ("training", "seconds"))
        scores.append(Score(records, tuple(found["accuracy"]), before, after, *shares, training, seconds))
        after_each(j + 1, {"accuracy": scores[-1].accuracy})
    return together(scores)


def together(scores: Sequence[Score]) -> Score:
    """One score of the networks of several: accuracies after each other, the mean of all else."""
    shares = [score.by_class for score in scores if score.by_class]
    predicted = [score.predicted for score in scores]
    confused = [score.confused for score in scores] if all(each.knows_confused for each in scores) else []
    training = [
        (score.training_seconds, len(score.accuracies))
        for score in scores
        if score.training_seconds is not None
    ]
    seconds = [score.seconds for score in scores if score.seconds is not None]
    return Score(
        scores[0].records,
        tuple(accuracy for score in scores for accuracy in score.accuracies),
        _mean([score.before for score in scores]),
        _mean([score.after for score in scores]),
        tuple(
            fmean(known) if (known := [share for share in column if share is not None]) else None
            for column in zip(*shares, strict=True)
        ),
        tuple(fmean(column) for column in zip(*predicted, strict=True)) if all(predicted) else (),
        tuple(best for score in scores for best in score.best) if all(score.best for score in scores) else (),
        mean_confusions(confused),
        fmean(*zip(*training, strict=True)) if len(training) == len(scores) else None,
        sum(seconds) if len(seconds) == len(scores) else None,
    )


def finding(
    named: Tensor,
    labels: Tensor,
    classes: int,
    before: LatentMatch,
    after: LatentMatch,
    training_seconds: float | None = None,
) -> Finding:
    """What one network found, as plain numbers; the accuracy on a class without test records is NaN.

    Shapes: named (the predicted classes of the test records) [N], labels [N].
    """
    right = named == labels
    correct = labels[right].bincount(minlength=classes).double()
    return {
        "accuracy": [right.double().mean().item()],
        "by_class": (correct / labels.bincount(minlength=classes)).tolist(),
        "predicted": (named.bincount(minlength=classes).double() / len(named)).tolist(),
        "before": [before.cramer_von_mises, before.extremes],
        "after": [after.cramer_von_mises, after.extremes],
        "confused": [number for pair in confusions(named, labels, classes) for number in pair],
        **({} if training_seconds is None else {"training": [training_seconds]}),
    }


def for_each_network(rule: str, choose: Callable[[int], R]) -> Callable[[int], R]:
    """The records of network j: other `random` ones for each, else those that are chosen once."""
    if rule == "random":
        return choose
    chosen = choose(0)
    return lambda j: chosen


def recovery(score: Score, rows: Mapping[str, Score]) -> float | None:
    """(accuracy - random) / (full - random), where both are known and apart."""
    random, full = rows.get("random"), rows.get("full")
    if random is None or full is None or full.accuracy == random.accuracy:
        return None
    return (score.accuracy - random.accuracy) / (full.accuracy - random.accuracy)


def _mean(matches: Sequence[LatentMatch]) -> LatentMatch:
    by_network = [match.by_network for match in matches]
    return LatentMatch(
        fmean(match.cramer_von_mises for match in matches),
        fmean(match.extremes for match in matches),
        tuple(statistic for own in by_network for statistic in own) if all(by_network) else (),
    )

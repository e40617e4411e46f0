"""Which classes networks confuse: whole matrices of few classes, the most frequent pairs of many."""

from collections.abc import Sequence
from typing import Any

from lqm.evaluation.cases import Case, alike
from lqm.evaluation.confusion import most_confused
from lqm.evaluation.scores import Score, together
from lqm.evaluation.standing import Standing

Content = dict[str, Any]

# Classes of which a matrix is drawn, and pairs that are shown of more classes.
_CLASSES, _PAIRS = 20, 15


def confusion(standing: Standing, cases: Sequence[Case]) -> list[Content]:
    """A matrix, or the most frequent pairs, for all runs that differ by their seed alone.

    A group of which one run was evaluated by an older version, which knew no pairs, is left out.
    """
    classes = len(cases[0].condensed.class_names)
    found = []
    for label, numbers in alike(cases).items():
        bars = [bar for number in numbers if (bar := standing.of_case(number))]
        if not bars or not all(bar.knows_confused and bar.by_class for bar in bars):
            continue
        whole = together(bars)
        found.append(
            {
                "case": numbers[0],
                "name": label,
                "runs": len(bars),
                "networks": len(whole.accuracies),
                "matrix": _matrix(whole, classes) if classes <= _CLASSES else None,
                "pairs": [list(pair) for pair in most_confused(whole.confused, _PAIRS)],
            }
        )
    return found


def _matrix(score: Score, classes: int) -> list[list[float | None]]:
    """The share of each class that is predicted as each; None in the row of a class without test records."""
    shares = {(label, named): share for label, named, share in score.confused}
    shares |= {(label, label): share for label, share in enumerate(score.by_class) if share is not None}
    known = [share is not None for share in score.by_class]
    return [
        [shares.get((label, named), 0.0) if known[label] else None for named in range(classes)]
        for label in range(classes)
    ]

"""The paper's question on real data: mean matching and latent quantile matching on the digits, in pairs."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from lqm.api.condense import condense
from lqm.api.evaluate import Scores, evaluate
from lqm.api.report import write_report
from lqm.api.sketch import sketch
from lqm.evaluation.paired import Paired
from lqm.evaluation.protocol import Protocol
from lqm.evaluation.scores import Score
from lqm.evaluation.spread import Spread
from lqm.images.sources import load_source
from lqm.report.tables import plain_table
from lqm.utils.log import say

_PER_CLASS, _ENCODERS, _SEEDS = 10, 100, 3
_DISTANCES = ("mean", "lqm")


def demo(out: Path, seed: int = 0) -> None:
    """Condense the digits by both distances under several seeds, compare, and write the page to `out`.

    Sets of one seed share init, encoders and the seeds of the networks that evaluate them.
    """
    console = Console()
    source = load_source("digits")
    seeds = range(seed, seed + _SEEDS)
    console.print(
        f"{len(source.train.labels):,} handwritten digits become {_PER_CLASS} synthetic ones a class, "
        f"{_SEEDS} times by mean matching and {_SEEDS} times by latent quantile matching, from one sketch."
    )
    sketch(source, encoders=_ENCODERS, max_per_class=_PER_CLASS, seed=seed, out=out / "sketch")
    runs, found = [], []
    for each in seeds:
        scores: Scores = {}
        for distance in _DISTANCES:
            runs.append(out / f"{distance}-seed-{each}")
            condensed = condense(
                source,
                distance=distance,
                per_class=_PER_CLASS,
                sketch=out / "sketch",
                seed=each,
                out=runs[-1],
            )
            last = distance == _DISTANCES[-1]
            beside = ("random", "full") if last and each == seed else ("random",) if last else ()
            evaluation = evaluate(condensed, seed=each, baselines=beside)
            scores |= evaluation.baselines | {f"by {distance}": evaluation.score}
        found.append(scores)
    console.print(_table(seeds, found, evaluation.protocol))
    mean, lqm = ([scores[f"by {distance}"].accuracy for scores in found] for distance in _DISTANCES)
    paired = Paired(tuple(q - m for m, q in zip(mean, lqm, strict=True)))
    console.print(f"by lqm less by mean: {paired}: {paired.verdict}", highlight=False, markup=False)
    page = write_report(runs, out / "report.html", source=source)
    say(f"wrote {page}; open it in a browser")


def _table(seeds: range, found: list[Scores], protocol: Protocol) -> Table:
    """The accuracy of every seed, and of a row over its seeds; the least row first."""
    rows: dict[str, dict[int, Score]] = {}
    for each, scores in zip(seeds, found, strict=True):
        for name, score in scores.items():
            rows.setdefault(name, {})[each] = score
    spreads = {name: Spread(tuple(score.accuracy for score in own.values())) for name, own in rows.items()}
    header = ("trained on", "images", *(f"seed {each}" for each in seeds), "accuracy %")
    cells = [
        (
            name,
            f"{next(iter(rows[name].values())).records:,}",
            *(f"{100 * rows[name][each].accuracy:.1f}" if each in rows[name] else "" for each in seeds),
            spreads[name].percent(),
        )
        for name in sorted(rows, key=lambda name: spreads[name].mean)
    ]
    how = (
        f"{protocol.name}: {protocol.networks} fresh {protocol.kind} a set, {protocol.epochs} epochs each at "
        f"rate {protocol.learning_rate:g}; full: all real images, {protocol.full_networks} networks; "
        "accuracy: mean ± sample standard deviation over seeds"
    )
    return plain_table(header, cells, how)

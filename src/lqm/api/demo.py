"""The paper's question on real data: mean matching and latent quantile matching on the digits, in pairs."""

from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from lqm.api.condense import condense
from lqm.api.evaluate import evaluate
from lqm.api.evaluation_result import Scores
from lqm.api.report import write_report
from lqm.api.sketch import sketch
from lqm.evaluation.paired import Paired
from lqm.evaluation.protocol import Protocol
from lqm.evaluation.spread import Spread
from lqm.executors.executor import computing_with
from lqm.images.sources import load_source
from lqm.report.tables import plain_table
from lqm.utils.sentences import counted

_PER_CLASS, _SEEDS = 10, 3
# Few enough that one slow core takes less than three minutes. Networks this small gain nothing from a second
# thread, and lose much where something else computes beside them.
_ENCODERS, _STEPS, _NETWORKS, _THREADS = 100, 150, 2, 1
_DISTANCES = ("mean", "lqm")


@dataclass(frozen=True)
class DemoResult:
    """What the demo has found.

    Attributes:
        scores: of each seed, by training set.
        paired: accuracy by lqm less that by mean, seed by seed.
        page: the report.
    """

    seeds: range
    scores: list[Scores]
    protocol: Protocol
    paired: Paired
    page: Path

    @property
    def spreads(self) -> dict[str, Spread]:
        """The accuracy by training set over seeds, the least first."""
        found: dict[str, list[float]] = {}
        for scores in self.scores:
            for name, score in scores.items():
                found.setdefault(name, []).append(score.accuracy)
        spreads = {name: Spread(tuple(each)) for name, each in found.items()}
        return dict(sorted(spreads.items(), key=lambda pair: pair[1].mean))

    def records(self, name: str) -> int:
        """How many a training set has."""
        return next(scores[name].records for scores in self.scores if name in scores)


def introduction() -> str:
    """What is about to be done."""
    return (
        f"{len(load_source('digits').train.labels):,} handwritten digits become {_PER_CLASS} synthetic ones "
        f"a class, {_SEEDS} times by mean matching and {_SEEDS} times by latent quantile matching, from one "
        "sketch."
    )


@computing_with(_THREADS)
def demo(out: Path, seed: int = 0, *, show_progress: bool = True) -> DemoResult:
    """Condense the digits by both distances under several seeds, compare, and write the page to `out`.

    Sets of one seed share init, encoders and the seeds of the networks that evaluate them.
    """
    source = load_source("digits")
    seeds = range(seed, seed + _SEEDS)
    sketch(
        source,
        encoders=_ENCODERS,
        max_per_class=_PER_CLASS,
        seed=seed,
        out=out / "sketch",
        show_progress=show_progress,
    )
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
                settings={"steps": _STEPS},
                out=runs[-1],
                show_progress=show_progress,
            )
            last = distance == _DISTANCES[-1]
            beside = ("random", "full") if last and each == seed else ("random",) if last else ()
            evaluation = evaluate(
                condensed, seed=each, repeats=_NETWORKS, baselines=beside, show_progress=show_progress
            )
            scores |= evaluation.baselines | {f"by {distance}": evaluation.score}
        found.append(scores)
    mean, lqm = ([scores[f"by {distance}"].accuracy for scores in found] for distance in _DISTANCES)
    paired = Paired(tuple(q - m for m, q in zip(mean, lqm, strict=True)))
    page = write_report(runs, out / "report.html", source=source)
    return DemoResult(seeds, found, evaluation.protocol, paired, page)


def demo_table(result: DemoResult) -> Table:
    """The accuracy of every seed, and of a row over its seeds; the least row first."""
    seeds, protocol = result.seeds, result.protocol
    header = ("trained on", "images", *(f"seed {each}" for each in seeds), "accuracy %")
    cells = [
        (
            name,
            f"{result.records(name):,}",
            *(f"{100 * scores[name].accuracy:.1f}" if name in scores else "" for scores in result.scores),
            spread.percent(),
        )
        for name, spread in result.spreads.items()
    ]
    how = (
        f"{protocol.name}: {protocol.networks} fresh {protocol.kind} a set, {protocol.epochs} epochs each at "
        f"rate {protocol.learning_rate:g}; full: all real images, "
        f"{counted(protocol.full_networks, 'network', 'networks')}; "
        "accuracy: mean ± sample standard deviation over seeds"
    )
    return plain_table(header, cells, how)

"""The paper's point on real data: mean matching and latent quantile matching side by side, on the digits."""

from pathlib import Path

from rich.console import Console

from lqm.api.condense import condense
from lqm.api.evaluate import evaluate
from lqm.api.report import write_report
from lqm.images.baselines import BASELINES
from lqm.images.sources import load_source
from lqm.report.tables import score_table
from lqm.utils.log import say

_PER_CLASS = 10


def demo(out: Path, seed: int = 0) -> None:
    """Condense the digits twice, evaluate, and write the page that shows it to `out`."""
    console = Console()
    source = load_source("digits")
    console.print(
        f"{len(source.train.labels):,} handwritten digits become {_PER_CLASS} synthetic ones a class, "
        "by mean matching and by latent quantile matching."
    )
    sets = {
        distance: condense(source, distance=distance, per_class=_PER_CLASS, seed=seed, out=out / distance)
        for distance in ("mean", "lqm")
    }
    by_mean = evaluate(sets["mean"], seed=seed)
    by_lqm = evaluate(sets["lqm"], seed=seed, baselines=BASELINES)
    rows = {**by_lqm.baselines, "by mean": by_mean.score, "by lqm": by_lqm.score}
    table = {
        by_lqm.protocol.network: {name: rows[name] for name in sorted(rows, key=lambda n: rows[n].accuracy)}
    }
    console.print(score_table(table, by_lqm.protocol))
    page = write_report([out / distance for distance in sets], out / "report.html", source=source)
    say(f"wrote {page}; open it in a browser")

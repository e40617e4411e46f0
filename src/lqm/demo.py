"""The paper's point on real data: mean matching and latent quantile matching side by side, on the digits."""

from pathlib import Path

from rich.console import Console
from torch import Tensor

from lqm.api import condense, evaluate
from lqm.condensed import CondensedSet
from lqm.diagnostics import cramer_von_mises
from lqm.files import write_atomically
from lqm.images.evaluation import EvaluationProtocol, fresh_network
from lqm.images.networks import embed_in_chunks
from lqm.images.sources import ImageSource, Pictures, load_source
from lqm.report.figures import contact_sheet, ecdf_figure
from lqm.report.tables import score_markdown, score_table

_PER_CLASS = 10
_SHOWN_CLASS = 0


def demo(out: Path, seed: int = 0) -> None:
    """Condense the digits twice, evaluate, and write the table and the pictures to `out`."""
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
    by_lqm = evaluate(sets["lqm"], seed=seed, baselines=True)
    rows = {
        "random real": by_lqm.baselines["random"],
        "by mean": by_mean.score,
        "by lqm": by_lqm.score,
        "all real": by_lqm.baselines["full"],
    }
    pictures = [out / "condensed-by-mean.png", out / "condensed-by-lqm.png", out / "ecdf.png"]
    contact_sheet(sets["mean"], pictures[0])
    contact_sheet(sets["lqm"], pictures[1])
    _draw_ecdf(source, sets, by_lqm.protocol, pictures[2], seed)
    report = out / "report.md"
    images = "\n".join(f"![{path.stem}]({path.name})" for path in pictures)
    title = "# The digits, condensed\n\n"
    write_atomically(report, f"{title}{score_markdown(rows, by_lqm.protocol)}\n{images}\n".encode())
    console.print(score_table(rows, by_lqm.protocol))
    for path in (*pictures, report):
        console.print(f"wrote {path}", highlight=False, soft_wrap=True)


def _draw_ecdf(
    source: ImageSource, sets: dict[str, CondensedSet], protocol: EvaluationProtocol, path: Path, seed: int
) -> None:
    """One class, one feature of a fresh network: that in which the two sets differ as they typically do."""
    network = fresh_network(source, protocol, seed, index=0)

    def features(pictures: Pictures) -> Tensor:
        return embed_in_chunks(network, source.normalised(pictures.of_class(_SHOWN_CLASS)))

    real = features(source.train)
    kept = {name: features(Pictures(small.images, small.labels)) for name, small in sets.items()}
    by_mean, by_lqm = (cramer_von_mises(real, sample, ties="ecdf") for sample in kept.values())
    feature = int((by_mean - by_lqm).median(dim=0).indices)
    name = source.class_names[_SHOWN_CLASS]
    title = f"latent feature {feature} of class '{name}' in a fresh network: a typical one"
    ecdf_figure(real[:, feature], {label: sample[:, feature] for label, sample in kept.items()}, path, title)

"""The paper's point on real data: mean matching and latent quantile matching side by side, on the digits."""

from pathlib import Path

import torch
from rich.console import Console

from lqm.api import condense, evaluate
from lqm.condensed import CondensedSet
from lqm.engine.randomness import seeded
from lqm.files import write_atomically
from lqm.images.networks import ConvNet, embed_in_chunks
from lqm.images.sources import ImageSource, load_source
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
        "random real pictures": by_lqm.baselines["random"],
        "condensed by mean": by_mean.score,
        "condensed by lqm": by_lqm.score,
        "all real pictures": by_lqm.baselines["full"],
    }
    pictures = [out / "condensed-by-mean.png", out / "condensed-by-lqm.png", out / "ecdf.png"]
    contact_sheet(sets["mean"], pictures[0])
    contact_sheet(sets["lqm"], pictures[1])
    _draw_ecdf(source, sets, pictures[2], seed)
    report = out / "report.md"
    images = "\n".join(f"![{path.stem}]({path.name})" for path in pictures)
    title = "# The digits, condensed\n\n"
    write_atomically(report, f"{title}{score_markdown(rows, by_lqm.protocol)}\n{images}\n".encode())
    console.print(score_table(rows, by_lqm.protocol))
    for path in (*pictures, report):
        console.print(f"wrote {path}", highlight=False, soft_wrap=True)


def _draw_ecdf(source: ImageSource, sets: dict[str, CondensedSet], path: Path, seed: int) -> None:
    """One class, one feature: of a fresh random network, the feature that varies most over the real class."""
    width = sets["lqm"].manifest["settings"]["width"]
    with seeded(seed, "figure"):
        network = ConvNet(source.shape, len(source.class_names), width)

    def features(images: torch.Tensor) -> torch.Tensor:
        return embed_in_chunks(network, source.normalised(images))

    real = features(source.train.of_class(_SHOWN_CLASS))
    feature = int(real.var(dim=0).argmax())
    synthetic = {
        name: features(small.images[small.labels == _SHOWN_CLASS])[:, feature] for name, small in sets.items()
    }
    title = (
        f"latent feature {feature} of class '{source.class_names[_SHOWN_CLASS]}' under a fresh random network"
    )
    ecdf_figure(real[:, feature], synthetic, path, title)

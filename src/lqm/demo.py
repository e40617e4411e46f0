"""The paper's point on real data: mean matching and latent quantile matching side by side, on the digits."""

from pathlib import Path

import torch
from rich.console import Console
from torch import Tensor

from lqm.condensed import CondensedPictures
from lqm.condensed.sheet import contact_sheet
from lqm.condensing import condense
from lqm.engine.randomness import seeded
from lqm.evaluating import evaluate
from lqm.files import write_atomically
from lqm.images.baselines import BASELINES
from lqm.images.networks import make_network
from lqm.images.sources import ImageSource, load_source
from lqm.images.training import latent_features
from lqm.report.figures import ecdf_figure
from lqm.report.tables import score_markdown, score_table

_PER_CLASS = 10


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
    by_lqm = evaluate(sets["lqm"], seed=seed, baselines=BASELINES)
    rows = {**by_lqm.baselines, "by mean": by_mean.score, "by lqm": by_lqm.score}
    table = {
        by_lqm.protocol.network: {name: rows[name] for name in sorted(rows, key=lambda n: rows[n].accuracy)}
    }
    pictures = [out / "condensed-by-mean.png", out / "condensed-by-lqm.png", out / "ecdf.png"]
    contact_sheet(sets["mean"], pictures[0])
    contact_sheet(sets["lqm"], pictures[1])
    _draw_ecdf(source, sets, pictures[2], seed)
    report = out / "report.md"
    images = "\n".join(f"![{path.stem}]({path.name})" for path in pictures)
    title = "# The digits, condensed\n\n"
    write_atomically(report, f"{title}{score_markdown(table, by_lqm.protocol)}\n{images}\n".encode())
    console.print(score_table(table, by_lqm.protocol))
    for path in (*pictures, report):
        console.print(f"wrote {path}", highlight=False, soft_wrap=True)


def _draw_ecdf(source: ImageSource, sets: dict[str, CondensedPictures], path: Path, seed: int) -> None:
    """The paper's figure 1: of all classes and features, the one in which mean matching strays farthest."""
    settings = sets["mean"].manifest["settings"]
    with seeded(seed, "figure"):
        network = make_network(settings["network"], source.shape, len(source.class_names))

    def features(images: Tensor, labels: Tensor) -> list[Tensor]:
        found = latent_features(network, images, source)
        return [found[labels == c] for c in range(len(source.class_names))]

    real = features(source.train.images, source.train.labels)
    kept = {name: features(small.images, small.labels) for name, small in sets.items()}
    strays = torch.stack(
        [
            torch.maximum(own.amax(dim=0) - x.amax(dim=0), x.amin(dim=0) - own.amin(dim=0))
            for x, own in zip(real, kept["mean"], strict=True)
        ]
    )
    label, feature = divmod(int(strays.argmax()), strays.shape[1])
    ecdf_figure(
        real[label][:, feature],
        {name: samples[label][:, feature] for name, samples in kept.items()},
        path,
        f"The latent feature in which mean matching strays farthest from the real values\n"
        f"(class '{source.class_names[label]}', feature {feature} of a fresh random network)",
    )

"""Pictures of the distributions that a condensed set keeps."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from lqm.diagnostics import cramer_von_mises, ecdf
from lqm.distances.levels import cramer_von_mises_levels
from lqm.distances.quantiles import column_quantiles
from lqm.files import write_atomically

# Three colours that stay apart for colour-blind readers (Okabe & Ito).
_REAL, _BEST, _SYNTHETIC = "#000000", "#009E73", "#D55E00"


def ecdf_figure(real: Tensor, synthetic: Mapping[str, Tensor], path: Path, title: str) -> None:
    """Write the paper's figure 1 as PNG: one feature's distribution, and what each set kept of it.

    Shapes: real [n]; each synthetic [k].
    """
    figure = Figure(figsize=(4.6 * len(synthetic), 3.9), layout="constrained", dpi=120)
    panels = figure.subplots(1, len(synthetic), sharex=True, sharey=True, squeeze=False)[0]
    for panel, (name, sample) in zip(panels, synthetic.items(), strict=True):
        best = column_quantiles(real[:, None], cramer_von_mises_levels(len(sample)).levels)[:, 0]
        statistic = cramer_von_mises(real[:, None], sample[:, None], ties="ecdf").item()
        _draw_steps(panel, real, "real", _REAL, width=1.2)
        _draw_steps(panel, best, f"best {len(sample)} points", _BEST, width=1.6, style="--")
        _draw_steps(panel, sample, f"condensed by {name}", _SYNTHETIC, width=2.2)
        panel.set_title(f"{name}: Cramér-von Mises {statistic:.3f}", fontsize=10)
        panel.set_xlabel("value of the latent feature")
        panel.legend(loc="lower right", fontsize=8, frameon=False)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("share of records at or below")
    figure.suptitle(title, fontsize=11)
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    write_atomically(path, buffer.getvalue())


def _draw_steps(panel: Axes, sample: Tensor, label: str, colour: str, width: float, style: str = "-") -> None:
    values, shares = ecdf(sample)
    panel.step(
        np.concatenate([values[:1].numpy(), values.numpy()]),
        np.concatenate([[0.0], shares.numpy()]),
        where="post",
        label=label,
        color=colour,
        linewidth=width,
        linestyle=style,
    )

"""Pictures of a condensed set and of the distributions that it keeps."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from torch import Tensor

from lqm.condensed import CondensedSet
from lqm.diagnostics import cramer_von_mises, ecdf
from lqm.distances.levels import cramer_von_mises_levels
from lqm.distances.quantiles import column_quantiles
from lqm.files import write_atomically

_CELL_PIXELS = 48
_GAP_PIXELS = 4
# Three colours that stay apart for colour-blind readers (Okabe & Ito).
_REAL, _BEST, _SYNTHETIC = "#000000", "#009E73", "#D55E00"


def contact_sheet(small: CondensedSet, path: Path) -> None:
    """Write all pictures as one PNG, a row a class."""
    rows = [small.images[small.labels == label] for label in range(len(small.class_names))]
    zoom = max(1, _CELL_PIXELS // small.images.shape[-1])
    cell = small.images.shape[-1] * zoom + _GAP_PIXELS
    sheet = Image.new(
        "RGB", (cell * max(map(len, rows)) + _GAP_PIXELS, cell * len(rows) + _GAP_PIXELS), "white"
    )
    for row, pictures in enumerate(rows):
        for column, picture in enumerate(pictures):
            tile = _as_image(picture).resize((cell - _GAP_PIXELS,) * 2, Image.Resampling.NEAREST)
            sheet.paste(tile, (_GAP_PIXELS + column * cell, _GAP_PIXELS + row * cell))
    buffer = BytesIO()
    sheet.save(buffer, format="PNG")
    write_atomically(path, buffer.getvalue())


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


def _as_image(picture: Tensor) -> Image.Image:
    """A picture of one channel as grey, of three as colour."""
    pixels = (picture * 255).round().byte().permute(1, 2, 0).numpy()
    return Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels[..., :3]).convert("RGB")

"""The paper's figure 1: the distribution of one latent feature, and what each set kept of it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median_low

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from lqm.evaluation.cases import alike
from lqm.evaluation.diagnostics import cramer_von_mises, ecdf, optimal_points
from lqm.evaluation.latents import Latents
from lqm.report.figures.style import COLUMN, PAGE, legend_below, new_figure, plain, set_title, wrapped
from lqm.report.figures.subjects import Drawing, LeftOut, Origin
from lqm.utils.errors import DataError

_IN_A_ROW, _MOST = 4, 8
_REAL, _BEST, _SYNTHETIC = "#000000", "#009E73", "#D55E00"


def draw_ecdf(origins: Sequence[Origin]) -> Iterator[Drawing | LeftOut]:
    """For each origin two: the feature in which the first set strays farthest, and a typical one."""
    for origin in origins:
        try:
            latents = origin.latents
        except DataError as error:
            yield LeftOut(f"distributions of latent features of {plain(origin.name)}", str(error))
            continue
        label, feature = latents.strays(0)
        yield Drawing(f"ecdf{origin.suffix}", _draw(origin, label, feature, _stray_note(origin, label)))
        label = typical_class(latents)
        note = "the feature nearest to every set's median, in the class whose mean statistic is the median"
        yield Drawing(f"ecdf-typical{origin.suffix}", _draw(origin, label, latents.typical(label), note))


def distribution_figure(real: Tensor, synthetic: Mapping[str, Tensor | None], title: str) -> Figure:
    """One feature in a panel for each set: all real values, the optimal k points, and the k that were kept.

    The optimal points are the quantiles of the real values at the levels that minimise the Cramer-von Mises
    statistic, as many as the set has.

    Shapes: real [n]; each synthetic [k], or None if a set has nothing of the class.
    """
    rows = math.ceil(len(synthetic) / _IN_A_ROW)
    columns = math.ceil(len(synthetic) / rows)
    width = COLUMN if columns == 1 else PAGE
    headings = [wrapped(plain(name), width / columns - 0.3) for name in synthetic]
    lines = 2 + max(heading.count("\n") for heading in headings)
    figure = new_figure(width, ((2.3 if columns < 3 else 2.0) + 0.16 * lines) * rows)
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    present, spare = panels.flat[: len(synthetic)], panels.flat[len(synthetic) :]
    for panel in spare:
        panel.remove()
    for panel, heading, sample in zip(present, headings, synthetic.values(), strict=True):
        _draw_steps(panel, real, "real", _REAL, width=1.0)
        if sample is None:
            panel.set_title(f"{heading}\nnothing of this class")
            continue
        best = optimal_points(real[:, None], len(sample))[:, 0]
        statistic = cramer_von_mises(real[:, None], sample[:, None], ties="ecdf").item()
        _draw_steps(panel, best, "optimal points", _BEST, width=1.4, style="--")
        _draw_steps(panel, sample, "condensed", _SYNTHETIC, width=1.8)
        panel.set_title(f"{heading}\nCramér-von Mises {statistic:.3f}")
        panel.xaxis.set_major_locator(MaxNLocator(5 if columns < 3 else 3))
    # The lowest of each column, which may stand above an empty place.
    for panel in present[-columns:]:
        panel.set_xlabel("latent feature")
        panel.tick_params(labelbottom=True)
    for row in panels:
        row[0].set_ylabel("share at or below")
    set_title(figure, title)
    legend_below(figure, max(present, key=lambda panel: len(panel.lines)))
    return figure


def typical_class(latents: Latents) -> int:
    """Of the classes that every set has, the one with the median of the mean statistics."""
    shared = [label for label in latents.real if all(label in match for match in latents.matches)]
    means = {
        label: fmean(match[label].statistic.mean().item() for match in latents.matches if label in match)
        for label in shared or latents.real
    }
    middle = median_low(means.values())
    return next(label for label, mean in means.items() if mean == middle)


def _draw(origin: Origin, label: int, feature: int, note: str) -> Figure:
    latents = origin.latents
    numbers = [*range(len(origin.cases))]
    if len(numbers) > _MOST:
        numbers = [runs[0] for runs in alike(origin.cases).values()][:_MOST]
        note += f"; {len(numbers)} of {len(origin.cases)} runs"
    matches = {origin.cases[number].label: latents.matches[number] for number in numbers}
    kept = {name: match[label].own[:, feature] if label in match else None for name, match in matches.items()}
    class_name = plain(origin.cases[0].condensed.class_names[label], 40)
    title = (
        f"{plain(origin.name)}, class '{class_name}', feature {feature} of a fresh {latents.network}: {note}"
    )
    return distribution_figure(latents.real[label][:, feature], kept, title)


def _stray_note(origin: Origin, label: int) -> str:
    first = plain(origin.cases[0].label) if len(origin.cases) > 1 else "this set"
    own, real = origin.latents.matches[0][label].own, origin.latents.real[label]
    if (own.amax(dim=0) <= real.amax(dim=0)).all() and (own.amin(dim=0) >= real.amin(dim=0)).all():
        return f"{first} strays in no feature, and comes nearest to it here"
    return f"where {first} strays farthest beyond the real values"


def _draw_steps(panel: Axes, sample: Tensor, label: str, colour: str, width: float, style: str = "-") -> None:
    values, shares = (part.numpy() for part in ecdf(sample))
    x, y = np.concatenate([values[:1], values]), np.concatenate([[0.0], shares])
    panel.step(x, y, where="post", label=label, color=colour, linewidth=width, linestyle=style)

"""Variants of quantile matching that were tried: python -m benchmarks.sets.variants GRAPH ...

Each is a distance of one's own around `lqm` or `shape`. A graph is condensed as one task by CaT, with 1 % of
its nodes, and scored on validation nodes. What is printed is each variant less `lqm`, in pairs of seeds.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
import tyro
from torch import Tensor

import lqm
from lqm.distances import Distance, Target
from lqm.distances.quantile import Quantile
from lqm.distances.quantiles import sorted_records
from lqm.distances.shape import Shape
from lqm.evaluation.paired import Paired, interval_in_words
from lqm.graphs.sources import GraphSource


@dataclass(frozen=True)
class Turned:
    """Matching along random directions in place of features, so that joint structure counts (sliced)."""

    name: str
    within: Distance
    directions: int = 256

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The directions [F, P], and the target along them."""
        drawn = torch.randn(real.shape[-1], self.directions, generator=generator).to(real)
        directions = drawn / drawn.norm(dim=0)
        return directions, *self.within.target(real @ directions, k, generator)

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """The mean over the directions, times F: as if each were a feature."""
        directions, *rest = target
        share = directions.shape[0] / directions.shape[1]
        return share * self.within.loss(tuple(rest), synthetic @ directions)


@dataclass(frozen=True)
class Whitened:
    """Matching after whitening by the covariance of the class, shrunk by half towards its diagonal mean."""

    name: str
    within: Distance

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The whitening [..., F, F], and the target after it."""
        centred = real - real.mean(dim=-2, keepdim=True)
        covariance = centred.mT @ centred / max(1, real.shape[-2] - 1)
        level = covariance.diagonal(dim1=-2, dim2=-1).mean(dim=-1)[..., None, None].clamp_min(1e-12)
        unit = torch.eye(real.shape[-1]).to(real)
        shrunk = 0.5 * covariance + 0.5 * level * unit
        # In the units of the features: what has their mean variance is not changed.
        whitening = level.sqrt() * torch.linalg.inv(torch.linalg.cholesky(shrunk)).mT
        return whitening, *self.within.target(real @ whitening, k, generator)

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """The distance of what is whitened."""
        whitening, *rest = target
        return self.within.loss(tuple(rest), synthetic @ whitening)


@dataclass(frozen=True)
class Discriminating:
    """Features that vary little within the class weigh more: by 2 v / (variance + v), v the mean variance."""

    name: str
    within: Distance

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The roots of the weights [..., 1, F], and the target of weighted features."""
        variance = real.var(dim=-2, keepdim=True, correction=0)
        level = variance.mean(dim=-1, keepdim=True).clamp_min(1e-12)
        roots = (2 * level / (variance + level)).sqrt()
        return roots, *self.within.target(real * roots, k, generator)

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """The distance of weighted features."""
        roots, *rest = target
        return self.within.loss(tuple(rest), synthetic * roots)


@dataclass(frozen=True)
class Tails(Shape):
    """The shape with weights of 1 / (q (1 - q)) for its quantiles, as Anderson-Darling weighs the tails."""

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """One loss a class, [...]."""
        mean, aims = target
        k = aims.shape[-2]
        levels = (2 * torch.arange(k).to(aims) + 1) / (2 * k)
        weights = 1 / (levels * (1 - levels))
        own = synthetic.mean(dim=-2, keepdim=True)
        apart = (aims - sorted_records(synthetic, k) + own).square()
        shape = (weights / weights.sum()) @ apart
        return ((mean - own.squeeze(-2)).square() + self.weight * shape).sum(dim=-1)


_LQM, _SHAPE = Quantile(), Shape(weight=1.0)
VARIANTS: tuple[Distance, ...] = (
    Shape("shape, w = 1", weight=1.0),
    Shape("shape, w = 3", weight=3.0),
    Turned("lqm along directions", _LQM),
    Turned("shape along directions", _SHAPE),
    Whitened("lqm, whitened", _LQM),
    Discriminating("lqm, weighted", _LQM),
    Tails("shape, tails", weight=1.0),
)


SETTINGS: dict[str, float] = {"real_batch": 256, "steps": 150, "learning_rate": 0.01}


def main(graphs: Annotated[tuple[str, ...], tyro.conf.Positional], /, *, seeds: int = 3) -> None:
    """Print a row for each variant of each graph.

    Args:
        graphs: as `lqm condense` takes them.
        seeds: condensations of each, from 100 on.
    """
    print(
        "| graph | variant | validation accuracy % | less `lqm` | 95 % interval |\n|---|---|---:|---:|---:|"
    )
    for name in graphs:
        source = lqm.load_graph(name, split="random", validation=True)
        numbers = range(100, 100 + seeds)
        usual = [_scored(source, _LQM, seed) for seed in numbers]
        print(f"| {name} | lqm | {100 * sum(usual) / seeds:.1f} | | |", flush=True)
        for title, distance, changed in (
            ("lqm, all real nodes", _LQM, {"real_batch": 0}),
            *((each.name, each, {}) for each in VARIANTS),
        ):
            found = [_scored(source, distance, seed, **changed) for seed in numbers]
            pairs = Paired(tuple(one - other for one, other in zip(found, usual, strict=True)))
            words = f"{100 * pairs.mean:+.1f} | {interval_in_words(pairs.interval)}"
            print(f"| {name} | {title} | {100 * sum(found) / seeds:.1f} | {words} |", flush=True)


def _scored(source: GraphSource, distance: Distance, seed: int, **changed: float) -> float:
    """The mean accuracy of networks that were trained on a set."""
    condensed = lqm.condense(
        source,
        method="cat",
        distance=distance,
        budget="1%",
        seed=seed,
        settings=SETTINGS | changed,
        show_progress=False,
    )
    found = lqm.evaluate(condensed, source, protocol="graph-quick", seed=seed, show_progress=False)
    return sum(found.score.accuracies) / len(found.score.accuracies)


if __name__ == "__main__":
    tyro.cli(main)

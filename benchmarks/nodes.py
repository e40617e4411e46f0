"""Methods that condense a whole graph, over several seeds, as a table: python -m benchmarks.nodes SOURCE ...

Each seed is what `lqm condense SOURCE --method ... --distance ... --budget ... --seed ...` makes, judged by a
network of its own; ± is the sample deviation over seeds. What is finished in the folder is not done again.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import torch
import tyro

import lqm
from lqm.evaluation.spread import Spread
from lqm.graphs.baselines import baseline
from lqm.graphs.evaluation import NODES, PROTOCOLS, score

# Method, distance, what is set besides.
_ROWS: tuple[tuple[str, str | None, dict[str, object]], ...] = (
    ("random", None, {}),
    ("random", None, {"features": "own"}),
    ("herding", None, {}),
    ("herding", None, {"features": "own"}),
    ("k-centre", None, {}),
    ("cat", "mean", {}),
    ("cat", "lqm", {}),
    ("cat", "lqm-ad", {}),
    ("puma", "mean", {}),
    ("puma", "lqm", {}),
)


def main(
    source: Annotated[str, tyro.conf.Positional],
    /,
    *,
    out: Path,
    budget: str = "1%",
    split: str = "random",
    seeds: int = 5,
    epochs: int = 500,
    real_batch: int = 0,
    rows: tuple[str, ...] = ("full", "random", "herding", "k-centre", "cat", "puma"),
    also: dict[str, str] = {},  # noqa: B006
) -> None:
    """One table.

    Args:
        source: as `lqm condense` takes it.
        out: folder of the runs.
        budget: nodes, or their share.
        split: of the nodes.
        seeds: condensations, each judged by a network of its own.
        epochs: of that network.
        real_batch: real nodes of each class in a step of cat and puma; 0 for all.
        rows: methods.
        also: settings of cat and puma besides.
    """
    data = lqm.load_graph(source, split=split)
    rules = replace(PROTOCOLS["cat-500"], networks=1, full_networks=1, epochs=epochs)
    cpu = torch.device("cpu")
    print("| method | distance | settings | nodes | accuracy % | CvM before | extremes % before |")
    print("|---|---|---|---:|---:|---:|---:|")
    if "full" in rows:
        whole = baseline("full", data, (), 0)
        found = [score(whole, data, rules, seed=seed, device=cpu, full=True) for seed in range(min(seeds, 3))]
        print(f"| full | - | - | {len(data.train):,} | {_cell([s.accuracy for s in found], 100, 1)} | | |")
    for method, distance, own in _ROWS:
        if method not in rows:
            continue
        settings = own | ({"real_batch": real_batch, **also} if distance else {})
        shown = ", ".join(f"{name}={value}" for name, value in (own | (also if distance else {})).items())
        found = []
        for seed in range(seeds):
            name = "-".join(filter(None, (method, distance, shown.replace(", ", "-"), str(seed))))
            condensed = lqm.condense(
                data,
                method=method,
                distance=distance,
                budget=budget,
                seed=seed,
                settings=settings,
                out=out / name,
                show_progress=False,
            )
            nodes = NODES.records("condensed", condensed, data, rules, seed, cpu)
            found.append(score(nodes, data, rules, seed=seed, device=cpu))
        numbers = (
            _cell([s.accuracy for s in found], 100, 1),
            _cell([s.before.cramer_von_mises for s in found], 1, 3),
            _cell([s.before.extremes for s in found], 100, 2),
        )
        cells = (method, distance or "-", shown or "-", f"{found[0].records:,}", *numbers)
        print(f"| {' | '.join(cells)} |", flush=True)


def _cell(values: list[float], scale: float, digits: int) -> str:
    return Spread(tuple(values)).shown(digits, scale)


if __name__ == "__main__":
    tyro.cli(main)

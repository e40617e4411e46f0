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

_ROWS = (
    ("random", None),
    ("herding", None),
    ("k-centre", None),
    ("cat", "mean"),
    ("cat", "lqm"),
    ("cat", "lqm-ad"),
    ("puma", "mean"),
    ("puma", "lqm"),
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
    steps: int = 1000,
    rate: float = 0.001,
    real_batch: int = 0,
    puma_steps: int = 100,
    puma_width: int = 4096,
    puma_rate: float = 0.001,
    inits: tuple[str, ...] = ("random",),
    rows: tuple[str, ...] = ("full", "random", "herding", "k-centre", "cat", "puma"),
) -> None:
    data = lqm.load_graph(source, split=split)
    rules = replace(PROTOCOLS["cat-500"], networks=1, full_networks=1, epochs=epochs)
    cpu = torch.device("cpu")
    print("| method | distance | init | nodes | accuracy % | CvM before | extremes % before |")
    print("|---|---|---|---:|---:|---:|---:|")
    if "full" in rows:
        whole = baseline("full", data, (), 0)
        found = [score(whole, data, rules, seed=seed, device=cpu, full=True) for seed in range(seeds)]
        print(f"| full | - | - | {len(data.train):,} | {_cell([s.accuracy for s in found], 100, 1)} | | |")
    for method, distance in _ROWS:
        matches = distance is not None
        for init in (inits if matches else ("",)) if method in rows else ():
            settings: dict[str, object] = {}
            if matches:
                settings |= {"init": init, "real_batch": real_batch}
                settings |= {"steps": steps, "learning_rate": rate}
            if method == "puma":
                settings |= {"steps": puma_steps, "width": puma_width, "learning_rate": puma_rate}
            found = []
            for seed in range(seeds):
                name = "-".join(filter(None, (method, distance, init, str(seed))))
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
            cells = (method, distance or "-", init or "-", f"{found[0].records:,}", *numbers)
            print(f"| {' | '.join(cells)} |", flush=True)


def _cell(values: list[float], scale: float, digits: int) -> str:
    return Spread(tuple(values)).shown(digits, scale)


if __name__ == "__main__":
    tyro.cli(main)

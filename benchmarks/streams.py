"""Methods on the stream of a graph's classes, as a Markdown table: python -m benchmarks.streams SOURCE ...

Each row is what `lqm continual SOURCE --method ... --distance ... --budget ... --set ...` finds; ± is the
sample deviation over repeats, which share the split. What is finished in the folder is not done again.
"""

from pathlib import Path
from typing import Annotated

import tyro

import lqm

_ROWS = (
    ("finetuning", None),
    ("joint", None),
    ("random", None),
    ("er-gnn", None),
    ("ssm", None),
    ("ssm-5", None),
    ("cat", "mean"),
    ("cat", "lqm"),
    ("cat", "lqm-ad"),
    ("puma", "mean"),
    ("puma", "lqm"),
)
_CONDENSED = ("cat", "puma")


def main(
    source: Annotated[str, tyro.conf.Positional],
    /,
    *,
    out: Path,
    budget: str = "4",
    repeats: int = 5,
    epochs: int = 500,
    steps: int = 1000,
    rate: float = 0.001,
    real_batch: int = 0,
    puma_steps: int = 100,
    puma_width: int = 4096,
    puma_rate: float = 0.001,
    remainder: str = "last",
    inits: tuple[str, ...] = ("random",),
    rows: tuple[str, ...] = ("finetuning", "joint", "random", "er-gnn", "ssm", "ssm-5", "cat", "puma"),
) -> None:
    print("| method | distance | init | AA % | BWT % | seconds for the memory | seconds to learn |")
    print("|---|---|---|---:|---:|---:|---:|")
    for method, distance in _ROWS:
        if method not in rows:
            continue
        for init in inits if method in _CONDENSED else ("",):
            settings: dict[str, object] = {"epochs": epochs}
            if method in _CONDENSED:
                settings |= {"init": init, "real_batch": real_batch}
                settings |= {"steps": steps, "learning_rate": rate}
            if method == "puma":
                settings |= {"steps": puma_steps, "width": puma_width, "learning_rate": puma_rate}
            if method == "ssm-5":
                settings |= {"neighbours": 5}
            found = lqm.continual(
                source,
                method=method.removesuffix("-5"),
                distance=distance,
                budget=None if method in ("finetuning", "joint") else budget,
                remainder=remainder,
                repeats=repeats,
                settings=settings,
                out=out / "-".join(filter(None, (method, distance, init))),
                show_progress=False,
            )
            spent = found.record()["seconds"]
            memory, learning = (sum(spent[part]) / repeats for part in ("memory", "learning"))
            transfer = found.backward_transfer.percent() if found.backward_transfer else "-"
            cells = (method, distance or "-", init or "-", found.average_accuracy.percent(), transfer)
            print(f"| {' | '.join(cells)} | {memory:.0f} | {learning:.0f} |", flush=True)


if __name__ == "__main__":
    tyro.cli(main)

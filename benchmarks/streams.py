"""Methods on the stream of a graph's classes, as a Markdown table: python -m benchmarks.streams SOURCE ...

Each row is what `lqm continual SOURCE --method ... --distance ... --budget ... --set ...` finds; ± is the
sample deviation over repeats, which share the split. What is finished in the folder is not done again.
"""

from pathlib import Path
from typing import Annotated

import tyro

import lqm

# Method, distance, what is set besides.
_ROWS: tuple[tuple[str, str | None, dict[str, object]], ...] = (
    ("finetuning", None, {}),
    ("joint", None, {}),
    ("random", None, {}),
    ("random", None, {"features": "own"}),
    ("er-gnn", None, {}),
    ("er-gnn", None, {"features": "own"}),
    ("ssm", None, {}),
    ("ssm", None, {"features": "own"}),
    ("ssm", None, {"neighbours": 5}),
    ("ssm", None, {"neighbours": 5, "features": "own"}),
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
    budget: str = "4",
    repeats: int = 5,
    epochs: int = 500,
    real_batch: int = 0,
    remainder: str = "last",
    rows: tuple[str, ...] = ("finetuning", "joint", "random", "er-gnn", "ssm", "cat", "puma"),
    also: dict[str, str] = {},  # noqa: B006
) -> None:
    """One table.

    Args:
        source: as `lqm continual` takes it.
        out: folder of the runs.
        budget: nodes a task.
        repeats: seeds.
        epochs: of the classifier at each task.
        real_batch: real nodes of each class in a step of cat and puma; 0 for all.
        remainder: what becomes of classes that do not fill a task.
        rows: methods.
        also: settings of cat and puma besides.
    """
    print("| method | distance | settings | AA % | BWT % | seconds for the memory | seconds to learn |")
    print("|---|---|---|---:|---:|---:|---:|")
    for method, distance, own in _ROWS:
        if method not in rows:
            continue
        settings: dict[str, object] = {"epochs": epochs, **own}
        if distance:
            settings |= {"real_batch": real_batch, **also}
        shown = ", ".join(f"{name}={value}" for name, value in (own | (also if distance else {})).items())
        found = lqm.continual(
            source,
            method=method,
            distance=distance,
            budget=None if method in ("finetuning", "joint") else budget,
            remainder=remainder,
            repeats=1 if method in ("finetuning", "joint") else repeats,
            settings=settings,
            out=out / "-".join(filter(None, (method, distance, shown.replace(", ", "-")))),
            show_progress=False,
        )
        spent = found.record()["seconds"]
        memory, learning = (sum(spent[part]) / len(spent[part]) for part in ("memory", "learning"))
        transfer = found.backward_transfer.percent() if found.backward_transfer else "-"
        cells = (method, distance or "-", shown or "-", found.average_accuracy.percent(), transfer)
        print(f"| {' | '.join(cells)} | {memory:.0f} | {learning:.0f} |", flush=True)


if __name__ == "__main__":
    tyro.cli(main)

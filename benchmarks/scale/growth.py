"""How time and memory of a step of DM with LQM grow: python -m benchmarks.scale.growth --out runs/growth.

One size after another is varied, the others stay at a base. Each point is a process of its own, with our
allocator settings and not compiled. Memory is the peak of the process less what its imports alone take.
Points that are in growth.json are not measured again.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import linear_regression
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.scale.child import run
from lqm.utils.files import write_atomically

BASE = {"classes": 10, "real_batch": 64, "size": 32, "per_class": 10, "width": 32}
# Of each size: its name in words, and the values that it takes.
AXES: dict[str, tuple[str, tuple[int, ...]]] = {
    "classes": ("classes", (5, 10, 20, 50, 100)),
    "real_batch": ("real images a class in a step", (32, 64, 128, 256, 512)),
    "size": ("pixels of a side", (16, 32, 64)),
    "per_class": ("synthetic images a class", (1, 5, 10, 50)),
    "width": ("width of the network", (16, 32, 64, 128)),
}

Sizes = dict[str, int]
Point = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/growth"))
    folder = parser.parse_args().out
    points = measure_all(folder / "growth.json", measure)
    _print_table(points)
    # Only now, so that this process was small while it started others.
    from benchmarks.scale.growth_figure import draw

    draw(points, folder / "growth.png")
    print(f"wrote {folder / 'growth.json'} and {folder / 'growth.png'}")


def all_sizes() -> list[Sizes]:
    """Every point, the base once."""
    found: list[Sizes] = []
    for axis, (_, values) in AXES.items():
        for sizes in ({**BASE, axis: value} for value in values):
            if sizes not in found:
                found.append(sizes)
    return found


def measure_all(path: Path, measure: Callable[[Sizes], Point]) -> list[Point]:
    """Measure what is not in the file yet; what is found is in the file at once."""
    points: list[Point] = json.loads(path.read_text()) if path.exists() else []
    for sizes in all_sizes():
        if any(point["sizes"] == sizes for point in points):
            continue
        points.append(measure(sizes))
        write_atomically(path, json.dumps(points, indent=2).encode())
        shown = ", ".join(f"{name} {value}" for name, value in sizes.items())
        print(f"{shown}: {1000 * points[-1]['seconds']:.0f} ms, {points[-1]['memory']:.3f} GiB", flush=True)
    return points


def measure(sizes: Sizes) -> Point:
    """Seconds of a step, and GiB of peak memory less what the imports take."""
    command = [sys.executable, "-m", "benchmarks.scale.growth_point", json.dumps(sizes)]
    cost = run(command, keep_output=True)
    found = json.loads(cost.output)
    return {"sizes": sizes, **found, "memory": cost.peak - found["imports"]}


def along(points: Sequence[Point], axis: str, what: str) -> tuple[list[int], list[float]]:
    """Values of one size, and what was found there while the others are at the base."""
    wanted = {**BASE, axis: None}
    chosen = [point for point in points if {**point["sizes"], axis: None} == wanted]
    chosen.sort(key=lambda point: point["sizes"][axis])
    return [point["sizes"][axis] for point in chosen], [point[what] for point in chosen]


def fit(values: Sequence[float], found: Sequence[float]) -> tuple[float, float]:
    """Exponent p and factor c of the nearest found = c * value^p, by least squares of the logarithms."""
    line = linear_regression([math.log(value) for value in values], [math.log(one) for one in found])
    return line.slope, math.exp(line.intercept)


def _print_table(points: Sequence[Point]) -> None:
    table = Table("what grows", "from", "to", "exponent of time", "exponent of memory")
    for axis, (words, values) in AXES.items():
        exponents = (fit(*along(points, axis, what))[0] for what in ("seconds", "memory"))
        table.add_row(words, str(values[0]), str(values[-1]), *(f"{one:.2f}" for one in exponents))
    base = ", ".join(f"{value} {AXES[axis][0]}" for axis, value in BASE.items())
    table.title = f"DM + LQM step, {points[0]['threads']} threads; base: {base}"
    Console().print(table)
    print("Memory is the peak of the process less that of its imports.")


if __name__ == "__main__":
    main()

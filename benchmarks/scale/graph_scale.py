"""Condensing a graph of the size of ogbn-products, and of a quarter and a sixteenth of it: time and memory.

    python -m benchmarks.scale.graph_scale --out runs/graph-scale

Each size is a process of its own, so that its peak of memory is its own. The graphs are made once and kept
in the cache.
"""

import argparse
import itertools
import json
import math
import shutil
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.scale.child import run

_NODES, _UNDIRECTED_EDGES, _LIMIT = 2_449_029, 61_859_140, 14.0
_PARTS = (16, 4, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/graph-scale"))
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--real-batch", type=int, default=512)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    found = [_measure(part, options) for part in _PARTS]
    (options.out / "scale.json").write_text(json.dumps(found, indent=2))
    table = Table("nodes", "edges", "condensed to", "seconds", "of these steps", "peak GiB")
    for row in found:
        table.add_row(
            f"{row['nodes']:,}",
            f"{row['edges']:,}",
            str(row["condensed"]),
            f"{row['seconds']:.0f}",
            f"{row['step_seconds']:.0f}",
            f"{row['peak']:.2f}",
        )
    Console().print(table)
    met = found[-1]["peak"] <= _LIMIT
    print(f"peak of the largest: {found[-1]['peak']:.2f} GiB (limit {_LIMIT:g})")
    for smaller, larger in itertools.pairwise(found):
        for what in ("seconds", "peak"):
            power = math.log(larger[what] / smaller[what]) / math.log(larger["nodes"] / smaller["nodes"])
            met &= power <= 1
            print(f"from {smaller['nodes']:,} nodes on, {what} grow as nodes^{power:.2f} (limit 1)")
    sys.exit(0 if met else 1)


def _measure(part: int, options: argparse.Namespace) -> dict[str, float]:
    """Seconds and peak memory of `lqm condense` on a graph of a part of the size, made beforehand."""
    nodes = _NODES // part
    degree = 2 * _UNDIRECTED_EDGES / _NODES
    source = f"synthetic:nodes={nodes},degree={degree:.2f},features=100,classes=46"
    run([sys.executable, "-c", "import sys, lqm; lqm.load_graph(sys.argv[1])", source])
    folder = options.out / f"part-{part}"
    shutil.rmtree(folder, ignore_errors=True)
    command = [
        str(Path(sys.executable).with_name("lqm")),
        "condense",
        source,
        "--budget",
        "0.3%",
        "--out",
        str(folder),
    ]
    command += ["--real-batch", str(options.real_batch), "--set", f"steps={options.steps}"]
    cost = run(command)
    manifest = json.loads((folder / "manifest.json").read_text())
    return {
        "nodes": nodes,
        "edges": manifest["source"]["edges"],
        "condensed": manifest["budget"],
        "seconds": cost.seconds,
        "step_seconds": manifest["seconds"],
        "peak": cost.peak,
    }


if __name__ == "__main__":
    main()

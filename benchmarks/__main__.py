"""Print one table of all comparisons; the exit code says whether every limit was met."""

import sys

import torch
from rich.console import Console
from rich.table import Table

from benchmarks import cat_step, dm_step, quantiles, statistic


def main() -> None:
    torch.manual_seed(0)
    console = Console()
    table = Table("work", "plain", "plain takes", "ours takes", "ratio", "limit")
    table.title = f"torch {torch.__version__}, {torch.get_num_threads()} threads, medians, interleaved"
    met = True
    for measure in (
        quantiles.measure,
        statistic.measure,
        dm_step.measure_on_digits,
        dm_step.measure_at_cifar_shapes,
        cat_step.measure_task,
        cat_step.measure_stream,
        cat_step.measure_sharing,
    ):
        comparison = measure()
        met &= comparison.met
        table.add_row(*comparison.row())
    console.print(table)
    sys.exit(0 if met else 1)


main()

"""What `make demo` shows."""

from pathlib import Path


def demo(*, out: Path = Path("runs/demo"), seed: int = 0) -> None:
    """Condense digits by mean and by quantile matching, and compare.

    Example: lqm demo

    Args:
        out: Folder for the runs, the images and the report.
        seed: The first of three; everything random follows from them.
    """
    from lqm.api.demo import demo as run_demo

    run_demo(out, seed)

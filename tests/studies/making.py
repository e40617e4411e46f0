"""Lines of studies that are made in a moment."""

from lqm.studies.lines import CELLS, CellLine, StudyHead, write_cell

HEAD = StudyHead("images", "Does matching quantiles beat matching means?", "cpu")
EVIL = "<script>alert(1)</script>\x1b[31m|`x`\n"


def line(distance, seed, accuracy, *, head=HEAD, per_class=1, source="digits", **more):
    """A cell that one network evaluated, or several that `scores` names."""
    axes = {"source": source, "method": "dm", "distance": distance, "per_class": per_class}
    axes |= more.pop("axes", {})
    name = "-".join(map(str, [*axes.values(), f"seed{seed}"]))
    given = {
        "scores": {"convnet": (accuracy,)},
        "seconds": {"condense": 2.0, "evaluate": 9.0},
        "protocol": "quick-200",
        "commit": "0123456789abcdef",
        "environment": {"threads": 1, "machine": "Linux x86_64", "torch": "2.13.0"},
        "command": f"lqm condense {source} --distance {distance} --seed {seed}",
    }
    return CellLine(head, name, axes, seed, **(given | more))


def small_study():
    """Two budgets of two sides with three seeds: lqm is better with 1 a class, no one knows with 10."""
    return [
        *(line("mean", seed, accuracy) for seed, accuracy in enumerate((0.50, 0.52, 0.54))),
        *(line("lqm", seed, accuracy) for seed, accuracy in enumerate((0.60, 0.63, 0.63))),
        *(line("mean", seed, accuracy, per_class=10) for seed, accuracy in enumerate((0.80, 0.80, 0.80))),
        *(line("lqm", seed, accuracy, per_class=10) for seed, accuracy in enumerate((0.79, 0.81, 0.80))),
    ]


def write_study(folder, lines):
    """A folder as `lqm study` leaves it behind."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in lines:
        write_cell(folder / CELLS, each)
    return folder

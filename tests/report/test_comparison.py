from rich.console import Console

from lqm.condensed import CondensedSet
from lqm.report.comparison import comparison_tables


def run(method="dm", distance="lqm", accuracies=(0.5, 0.7), seed=0, source="digits", epochs=200, scored=True):
    match = {"cramer_von_mises": 0.25, "extremes": 0.015}
    score = {
        "protocol": {"name": "quick", "epochs": epochs, "network": "convnet"},
        "seed": seed,
        "accuracy": sum(accuracies) / len(accuracies),
        "accuracies": accuracies,
        "before": match,
        "after": match,
    }
    manifest = {
        "source": {"name": source, "fingerprint": source},
        "method": method,
        "distance": {"name": distance} if distance else None,
        "per_class": 10,
        "seed": seed,
        "seconds": 12.0 + seed,
        "scores": [score] if scored else [],
    }
    return CondensedSet(None, None, (), manifest)


def printed(*sets):
    console = Console(width=80, record=True)
    for table in comparison_tables(sets):
        console.print(table)
    return console.export_text()


def test_a_run_shows_its_networks_spread_and_its_seconds():
    (line,) = (line for line in printed(run()).splitlines() if line.strip().startswith("dm"))
    assert line.split() == ["dm", "lqm", "10", "1", "60.0", "±", "10.0", "0.250", "1.50", "12"]


def test_runs_that_differ_by_seed_share_a_row_with_the_spread_over_them():
    text = printed(run(accuracies=(0.5, 0.7)), run(accuracies=(0.8, 0.8), seed=2))
    (line,) = (line for line in text.splitlines() if line.strip().startswith("dm"))
    assert line.split() == ["dm", "lqm", "10", "2", "70.0", "±", "10.0", "0.250", "1.50", "13"]


def test_methods_and_distances_have_rows_of_their_own():
    text = printed(run(), run(distance="mean"), run(method="herding", distance=None))
    rows = [line.split()[:2] for line in text.splitlines() if " 10 " in line]
    assert rows == [["dm", "lqm"], ["dm", "mean"], ["herding", "-"]]


def test_what_was_judged_differently_or_comes_from_other_data_never_shares_a_table():
    text = printed(run(), run(epochs=1000), run(source="mnist"), run(scored=False))
    titles = [line.strip() for line in text.splitlines() if line.startswith(("digits:", "mnist:"))]
    assert titles == [
        "digits: not evaluated yet, run lqm evaluate",
        "digits: quick, 1000 epochs, convnet",
        "digits: quick, 200 epochs, convnet",
        "mnist: quick, 200 epochs, convnet",
    ]

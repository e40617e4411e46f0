from pathlib import Path
from statistics import fmean, stdev

import pytest
from rich.console import Console

from lqm.condensed import CondensedImages, CondensedNodes
from lqm.report.comparison import comparison_tables
from lqm.utils.errors import ConfigError


def run(method="dm", distance="lqm", seed=0, source="digits", scores=((0.5, 0.7),), crop=False, **options):
    """A set with one score for each tuple of accuracies; options are settings, or belong to the protocol."""
    match = {"cramer_von_mises": 0.25, "extremes": 0.015}
    protocol = {"name": "quick", "epochs": 200, "network": "convnet", "learning_rate": 0.1}
    protocol |= {name: value for name, value in options.items() if name in protocol}
    noted = [
        {
            "protocol": protocol,
            "seed": number,
            "accuracy": sum(accuracies) / len(accuracies),
            "records": 100,
            "accuracies": accuracies,
            "before": match,
            "after": match,
        }
        for number, accuracies in enumerate(scores)
    ]
    settings = {name: value for name, value in options.items() if name not in (*protocol, "steps")}
    manifest = {
        "data": {"sha256": str((method, distance, seed, source, crop, scores, sorted(options.items())))},
        "source": {"name": source, "fingerprint": source, "augmentation": ["crop"] if crop else []},
        "method": method,
        "distance": {"name": distance} if distance else None,
        "per_class": 10,
        "steps": options.get("steps", 300),
        "settings": settings,
        "seed": seed,
        "seconds": 12.0 + seed,
        "scores": noted,
    }
    return CondensedImages(None, None, (), manifest)


def graph_run(budget=40, **options):
    """The same of a graph, which has a budget of nodes."""
    manifest = run("cat", source="cora", network="gcn", **options).manifest
    manifest["data"]["sha256"] += str(budget)
    del manifest["per_class"]
    return CondensedNodes(None, None, (), manifest | {"budget": budget, "counts": [budget]})


def printed(*sets):
    console = Console(width=80, record=True)
    for table in comparison_tables(sets):
        console.print(table)
    return console.export_text()


def rows(*sets):
    return [line.split() for line in printed(*sets).splitlines() if "±" in line or " - " in line]


@pytest.mark.parametrize(
    "accuracies", [((0.5, 0.7),), ((0.61, 0.72, 0.83),), ((0.9, 0.95), (0.85, 0.8)), ((0.7,),)]
)
def test_the_deviation_is_that_of_a_sample_over_networks_or_over_runs(accuracies):
    """As `statistics` computes it; a single number has none."""

    def expected(numbers):
        beyond = f" ± {100 * stdev(numbers):.1f}" if len(numbers) > 1 else ""
        return f"{100 * fmean(numbers):.1f}{beyond}"

    networks = [accuracy for own in accuracies for accuracy in own]
    assert f" {expected(networks)}  " in printed(run(scores=accuracies))
    if len(accuracies) > 1:
        runs = [run(scores=(own,), seed=seed) for seed, own in enumerate(accuracies)]
        assert f" {expected([fmean(own) for own in accuracies])}  " in printed(*runs)


def test_the_docs_mean_the_same_by_it():
    for page in ("results.md", "methods.md", "graphs.md"):
        text = (Path(__file__).parents[2] / "docs" / page).read_text()
        assert "sample standard deviation" in " ".join(text.split())


def test_a_run_shows_its_networks_spread_and_its_seconds():
    assert rows(run()) == [["dm", "lqm", "10", "300", "1", "60.0", "±", "14.1", "0.250", "1.50", "12"]]


def test_runs_that_differ_by_seed_share_a_row_with_the_spread_over_them():
    (row,) = rows(run(), run(scores=((0.8, 0.8),), seed=2))
    assert row == ["dm", "lqm", "10", "300", "2", "70.0", "±", "14.1", "0.250", "1.50", "13"]


def test_methods_distances_settings_and_steps_have_rows_of_their_own():
    found = rows(
        run(), run(distance="mean"), run(steps=9), run(learning_rate_of_images=3), run("herding", None)
    )
    assert [row[:5] for row in found] == [
        ["dm", "lqm", "10", "300", "1"],
        ["dm", "lqm", "10", "300", "1"],
        ["dm", "lqm", "10", "9", "1"],
        ["dm", "mean", "10", "300", "1"],
        ["herding", "-", "10", "300", "1"],
    ]


def test_a_set_that_was_judged_twice_or_given_twice_is_one_run():
    twice = run(scores=((0.5, 0.7), (0.7, 0.9)))
    (row,) = rows(twice, twice)
    assert row[4:8] == ["1", "70.0", "±", "16.3"]


def test_what_was_judged_differently_or_comes_from_other_data_never_shares_a_table():
    text = printed(
        run(), run(epochs=1000), run(learning_rate=0.5), run(crop=True), run(source="mnist"), run(scores=())
    )
    titles = [line.strip() for line in text.splitlines() if line.startswith(("digits:", "mnist:"))]
    assert sorted(titles) == [
        "digits: not evaluated yet, run lqm evaluate",
        "digits: quick, 1000 epochs, convnet",
        "digits: quick, 200 epochs, convnet",
        "digits: quick, 200 epochs, convnet",
        "digits: quick, 200 epochs, convnet",
        "mnist: quick, 200 epochs, convnet",
    ]


def test_memories_of_tasks_are_not_compared():
    memory = graph_run()
    memory.manifest["task"] = 3
    with pytest.raises(
        ConfigError, match=r"the memory of task 3 of a stream, which `lqm continual` evaluates"
    ):
        list(comparison_tables([run(), memory]))


def test_runs_on_graphs_show_their_budget():
    assert rows(graph_run(), graph_run(budget=80, seed=1)) == [
        ["cat", "lqm", "40", "300", "1", "60.0", "±", "14.1", "0.250", "1.50", "12"],
        ["cat", "lqm", "80", "300", "1", "60.0", "±", "14.1", "0.250", "1.50", "13"],
    ]
    text = printed(graph_run(), run())
    assert "cora: quick, 200 epochs, gcn" in text
    assert text.index("budget") < text.index("digits:") < text.index("per")


def test_a_copy_that_was_judged_otherwise_adds_its_scores():
    one, other = run(), run(epochs=9)
    other.manifest["data"] = one.manifest["data"]
    found = printed(one, other)
    assert "quick, 200 epochs" in found
    assert "quick, 9 epochs" in found

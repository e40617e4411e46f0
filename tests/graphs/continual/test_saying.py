"""What `continual` says before a run, and of its result."""

from dataclasses import replace
from io import StringIO
from itertools import count

import pytest
from rich.console import Console

from lqm.report.continual import continual_table, heat_map
from tests.graphs.continual.making import LEARNING, TINY, run, small_graph


def test_pseudo_labels_on_test_nodes_are_called_transductive_in_table_and_image(tmp_path, monkeypatch):
    titles = []
    monkeypatch.setattr("lqm.api.continual.heat_map", lambda matrix, path, title: titles.append(title))
    result = run(settings={**TINY, "pseudo_labels": "test"}, out=tmp_path)
    said = "cat + lqm, 5 nodes a task, on small (class-incremental), with pseudo-labels on test nodes"
    assert titles == [f"{said} (transductive)"]
    assert f"{said} (transductive): accuracy" in str(result)
    assert "pseudo-labels" not in str(run())


def test_a_memory_says_of_how_many_classes_it_is():
    kept = run().memories[0][0]
    assert len(kept.class_names) == 6
    assert repr(kept).startswith("CondensedNodes(5 of 2 classes, 10 features")


def test_a_slow_stream_tells_the_seconds_of_a_task(capsys, monkeypatch):
    times = count(step=20.0)
    monkeypatch.setattr("lqm.engine.progress.time.monotonic", lambda: next(times))
    run(show_progress=True)
    learned = [line for line in capsys.readouterr().err.splitlines() if line.startswith("learn")]
    assert " s/task " in learned[-1]


@pytest.mark.parametrize(
    ("budget", "line", "title"),
    [
        (5, "memory: 5 synthetic nodes a task (2 to 3 of a class, by its share)\n", "5 nodes a task, on"),
        (
            1,
            "memory: 2 synthetic nodes a task (1 of each class), not 1: each class of a task gets at least",
            "2 nodes a task, on",
        ),
        (
            "4%",
            "memory: 2 synthetic nodes a task (1 of each class), not 1: each class of a task gets at least",
            "2 nodes a task (4%), on",
        ),
        (
            "4.8%",
            "memory: 2 synthetic nodes a task (1 of each class), more than 4.8% in 1 task of 3: each class",
            "2 nodes a task (4.8%), on",
        ),
        ("20%", "memory: 6 to 7 synthetic nodes a task (2 to 4 of a class", "6 to 7 nodes a task (20%), on"),
    ],
)
def test_what_a_budget_comes_to_is_said_before_the_run_and_in_the_title(capsys, budget, line, title):
    result = run(budget=budget, show_progress=True)
    assert f"lqm: {line}" in capsys.readouterr().err.partition("settings: ")[0]
    assert title in result.title


def test_a_single_node_is_no_plural_and_real_nodes_are_called_so(capsys):
    result = run(method="random", classes_per_task=1, budget=1, settings=LEARNING, show_progress=True)
    assert "lqm: memory: 1 real node a task (1 of each class)\n" in capsys.readouterr().err
    assert result.title == "random, 1 node a task, on small (class-incremental)"


def test_notes_of_the_stream_are_said_before_the_run(capsys):
    source = small_graph()
    labels = source.graph.labels.clone()
    labels[:9] = -1
    notes = (
        "9 nodes have no label: heard by the neighbours, but neither condensed nor judged by",
        "and so on",
    )
    train = (labels >= 0).nonzero()[:, 0]
    source = replace(source, graph=replace(source.graph, labels=labels), train=train, notes=notes)
    run(source, method="joint", budget=None, settings=LEARNING, show_progress=True)
    said = capsys.readouterr().err
    assert said.startswith("lqm: and so on\nlqm: 9 nodes have no label: they are in no task and left out")
    assert "heard" not in said


def test_the_table_shows_the_matrix_in_percent_and_both_numbers():
    result = run(repeats=2)
    table = continual_table(result)
    assert [str(column.header) for column in table.columns] == [
        "after task",
        "task 0",
        "task 1",
        "task 2",
        "average",
    ]
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    assert cells[0] == ["0", "1", "2"]
    assert cells[1][2] == f"{100 * result.matrix[2, 0]:.1f}"
    assert cells[3][:2] == ["", ""]
    assert cells[4] == [average.percent() for average in result.average_accuracy_after]
    assert "±" in cells[4][0]
    words = str(result)
    assert f"AA {result.average_accuracy.percent()}" in words
    assert f"BWT {result.backward_transfer.percent()}" in words
    assert "±" in words
    assert "cat + lqm, 5 nodes a task, on small (class-incremental)" in words


@pytest.mark.parametrize("tasks", [6, 8])
def test_a_table_of_up_to_eight_tasks_fits_into_80_columns(tasks):
    source = small_graph(classes=tasks, each=5, edges=40)
    result = run(
        source, classes_per_task=1, budget=None, method="joint", settings={**LEARNING, "epochs": 1}, repeats=2
    )
    ones = [
        replace(repeat, matrix=repeat.matrix * 0 + sign)
        for repeat, sign in zip(result.repeats, (1, 0), strict=True)
    ]
    console = Console(width=80, record=True, file=StringIO())
    wide = replace(result, repeats=tuple(ones))
    console.print(continual_table(wide))
    shown = console.export_text()
    assert "…" not in shown
    assert shown.count("50.0 ± 70.7") == tasks + 1
    assert max(map(len, shown.splitlines())) <= 80


def test_a_table_of_many_tasks_shows_averages_only(tmp_path):
    source = small_graph(classes=13, each=5, edges=40)
    result = run(source, classes_per_task=1, budget=1, method="random", settings={**LEARNING, "epochs": 1})
    assert [str(column.header) for column in continual_table(result).columns] == ["after task", "average"]
    heat_map(result.matrix, tmp_path / "map.png", result.title)
    assert (tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"

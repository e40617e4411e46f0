"""The page about streams of tasks: matrices, AA and BWT by their formulas, from what was stored."""

import json
import shutil
from statistics import fmean, stdev
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.stats import ttest_ind

import lqm
from lqm import write_report
from lqm.evaluation.diagnostics import cramer_von_mises
from lqm.evaluation.spread import in_points
from lqm.utils.errors import ArtifactError, ConfigError
from tests.graphs.continual.making import LEARNING, TINY, run, small_graph
from tests.report.making import read_page, tiny_source, unpacked


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    """Three tasks of two classes, by a condensed memory, by none, and with everything kept; two repeats."""
    folder = tmp_path_factory.mktemp("streams")
    source = small_graph()
    names = ("cat", "finetuning", "joint")
    for name in names:
        own = {"method": name, "out": folder / name, "repeats": 2}
        if name == "cat":
            run(source, **own)
        else:
            run(source, **own, budget=None, settings=LEARNING)
    runs = [folder / name for name in names]
    stored = [json.loads((path / "result.json").read_bytes()) for path in runs]
    path = write_report(runs, source=source)
    read = read_page(path)
    return SimpleNamespace(
        folder=folder, runs=runs, stored=stored, path=path, read=read, data=read.data, source=source
    )


def aa(matrix, k):
    return sum(matrix[k][i] for i in range(k + 1)) / (k + 1)


def bwt(matrix, k):
    return sum(matrix[k][i] - matrix[i][i] for i in range(k)) / k


def test_matrices_are_means_of_the_repeats_up_to_the_diagonal(streams):
    for record, shown in zip(streams.stored, streams.data["matrices"], strict=True):
        assert [len(row) for row in shown] == [1, 2, 3]
        for k in range(3):
            for i in range(k + 1):
                expected = fmean(matrix[k][i] for matrix in record["matrices"])
                assert shown[k][i] == pytest.approx(expected)


def test_average_accuracy_and_backward_transfer_follow_their_formulas_after_each_task(streams):
    for number, record in enumerate(streams.stored):
        for k in range(3):
            each = [aa(matrix, k) for matrix in record["matrices"]]
            found = streams.data["average"][number][k]
            assert found["each"] == pytest.approx(each)
            assert found["mean"] == pytest.approx(fmean(each))
            assert found["deviation"] == pytest.approx(stdev(each))
            found = streams.data["transfer"][number][k]
            if k == 0:
                assert found is None
                continue
            each = [bwt(matrix, k) for matrix in record["matrices"]]
            assert found["each"] == pytest.approx(each)
            assert found["mean"] == pytest.approx(fmean(each))
            assert found["deviation"] == pytest.approx(stdev(each))
        assert streams.data["average"][number][-1]["mean"] == pytest.approx(
            record["average_accuracy"]["mean"]
        )
        assert streams.data["transfer"][number][-1]["mean"] == pytest.approx(
            record["backward_transfer"]["mean"]
        )


def test_the_first_answers_are_of_the_last_row(streams):
    words = streams.read.words
    final = [record["average_accuracy"]["mean"] for record in streams.stored]
    for label, mean in zip(streams.data["labels"], final, strict=True):
        assert f"{label} {100 * mean:.1f} %" in words
    for label, mean in zip(streams.data["labels"][:2], final, strict=False):
        assert f"{label} {in_points(mean - final[2])} points" in words
    for record, label in zip(streams.stored, streams.data["labels"], strict=True):
        last = np.mean([matrix[-1] for matrix in record["matrices"]], axis=0)
        worst = np.flatnonzero(last == last.min())
        more = f" and {len(worst) - 1} more" if len(worst) > 1 else ""
        named = "" if more else f" (classes {', '.join(record['tasks'][worst[0]])})"
        assert f"{label} task {worst[0]}{more} {100 * last.min():.1f} %{named}" in words


def test_the_memories_are_matched_as_the_explorer_says(streams):
    means = streams.data["explorer"]["means"]
    assert [mean is None for mean in means] == [False, True, True]
    assert f"How well is the memory matched? cat + lqm {means[0]:.3f} Cramér" in streams.read.words


def test_methods_with_and_without_a_memory_stand_side_by_side(streams, monkeypatch):
    assert streams.data["labels"] == ["cat + lqm", "finetuning", "joint"]
    budgets = streams.data["budgets"]["sets"]
    memories = [lqm.load(path) for path in sorted((streams.runs[0] / "repeat-0" / "memory").iterdir())]
    assert len(budgets[0]) == len(streams.data["classNames"]) == 6
    assert sum(budgets[0]) == sum(len(memory.labels) for memory in memories) == 15
    assert [sum(budgets[0][2 * task : 2 * task + 2]) for task in range(3)] == [5, 5, 5]
    assert budgets[1:] == [[], []]
    assert "5 nodes a task" in streams.read.words
    found = {}
    monkeypatch.chdir(streams.runs[0].parent)
    exec(streams.read.code[0], found)  # noqa: S102
    assert found["data"].num_nodes == 5
    for lines in streams.read.code[1:]:
        exec(lines, {})  # noqa: S102


def test_latent_features_are_those_of_the_memories(streams):
    found = streams.data["explorer"]
    assert found["means"][1:] == [None, None], "what keeps nothing matches nothing"
    budgets = streams.data["budgets"]["sets"][0]
    assert len(found["classes"]) == 6
    for own in found["classes"]:
        kept, *others = own["cases"]
        assert others == [None, None]
        assert kept["size"] == budgets[own["label"]]
        features = len(own["features"])
        real, values = (
            torch.from_numpy(unpacked(text, features).T.copy()) for text in (own["real"], kept["own"])
        )
        expected = cramer_von_mises(real, values, ties="ecdf")
        assert kept["statistic"] == pytest.approx(expected.tolist())


def test_a_stream_whose_graph_is_not_at_hand_has_a_page_without_latents(streams, tmp_path, capsys):
    page = read_page(write_report(streams.runs, tmp_path / "page.html"))
    assert page.data["explorer"] is None
    assert page.data["matrices"] == streams.data["matrices"]
    assert "The graph was not at hand" in page.words
    assert capsys.readouterr().err.endswith("; the page is made without the real data\n")


def test_streams_without_a_memory_need_no_real_data(streams, tmp_path, capsys):
    page = read_page(write_report(streams.runs[1:], tmp_path / "page.html"))
    assert page.data["explorer"] is None
    assert "not at hand" not in page.words
    assert "budgets" not in {found.get("id") for _, found in page.elements}
    assert capsys.readouterr().err == ""


def test_one_task_has_no_transfer_and_one_repeat_no_deviation(tmp_path):
    run(out=tmp_path / "one", classes_per_task=6, budget=7)
    page = read_page(write_report(tmp_path / "one"))
    assert page.data["transfer"] == [[None]]
    assert page.data["average"][0][0]["deviation"] is None
    assert "What was forgotten?" not in page.words
    assert sum(page.data["budgets"]["sets"][0]) == 7


def test_curves_are_those_of_the_first_condensation(streams):
    lines = (streams.runs[0] / "repeat-0" / "condense" / "metrics.jsonl").read_text().splitlines()
    logged = [json.loads(line) for line in lines]
    assert streams.data["learning"]["curves"][0]["loss"]["values"] == [line["loss"] for line in logged]
    assert streams.data["learning"]["curves"][1:] == [{}, {}]


def test_the_same_stream_given_twice_is_one(streams, tmp_path):
    page = read_page(write_report([streams.runs[1], streams.runs[1]], tmp_path / "page.html"))
    assert page.data["labels"] == ["finetuning"]


@pytest.mark.parametrize("change", [{"classes_per_task": 3}, {"order": "shuffled"}, {"scoring": "task"}])
def test_streams_of_other_tasks_or_judged_otherwise_are_refused(streams, tmp_path, change):
    run(streams.source, method="finetuning", budget=None, settings=LEARNING, out=tmp_path / "other", **change)
    with pytest.raises(
        ConfigError,
        match=r"other and .*cat are not of the same tasks, evaluated in the same way; give a report",
    ):
        write_report([streams.runs[0], tmp_path / "other"], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_a_stream_beside_a_set_is_refused(streams, tmp_path):
    lqm.condense(tiny_source(), method="random", per_class=1, out=tmp_path / "set", show_progress=False)
    for runs in ([streams.runs[0], tmp_path / "set"], [tmp_path / "set", streams.runs[0]]):
        with pytest.raises(
            ConfigError, match=r"cat is a stream of tasks and .*set is not; give a report to each kind"
        ):
            write_report(runs, tmp_path / "page.html")


@pytest.mark.parametrize(
    "content",
    ["{", "[]", "{}", '{"matrices": []}', "half"],
)
def test_a_damaged_result_is_one_sentence(streams, tmp_path, content):
    folder = shutil.copytree(streams.runs[1], tmp_path / "spoiled")
    whole = (folder / "result.json").read_text()
    (folder / "result.json").write_text(whole[: len(whole) // 2] if content == "half" else content)
    with pytest.raises(ArtifactError, match=r"result\.json .*give its (`lqm continual` )?command again"):
        write_report(folder)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize("matrices", [[], [[[0.5]]], [[[0.5, None], [0.5]]], "x"])
def test_damaged_accuracies_are_one_sentence(streams, tmp_path, matrices):
    folder = shutil.copytree(streams.runs[1], tmp_path / "spoiled")
    record = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps(record | {"matrices": matrices}))
    with pytest.raises(
        ArtifactError, match=r"result\.json are damaged; give its `lqm continual` command again"
    ):
        write_report(folder)
    with pytest.raises(ArtifactError, match="are damaged"):
        write_report([streams.runs[0], folder], tmp_path / "page.html")


def test_a_memory_of_a_stream_is_refused(streams, tmp_path):
    memory = streams.runs[0] / "repeat-0" / "memory" / "task-00"
    with pytest.raises(ConfigError, match="this set is the memory of task 0 of a stream"):
        write_report(memory, tmp_path / "page.html")


def test_a_memory_that_has_gone_is_one_sentence(streams, tmp_path):
    folder = shutil.copytree(streams.runs[0], tmp_path / "cat")
    shutil.rmtree(folder / "repeat-0" / "memory" / "task-01")
    with pytest.raises(ArtifactError, match=r"there is no folder .*task-01"):
        write_report(folder, source=streams.source)


def test_joint_training_alone_is_not_held_against_itself(streams, tmp_path):
    page = read_page(write_report(streams.runs[2], tmp_path / "page.html"))
    assert "How far from keeping everything?" not in page.words


def test_streams_that_bound_a_memory_are_named_or_asked_for(streams, tmp_path):
    joint, nothing = (100 * streams.stored[place]["average_accuracy"]["mean"] for place in (2, 1))
    reached = f"joint keeps all tasks whole and reaches {joint:.1f} %; finetuning keeps nothing and reaches"
    assert f"{reached} {nothing:.1f} %." in streams.read.words
    assert streams.data["bounds"] == [None, "finetuning: keeps nothing", "joint: keeps everything"]
    alone = read_page(write_report(streams.runs[0], tmp_path / "page.html", source=streams.source))
    assert "How far from keeping everything? cat + lqm not measured Run lqm continual" in alone.words
    assert alone.data["bounds"] == [None]


def test_what_is_of_the_first_repeat_says_so(streams):
    assert streams.read.words.count("in the first repeat") == 3


def test_what_became_what_and_how(streams):
    words = streams.read.words
    assert "3 tasks, class-incremental; 99 nodes of 6 classes." in words
    steps = streams.stored[0]["config"]["settings"]["steps"]
    assert f"cat + lqm cat lqm 5 nodes a task 0 {steps} 2 " in words
    assert "joint joint none none 0 - 2 " in words
    assert "averaged over all tasks, as the mean of the repeats." in words
    assert "in percent, with the sample standard deviation over repeats." in words


def test_of_a_single_repeat_no_mean_and_no_deviation_is_spoken(tmp_path):
    source = small_graph()
    run(source, out=tmp_path / "run", repeats=1, method="finetuning", budget=None, settings=LEARNING)
    words = read_page(write_report(tmp_path / "run", source=source)).words
    assert "averaged over all tasks." in words
    assert "the repeats" not in words
    assert "over repeats" not in words


def test_lengths_unlike_the_real_ones_are_stored_and_stand_on_the_page(streams, tmp_path):
    wrong = TINY | {"lengths": "free", "learning_rate": 50.0}
    found = run(streams.source, settings=wrong, out=tmp_path / "wrong", repeats=2)
    stored = json.loads((tmp_path / "wrong" / "result.json").read_bytes())["warnings"]
    assert stored == list(found.warnings)
    adjacency = streams.source.graph.adjacency.toarray() + np.eye(len(streams.source.graph.labels))
    own = max(memory.features.norm(dim=1).mean() for memory in found.memories[0])
    longest = adjacency.sum(axis=0).max() * streams.source.graph.features.norm(dim=1).max()
    assert own > 2 * longest, "a real node is nowhere longer than all its neighbours together"
    assert len(stored) == 2
    assert all(line.startswith(f"repeat {number} of 2: in ") for number, line in enumerate(stored, 1))
    again = run(streams.source, settings=wrong, out=tmp_path / "wrong", repeats=2)
    assert again.warnings == found.warnings
    words = read_page(write_report(tmp_path / "wrong", source=streams.source)).words
    assert all(f"Warning: {line}." in words for line in stored)
    assert streams.stored[0]["warnings"] == []
    assert "Warning" not in streams.read.words


def test_a_result_of_an_older_version_has_no_warnings(streams, tmp_path):
    shutil.copytree(streams.runs[0], tmp_path / "old")
    path = tmp_path / "old" / "result.json"
    result = json.loads(path.read_bytes())
    del result["warnings"]
    path.write_text(json.dumps(result))
    assert "Warning" not in read_page(write_report(tmp_path / "old", source=streams.source)).words


def beside_random(streams, folder, own, random, **settings):
    """The words of a page with a condensed memory and as many random nodes, of planted AA in each repeat."""
    shutil.copytree(streams.runs[0], folder / "cat")
    run(streams.source, method="random", settings=LEARNING | settings, out=folder / "random")
    for name, accuracies in (("cat", own), ("random", random)):
        path = folder / name / "result.json"
        matrices = [
            [[accuracy if i <= k else None for i in range(3)] for k in range(3)] for accuracy in accuracies
        ]
        path.write_text(json.dumps(json.loads(path.read_bytes()) | {"matrices": matrices}))
    return read_page(write_report([folder / "cat", folder / "random"], source=streams.source)).words


@pytest.mark.parametrize(
    ("own", "random", "said"),
    [
        ([0.70, 0.71, 0.72], [0.60, 0.61, 0.62], "+10.0 points over random nodes (5 nodes a task)."),
        ([0.50, 0.51, 0.52], [0.60, 0.61, 0.62], "WORSE than random nodes (5 nodes a task)"),
        ([0.50, 0.65, 0.80], [0.60, 0.61, 0.62], "can't be told from random nodes (5 nodes a task)"),
        ([0.70], [0.60], "by one repeat, which is too few to tell"),
    ],
)
def test_a_memory_has_a_verdict_beside_as_many_random_nodes(streams, tmp_path, own, random, said):
    words = beside_random(streams, tmp_path, own, random)
    assert said in words[words.index("cat + lqm, by AA: ") :][:120]
    if len(own) > 1:
        clear = ttest_ind(own, random, equal_var=False).pvalue < 0.05
        assert ("can't be told" in words) == (not clear)


def test_random_nodes_that_are_learned_in_another_way_bring_no_verdict(streams, tmp_path):
    assert "by AA" not in streams.read.words
    for name, other in (("raw", {"features": "own"}), ("longer", {"epochs": 9})):
        assert "by AA" not in beside_random(streams, tmp_path / name, [0.7, 0.8], [0.6, 0.6], **other)

"""What the page says of sets: scores, sizes, curves and manifests, each as it was found."""

import json
import shutil
from dataclasses import replace
from statistics import fmean, stdev
from types import SimpleNamespace

import pytest

import lqm
from lqm import write_report
from lqm.evaluation.standing import Standing
from lqm.graphs.evaluation import PROTOCOLS as GRAPH_PROTOCOLS
from lqm.graphs.evaluation import GraphProtocol
from lqm.graphs.sources import load_graph
from lqm.report.page.standings import seeds_in_words
from tests.report.making import PROTOCOL, chosen, read_page, rewritten, tiny_source

GRAPH = "synthetic:nodes=300,classes=4,features=6,degree=6"
TINY_GRAPH = GraphProtocol("tiny", epochs=20, networks=2, network="gcn:width=8:depth=2", full_networks=1)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """A condensed and a chosen set of nodes, the first of them judged."""
    folder = tmp_path_factory.mktemp("nodes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LQM_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setitem(GRAPH_PROTOCOLS, "unbiased-500", TINY_GRAPH)
        settings = {"steps": 3, "width": 8}
        lqm.condense(
            GRAPH, method="cat", budget=12, settings=settings, out=folder / "cat", show_progress=False
        )
        lqm.condense(GRAPH, method="random", budget=20, out=folder / "random", show_progress=False)
        found = lqm.evaluate(folder / "cat", baselines=("random", "full"), show_progress=False)
        path = write_report([folder / "cat", folder / "random"])
    return SimpleNamespace(folder=folder, found=found, read=read_page(path))


def in_percent(accuracies):
    """Mean and sample standard deviation as they are to be shown; a single number has no deviation."""
    beyond = f" ± {100 * stdev(accuracies):.1f}" if len(accuracies) > 1 else ""
    return f"{100 * fmean(accuracies):.1f}{beyond}"


def test_the_bars_are_the_scores(page):
    (bars,) = page.data["standings"]
    by_name = {bar["name"]: bar for bar in bars}
    assert [*by_name] == sorted(by_name, key=lambda name: -by_name[name]["accuracy"])
    mean = page.found["mean"][0]
    for name, score in (
        ("dm + mean", mean.score),
        ("random", mean.rows["random"]),
        ("full", mean.rows["full"]),
    ):
        bar = by_name[name]
        assert bar["accuracies"] == list(score.accuracies)
        assert bar["accuracy"] == score.accuracy
        assert bar["deviation"] == score.deviation
        assert bar["byClass"] == list(score.by_class)
        assert bar["size"] == f" ({score.records:,})"
        assert bar["shown"] == in_percent(score.accuracies)
    assert [by_name[name]["case"] for name in ("dm + mean", "dm + lqm", "full")] == [0, 1, None]


def test_the_numbers_stand_in_a_table_too(page):
    def statistic(match):
        spread = f" ± {stdev(match.by_network):.3f}" if len(match.by_network) > 1 else ""
        return f"{match.cramer_von_mises:.3f}{spread}"

    for score in (page.found["mean"][0].score, page.found["mean"][0].rows["full"]):
        expected = (
            f"{score.records:,} {len(score.accuracies)} "
            f"{in_percent(score.accuracies)} "
            f"{statistic(score.before)} {statistic(score.after)} "
            f"{100 * score.before.extremes:.2f} {100 * score.after.extremes:.2f}"
        )
        assert expected in page.read.words
    assert "tiny: 2 fresh ConvNet-3 of width 8, 20 epochs each at rate 0.1" in page.read.words
    assert "full: 1 network, 2 epochs" in page.read.words


def test_what_became_what_and_how(page):
    words = page.read.words
    assert "digits, condensed" in words
    assert "1,442 real training images of 10 classes became 20 (1.4 %)." in words
    for case in page.cases:
        assert case.folder.name in words
        assert str(case.folder.parent) not in words
        assert f"{case.label} dm {case.manifest['distance']['name']} 2 a class 0 4" in words
    assert page.data["labels"] == ["dm + mean", "dm + lqm"]
    assert page.data["classNames"] == [str(digit) for digit in range(10)]


def test_the_manifests_are_there_as_they_are_written(page):
    whole = "".join(page.read.text)
    for case in page.cases:
        assert json.dumps(case.manifest, indent=2, ensure_ascii=False) in whole


def test_curves_are_what_the_run_logged(page):
    for case, curves in zip(page.cases, page.data["learning"]["curves"], strict=True):
        lines = [json.loads(line) for line in (case.folder / "metrics.jsonl").read_text().splitlines()]
        assert curves["loss"]["steps"] == [1, 2, 3, 4]
        assert curves["loss"]["values"] == [line["loss"] for line in lines]
    charts = {found["data-chart"] for found in page.read.of("div") if "data-chart" in found}
    drawn = {"accuracy:0", "classes:0", "confusion:0,0", "confusion:0,1", "histogram", "extremes"}
    assert charts == drawn | {"map:class", "map:all", "curve:loss"}


def test_evaluations_along_the_way_are_drawn_if_there_are_any(page, tmp_path):
    assert page.data["learning"]["evaluations"] == {}
    folder = shutil.copytree(page.cases[0].folder, tmp_path / "run")
    records = [
        {"step": 2, "accuracy": 0.5, "accuracies": [0.25, 0.75], "protocol": "other"},
        {"step": 4, "accuracy": 0.5, "accuracies": [0.5], "protocol": "tiny"},
        {"step": 6, "accuracy": 0.6, "accuracies": [0.6], "protocol": "tiny"},
    ]
    (folder / "evaluations.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    read = read_page(write_report(folder))
    assert read.data["learning"]["evaluations"] == {
        "other": [[{"step": 2, "accuracy": 0.5, "deviation": pytest.approx(stdev([0.25, 0.75]))}]],
        "tiny": [[{"step": 4, "accuracy": 0.5, "deviation": None}]],
    }, "a chart a protocol, and nothing of steps after those of the set"
    charts = {found.get("data-chart") for found in read.of("div")}
    assert charts >= {"evaluations:other", "evaluations:tiny"}


def test_a_saved_set_without_its_run_has_no_curves(page, tmp_path):
    page.cases[0].condensed.save(tmp_path / "saved")
    read = read_page(write_report(tmp_path / "saved"))
    assert read.data["learning"]["curves"] == [{}]
    assert "learning" not in {found.get("id") for _, found in read.elements}


def test_ways_of_judging_are_chosen_from_and_say_whom_they_did_not_judge(page, tmp_path):
    runs = [
        shutil.copytree(case.folder, tmp_path / name) for case, name in zip(page.cases, "ab", strict=True)
    ]
    condensed = lqm.load(runs[1])
    other = condensed.manifest["scores"][0]
    other = other | {"protocol": other["protocol"] | {"name": "other", "epochs": 3}}
    condensed.with_score(other)
    read = read_page(write_report(runs))
    assert len(read.data["standings"]) == 2
    assert [len(bars) for bars in read.data["standings"]] == [5, 3], (
        "both sets and three baselines, or one and two"
    )
    assert "Not evaluated in this way: dm + mean." in read.words
    options = read.of("option")
    assert [option["value"] for option in options] == ["0", "1"]
    (select,) = [found for found in read.of("select") if found["id"] == "standing"]
    assert select
    hidden = ["hidden" in found for found in read.of("div") if found.get("class") == "standing"]
    assert hidden == [False, True]


def test_a_class_without_test_records_has_a_dash(page, tmp_path):
    folder = shutil.copytree(page.cases[0].folder, tmp_path / "run")
    (score,) = lqm.load(folder).manifest["scores"]
    shares = [None, *score["by_class"][1:]]
    rewritten(folder, scores=[score | {"by_class": shares, "baselines": {}}])
    read = read_page(write_report(folder))
    assert read.data["standings"][0][0]["byClass"] == shares
    assert "class dm + mean 0 - 1 " in read.words


def test_a_score_of_an_older_version_has_its_bar_and_no_classes(page, tmp_path):
    folder = shutil.copytree(page.cases[0].folder, tmp_path / "run")
    (score,) = lqm.load(folder).manifest["scores"]
    rewritten(folder, scores=[{k: v for k, v in score.items() if k not in ("by_class", "baselines")}])
    read = read_page(write_report(folder))
    (bar,) = read.data["standings"][0]
    assert (bar["accuracies"], bar["byClass"]) == (score["accuracies"], [])
    charts = {found.get("data-chart") for found in read.of("div")}
    assert "accuracy:0" in charts
    assert "classes:0" not in charts


def test_shares_of_the_real_data_are_read_easily(tmp_path):
    source = tiny_source(each=4)
    chosen(source, tmp_path / "all", per_class=4)
    chosen(source, tmp_path / "some", per_class=1)
    page = read_page(write_report([tmp_path / "all", tmp_path / "some"], source=source))
    assert "12 real training images of 3 classes became 3 or 12 (25 % or 100 %)." in page.words


def test_sets_that_match_perfectly_are_no_trouble(tmp_path):
    """Both statistics are 0, and none is lower than the other."""
    source = tiny_source(each=3)
    for seed in (0, 1):
        chosen(source, tmp_path / str(seed), per_class=3, seed=seed)
    page = read_page(write_report([tmp_path / "0", tmp_path / "1"], source=source))
    assert page.data["explorer"]["means"] == pytest.approx([0, 0], abs=1e-6)


def test_budgets_of_nodes_add_up_to_the_nodes(nodes):
    budgets = nodes.read.data["budgets"]
    assert [sum(own) for own in budgets["sets"]] == [12, 20]
    for name, own in zip(("cat", "random"), budgets["sets"], strict=True):
        assert own == lqm.load(nodes.folder / name).labels.bincount(minlength=4).tolist()
    source = load_graph(GRAPH)
    assert budgets["real"] == source.graph.labels[source.train].bincount().tolist()
    assert sum(budgets["real"]) == len(source.train)


def test_a_page_of_nodes_has_scores_and_latents_and_no_images(nodes, monkeypatch):
    read = nodes.read
    assert read.data["images"] == []
    assert read.data["real"] == {}
    ids = {found.get("id") for _, found in read.elements}
    assert {"budgets", "accuracy", "latents", "learning"} <= ids
    assert not {"images", "image"} & ids
    assert not read.of("img")
    (bars,) = read.data["standings"]
    (own,) = [bar for bar in bars if bar["case"] == 0]
    assert own["accuracies"] == list(nodes.found.score.accuracies)
    assert "Not evaluated in this way: random." in read.words
    assert "180 real training nodes of 4 classes became 12 or 20" in read.words
    assert len(read.data["explorer"]["classes"]) == 4
    monkeypatch.chdir(nodes.folder)
    for place, lines in enumerate(read.code):
        found = {}
        exec(lines, found)  # noqa: S102
        assert found["data"].num_nodes == (12, 20)[place]


def test_a_class_that_a_set_of_nodes_lacks_is_empty_on_the_page(nodes, tmp_path):
    condensed = lqm.load(nodes.folder / "random")
    kept = condensed.labels != 2
    replace(condensed, data=condensed.features[kept], labels=condensed.labels[kept]).write(tmp_path / "less")
    read = read_page(write_report([tmp_path / "less", nodes.folder / "cat"], tmp_path / "page.html"))
    assert read.data["budgets"]["sets"][0][2] == 0
    assert read.data["explorer"]["classes"][2]["cases"][0] is None
    assert read.data["explorer"]["extremes"][0][2] is None


def test_a_page_is_made_by_the_network_of_the_first_set(page):
    first = page.cases[0].manifest["evaluation"]
    assert first["network"] == PROTOCOL.network
    assert f"A fresh {PROTOCOL.kind} with random weights" in page.read.words


def test_seeds_that_were_put_together_are_told_from_those_that_sets_do_not_share():
    protocol, bars = PROTOCOL, []
    assert seeds_in_words(Standing(protocol, bars)) == ""
    assert seeds_in_words(Standing(protocol, bars, (0, 1))) == "; seeds 0, 1 together"
    apart = Standing(protocol, bars, (0, 1), paired=False)
    assert seeds_in_words(apart) == "; each set by its own of the seeds 0, 1"

"""The demo, end to end, at a size that takes seconds."""

import contextlib
import io
import json
import re
from statistics import fmean

import pytest
from pydantic import TypeAdapter

import lqm
from lqm.api import demo
from lqm.cli.demo import demo as show_demo
from lqm.cli.documents import DOCUMENTS
from lqm.cli.output import USUAL, Output
from lqm.evaluation.paired import Paired
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol
from lqm.recipes import Recipe

SEEDS = (3, 4, 5)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Runs the demo in a folder; gives the folder and a function that runs it and gives what it prints."""
    folder = tmp_path_factory.mktemp("demo")
    settings = {"steps": 6, "network": "convnet:width=8", "real_batch": 32}
    recipe = Recipe("tiny", "dm", 10, settings, "tiny")
    protocol = EvaluationProtocol("tiny", epochs=2, networks=2, network="convnet:width=8")

    def run(output=USUAL):
        with pytest.MonkeyPatch.context() as own, contextlib.redirect_stdout(io.StringIO()) as printed:
            own.setenv("LQM_CACHE", str(folder / "cache"))
            show_demo(out=folder, seed=SEEDS[0], output=output)
        return printed.getvalue()

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PROTOCOLS, "tiny", protocol)
        patch.setattr("lqm.recipes.fitting_recipe", lambda *_, **__: recipe)
        for name, few in {"_ENCODERS": 6, "_STEPS": 6, "_NETWORKS": 2}.items():
            patch.setattr(demo, name, few)
        yield folder, run


@pytest.fixture(scope="module")
def printed(small):
    return small[1]()


@pytest.fixture(scope="module")
def manifests(small, printed):
    return {
        distance: [lqm.load(small[0] / f"{distance}-seed-{seed}").manifest for seed in SEEDS]
        for distance in ("mean", "lqm")
    }


def accuracies(manifests):
    return [fmean(manifest["scores"][0]["accuracies"]) for manifest in manifests]


@pytest.mark.parametrize("distance", ["mean", "lqm"])
def test_a_row_has_the_accuracy_of_every_seed(printed, manifests, distance):
    row = next(line for line in printed.splitlines() if line.strip().startswith(f"by {distance}  "))
    assert re.findall(r"\d+\.\d", row)[:3] == [f"{100 * a:.1f}" for a in accuracies(manifests[distance])]


def test_the_distances_are_compared_by_the_differences_of_pairs(printed, manifests):
    differences = (q - m for m, q in zip(*map(accuracies, manifests.values()), strict=True))
    paired = Paired(tuple(differences))
    assert " ".join(f"{paired}: {paired.verdict}".split()) in " ".join(printed.split())


def test_both_sides_of_a_pair_share_sketch_settings_and_seeds(manifests):
    for seed, *pair in zip(SEEDS, *manifests.values(), strict=True):
        for shared in ("seed", "settings", "steps", "sketch"):
            assert pair[0][shared] == pair[1][shared]
        assert [side["scores"][0]["seed"] for side in pair] == [seed, seed]


def test_real_images_stand_beside_and_the_page_comes_last(small, printed):
    assert "random" in printed
    assert "full" in printed
    assert str(small[0] / "report.html") in printed.splitlines()[-1]
    assert "<h1>digits, condensed</h1>" in (small[0] / "report.html").read_text()


def test_the_demo_can_be_run_again(small, printed):
    page = (small[0] / "report.html").read_text()
    assert small[1]() == printed
    assert (small[0] / "report.html").read_text() == page


def test_a_document_has_the_same_numbers(small, printed, manifests, capsys):
    document = small[1](Output(json=True))
    TypeAdapter(DOCUMENTS["demo"]).validate_json(document, strict=True)
    found = json.loads(document)
    rows = {row["training_set"]: row for row in found["rows"]}
    assert {*rows} == {"by mean", "by lqm", "random", "full"}
    means = [row["accuracy"]["mean"] for row in found["rows"]]
    assert means == sorted(means), "the least accurate first"
    for distance, own in manifests.items():
        assert rows[f"by {distance}"]["accuracy"]["each"] == pytest.approx(accuracies(own))
        assert rows[f"by {distance}"]["records"] == 100
    assert rows["full"]["accuracy"]["deviation"] is None
    difference = found["difference"]
    assert (difference["side"], difference["against"], difference["pairs"]) == ("lqm", "mean", 3)
    by_mean, by_lqm = map(fmean, map(accuracies, manifests.values()))
    assert difference["mean"] == pytest.approx(by_lqm - by_mean)
    assert found["page"] == str(small[0] / "report.html")
    assert "handwritten digits become" in capsys.readouterr().err

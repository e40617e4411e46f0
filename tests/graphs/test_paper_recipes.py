"""The papers' settings of graphs, and better ones, by name."""

import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

import lqm
from lqm.graphs.domain import graph_recipe
from lqm.graphs.methods.cat import CaTSettings, PUMASettings
from lqm.graphs.networks import Inputs, make_network
from lqm.recipes import called_recipe, load_recipes
from lqm.utils.errors import ConfigError


@pytest.mark.parametrize(("method", "kind"), [("cat", CaTSettings), ("puma", PUMASettings)])
def test_paper_names_every_setting_so_that_no_default_can_change_it(method, kind):
    settings = load_recipes("graphs")[f"{method}-paper"].settings
    assert {*settings} == {*asdict(kind())} - {"reuse", "window"}
    assert settings["lengths"] == "free"


def test_corafull_has_5000_encoders():
    assert called_recipe("graphs", "paper", "cat", graph="corafull").settings["steps"] == 5000
    assert called_recipe("graphs", "paper", "cat", graph="cora").settings["steps"] == 3000


def test_a_set_by_the_papers_recipe_is_one_by_its_settings():
    found, expected = (
        lqm.condense("digits-knn", budget=12, show_progress=False, **given)
        for given in (
            {"recipe": "paper", "settings": {"steps": 2}},
            {"settings": {"steps": 2, "learning_rate": 1e-3, "lengths": "free"}},
        )
    )
    assert torch.equal(found.features, expected.features)
    assert found.manifest["recipe"] == "cat-paper"


def test_a_stream_by_the_papers_recipe_is_one_by_its_settings():
    common = {"steps": 2, "epochs": 2}
    found, expected = (
        lqm.continual("digits-knn", budget=4, repeats=1, show_progress=False, **given)
        for given in (
            {"recipe": "paper", "settings": common},
            {"settings": {**common, "learning_rate": 1e-3, "lengths": "free"}},
        )
    )
    assert found.config == expected.config
    assert torch.equal(found.matrices.nan_to_num(), expected.matrices.nan_to_num())


def test_best_is_what_the_defaults_are_by_networks_without_biases():
    condensed, usual = (
        lqm.condense("digits-knn", budget=12, show_progress=False, settings={"steps": 2}, **given)
        for given in ({"recipe": "best"}, {})
    )
    assert torch.equal(condensed.features, usual.features)
    assert condensed.manifest["recipe"] == "cat-best"
    found = lqm.evaluate(condensed, repeats=1, baselines=(), show_progress=False)
    assert found.protocol.name == "unbiased-500"
    assert found.protocol.network == "gcn:bias=false"


def test_a_stream_by_best_has_a_classifier_without_biases():
    stream = lqm.continual(
        "digits-knn",
        budget=4,
        recipe="best",
        repeats=1,
        settings={"steps": 2, "epochs": 2},
        show_progress=False,
    )
    assert stream.config["settings"]["classifier"] == "gcn:width=256:depth=2:bias=false"


def test_without_biases_a_prediction_does_not_mind_the_lengths_of_features():
    """Which is why a network that has learned from nodes without edges can be tested with them."""
    graph = lqm.load_graph("synthetic:nodes=60,classes=3").graph
    for spec, same in (("gcn:bias=false", True), ("gcn", False)):
        torch.manual_seed(0)
        network = make_network(spec, graph.width, 3)
        for name, part in network.named_parameters():
            if "bias" in name:
                torch.nn.init.normal_(part)
        long, short = (
            network(Inputs(scale * graph.features, graph.adjacency, torch.device("cpu"))).argmax(dim=1)
            for scale in (1_000, 0.01)
        )
        assert torch.equal(long, short) == same


@pytest.mark.parametrize("learn", [lqm.condense, lqm.continual])
@pytest.mark.parametrize("given", [{"recipe": "papre"}, {"recipe": "puma-paper", "method": "cat"}])
def test_a_recipe_that_does_not_fit_is_refused(learn, given):
    with pytest.raises(ConfigError, match="recipe"):
        learn("digits-knn", budget=10, show_progress=False, **given)


def test_what_condenses_nothing_has_no_recipe():
    with pytest.raises(ConfigError, match="er-gnn"):
        lqm.continual("digits-knn", method="er-gnn", budget=4, recipe="paper", show_progress=False, repeats=1)


def test_a_recipe_has_the_last_word_over_the_defaults_of_an_old_run(tmp_path):
    old = Path(shutil.copytree(Path(__file__).parents[1] / "golden" / "old" / "cat3", tmp_path / "cat3"))
    with pytest.raises(ConfigError, match="width"):
        lqm.condense("digits-knn", budget=10, recipe="paper", out=old, show_progress=False)


def test_a_recipe_that_a_sketch_contradicts_is_refused(tmp_path):
    lqm.sketch("digits-knn", encoders=2, settings={"width": 16}, out=tmp_path, show_progress=False)
    with pytest.raises(ConfigError, match="width"):
        lqm.condense("digits-knn", budget=10, recipe="paper", sketch=tmp_path, show_progress=False)


def test_corafull_is_known_by_any_of_its_spellings():
    graph = lqm.load_graph("digits-knn")
    for name, steps in (("CoraFull", 5000), ("cora_full", 5000), ("cora", 3000)):
        assert graph_recipe(replace(graph, name=name), "paper", "cat").settings["steps"] == steps

"""The papers' settings of graphs, and better ones, by name."""

import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

import lqm
from lqm.graphs.continual import CONTINUAL_METHODS
from lqm.graphs.continual.settings import CondensedReplaySettings, PUMAReplaySettings
from lqm.graphs.domain import graph_recipe
from lqm.graphs.methods.cat import CaTSettings, PUMASettings
from lqm.graphs.networks import Inputs, make_network
from lqm.recipes import called_recipe, load_recipes
from lqm.utils.errors import ConfigError

# The classifier of CaT's code, which was the default once.
_CLASSIFIER = {"classifier": "gcn:width=256:depth=2", "classifier_rate": 0.005, "retrain": False}
_SHORT = {"steps": 2, "epochs": 2}


@pytest.mark.parametrize(("method", "kind"), [("cat", CaTSettings), ("puma", PUMASettings)])
def test_paper_names_every_setting_so_that_no_default_can_change_it(method, kind):
    settings = load_recipes("graphs")[f"{method}-paper"].settings
    assert {*settings} == {*asdict(kind())} - {"reuse", "window"}
    assert settings["lengths"] == "free"


def test_paper_names_the_classifier_of_a_stream_too():
    """That of the code of CaT and of PUMA; pseudo-labels are off in all comparisons."""
    for method, learning in (("cat", CondensedReplaySettings), ("puma", PUMAReplaySettings)):
        classifier = load_recipes("graphs")[f"{method}-paper"].stream
        assert {*classifier} == {name for name in asdict(learning()) if not name.startswith("pseudo")}
    cat, corafull = (load_recipes("graphs")[name].stream for name in ("cat-paper", "cat-corafull-paper"))
    assert cat == corafull
    assert (cat["classifier"], cat["classifier_rate"]) == ("gcn:width=256:depth=2", 0.005)
    assert not cat["retrain"]


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
    common = _SHORT
    found, expected = (
        lqm.continual("digits-knn", budget=4, repeats=1, show_progress=False, **given)
        for given in (
            {"recipe": "paper", "settings": common},
            {"settings": {**common, **_CLASSIFIER, "learning_rate": 1e-3, "lengths": "free"}},
        )
    )
    assert found.config == expected.config
    assert torch.equal(found.matrices.nan_to_num(), expected.matrices.nan_to_num())


@pytest.mark.parametrize("method", ["cat", "puma"])
def test_best_is_what_holds_where_nothing_is_asked_for(method):
    condensed, usual = (
        lqm.condense(
            "digits-knn", method=method, budget=12, show_progress=False, settings={"steps": 2}, **given
        )
        for given in ({"recipe": "best"}, {})
    )
    assert torch.equal(condensed.features, usual.features)
    assert condensed.manifest["recipe"] == f"{method}-best"
    assert condensed.manifest["evaluation"] == usual.manifest["evaluation"]
    assert condensed.manifest["evaluation"]["name"] == "unbiased-500"
    assert not load_recipes("graphs")[f"{method}-best"].stream_settings


def test_papers_networks_have_biases():
    condensed = lqm.condense(
        "digits-knn", budget=12, recipe="paper", settings={"steps": 2}, show_progress=False
    )
    assert condensed.manifest["evaluation"]["name"] == "cat-500"
    assert condensed.manifest["evaluation"]["network"] == "gcn"


@pytest.mark.parametrize("method", ["cat", "random", "er-gnn", "ssm"])
def test_every_memory_is_learned_by_the_same_classifier(method):
    learning = CONTINUAL_METHODS[method].learning()
    assert learning.classifier == "appnp:width=64:depth=2:hops=20:bias=false"
    assert (learning.classifier_rate, learning.retrain) == (1e-3, True)


@pytest.mark.parametrize("method", ["finetuning", "joint"])
def test_whole_graphs_are_learned_by_the_papers_classifier(method):
    learning = CONTINUAL_METHODS[method].learning()
    assert (learning.classifier, learning.retrain) == ("gcn:width=256:depth=2", False)


@pytest.mark.parametrize("before", [_CLASSIFIER, {"classifier": "gcn:width=64:depth=2:bias=false"}])
def test_a_run_that_began_with_an_earlier_classifier_goes_on_with_it(before, tmp_path):
    """As earlier versions began a stream, unless a recipe is asked for."""
    given = {"budget": 4, "show_progress": False, "out": tmp_path}
    begun = lqm.continual("digits-knn", repeats=1, settings={**_SHORT, **before}, **given)
    more = lqm.continual("digits-knn", repeats=2, settings=_SHORT, **given)
    assert more.config == begun.config
    assert torch.equal(more.matrices[0].nan_to_num(), begun.matrices[0].nan_to_num())
    with pytest.raises(ConfigError, match="classifier"):
        lqm.continual("digits-knn", recipe="best", repeats=2, settings=_SHORT, **given)


def test_a_set_that_goes_on_keeps_its_protocol(tmp_path):
    given = {"budget": 12, "show_progress": False, "out": tmp_path}
    papers = load_recipes("graphs")["cat-paper"].settings
    lqm.condense("digits-knn", recipe="paper", settings={"steps": 2}, **given)
    more = lqm.condense("digits-knn", settings=papers | {"steps": 3}, **given)
    assert more.manifest["evaluation"]["name"] == "cat-500"
    best = lqm.condense("digits-knn", recipe="best", settings=papers | {"steps": 4}, **given)
    assert best.manifest["evaluation"]["name"] == "unbiased-500"


def test_without_biases_a_prediction_does_not_mind_the_lengths_of_features():
    """Which is why a network that has learned from nodes without edges can be tested with them."""
    graph = lqm.load_graph("synthetic:nodes=60,classes=3").graph
    for spec, same in (("gcn:bias=false", True), ("gcn", False), ("appnp:bias=false", True)):
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

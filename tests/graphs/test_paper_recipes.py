"""The papers' settings of graphs, by name."""

from dataclasses import asdict

import pytest
import torch

import lqm
from lqm.graphs.methods.cat import CaTSettings, PUMASettings
from lqm.recipes import load_recipes, paper_recipe
from lqm.utils.errors import ConfigError


@pytest.mark.parametrize(("method", "kind"), [("cat", CaTSettings), ("puma", PUMASettings)])
def test_paper_names_every_setting_so_that_no_default_can_change_it(method, kind):
    settings = load_recipes("graphs")[f"{method}-paper"].settings
    assert {*settings} == {*asdict(kind())} - {"reuse", "window"}
    assert settings["lengths"] == "free"


def test_corafull_has_5000_encoders():
    assert paper_recipe("graphs", "cat", graph="corafull").settings["steps"] == 5000
    assert paper_recipe("graphs", "cat", graph="cora").settings["steps"] == 3000


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
        lqm.continual("digits-knn", budget=4, show_progress=False, **given)
        for given in (
            {"recipe": "paper", "settings": common},
            {"settings": {**common, "learning_rate": 1e-3, "lengths": "free"}},
        )
    )
    assert found.config == expected.config
    assert torch.equal(found.matrices.nan_to_num(), expected.matrices.nan_to_num())


@pytest.mark.parametrize("learn", [lqm.condense, lqm.continual])
@pytest.mark.parametrize("given", [{"recipe": "papre"}, {"recipe": "puma-paper", "method": "cat"}])
def test_a_recipe_that_does_not_fit_is_refused(learn, given):
    with pytest.raises(ConfigError, match="recipe"):
        learn("digits-knn", budget=10, show_progress=False, **given)


def test_what_condenses_nothing_has_no_recipe():
    with pytest.raises(ConfigError, match="er-gnn"):
        lqm.continual("digits-knn", method="er-gnn", budget=4, recipe="paper", show_progress=False)

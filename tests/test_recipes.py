from importlib.resources import files

import pytest

from lqm.images.evaluation import PROTOCOLS
from lqm.images.methods import METHODS
from lqm.recipes import Recipe, load_recipe
from lqm.settings import make_settings

NAMES = sorted(
    path.name.removesuffix(".toml") for path in files("lqm.recipes").iterdir() if path.name.endswith(".toml")
)


@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_names_a_protocol_and_settings_that_exist(name):
    recipe = load_recipe(name)
    assert recipe.protocol in PROTOCOLS
    for method in recipe.methods:
        for per_class in (1, 10, 50):
            make_settings(METHODS[method].Settings, recipe.settings(method, per_class))


def test_the_largest_budget_that_is_not_above_counts():
    table = {"steps": 5, "per_class": {"10": {"steps": 7}, "1": {"width": 3}}}
    recipe = Recipe("field-1000", {"dm": table})
    assert recipe.settings("dm", 1) == recipe.settings("dm", 9) == {"steps": 5, "width": 3}
    assert recipe.settings("dm", 10) == recipe.settings("dm", 50) == {"steps": 7}
    assert recipe.settings("idm", 1) == {}

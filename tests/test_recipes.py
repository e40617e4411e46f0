import pytest

from lqm.cli.recipes import recipe_tables
from lqm.images.evaluation import PROTOCOLS
from lqm.images.methods import METHODS
from lqm.images.sources import SOURCES
from lqm.recipes import fitting_recipe, load_recipes, named_recipe, recipe_sources
from lqm.utils.errors import ConfigError
from lqm.utils.settings import make_settings

ALL = [(source, name) for source in recipe_sources() for name in load_recipes(source)]


@pytest.mark.parametrize(("source", "name"), ALL)
def test_every_recipe_names_a_protocol_a_method_and_settings_that_exist(source, name):
    recipe = load_recipes(source)[name]
    assert recipe.protocol in PROTOCOLS
    assert recipe.name.removesuffix("-cpu") == f"{recipe.method}-{recipe.per_class}"
    make_settings(METHODS[recipe.method].settings, recipe.settings)


def test_every_named_source_has_recipes():
    assert set(recipe_sources()) == {*SOURCES, "own"}


@pytest.mark.parametrize("source", ["cifar10", "cifar100", "tinyimagenet"])
def test_the_papers_table_is_there_with_its_scores_its_cost_and_a_scale_for_two_cores(source):
    recipes = load_recipes(source)
    for method in ("dm", "datadam", "idm"):
        for per_class in (1, 10, 50):
            recipe = recipes[f"{method}-{per_class}"]
            assert recipe.paper["mean"] > 0
            assert ("lqm" in recipe.paper) == (method == "idm")
            assert recipe.cost
            cpu = recipes[f"{method}-{per_class}-cpu"]
            assert cpu.settings["steps"] < 1000
            assert cpu.protocol == "quick-200"


def test_the_largest_budget_that_is_not_above_counts_and_a_cpu_has_its_own_scale():
    def name(per_class, cpu):
        return fitting_recipe("cifar10", "idm", per_class, cpu=cpu).name

    assert [name(n, False) for n in (1, 9, 10, 49, 50, 999)] == [
        "idm-1",
        "idm-1",
        "idm-10",
        "idm-10",
        "idm-50",
        "idm-50",
    ]
    assert name(10, True) == "idm-10-cpu"
    assert fitting_recipe("digits", "dm", 10, cpu=True).name == "dm-10"


def test_a_method_without_a_recipe_has_its_defaults_and_the_sources_protocol():
    recipe = fitting_recipe("digits", "herding", 10, cpu=True)
    assert (recipe.settings, recipe.protocol) == ({}, "quick-200")
    assert fitting_recipe("cifar10", "herding", 10, cpu=False).protocol == "field-1000"
    assert fitting_recipe("cifar10", "herding", 10, cpu=True).protocol == "quick-200"


def test_an_unknown_recipe_suggests_the_nearest():
    with pytest.raises(ConfigError, match=r"cifar10 'idm-11'.*'idm-1"):
        named_recipe("cifar10", "idm-11")


def test_the_table_has_a_row_for_each():
    assert sum(table.row_count for table in recipe_tables()) == len(ALL)
    (table,) = recipe_tables("digits")
    assert table.row_count == len(load_recipes("digits"))
    with pytest.raises(ConfigError, match=r"'digit'.*'digits'"):
        list(recipe_tables("digit"))


def test_ones_own_images_have_the_papers_settings_for_cifar10():
    own, paper = load_recipes("own"), load_recipes("cifar10")
    for name in own:
        if not own[name].cpu:
            defaults = METHODS[own[name].method].settings
            assert make_settings(defaults, own[name].settings) == make_settings(
                defaults, paper[name].settings
            )

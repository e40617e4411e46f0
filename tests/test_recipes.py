from dataclasses import asdict, replace

import pytest

import lqm
from lqm.cli.recipes import recipe_tables
from lqm.graphs.continual.methods import CONTINUAL_METHODS
from lqm.graphs.evaluation import PROTOCOLS as GRAPH_PROTOCOLS
from lqm.graphs.methods import METHODS as GRAPH_METHODS
from lqm.images.evaluation import PROTOCOLS
from lqm.images.methods import METHODS
from lqm.images.sources import SOURCES
from lqm.images.sources.idx_sets import IDX_SETS
from lqm.recipes import (
    GRAPHS,
    TABLES,
    called_recipe,
    chosen_recipe,
    fitting_recipe,
    load_recipes,
    named_recipe,
    recipe_sources,
)
from lqm.tabular.evaluation import PROTOCOLS as TABLE_PROTOCOLS
from lqm.tabular.methods import METHODS as TABLE_METHODS
from lqm.utils.errors import ConfigError
from lqm.utils.settings import make_settings

KINDS = {GRAPHS: (GRAPH_METHODS, GRAPH_PROTOCOLS), TABLES: (TABLE_METHODS, TABLE_PROTOCOLS)}
ALL = [(source, name) for source in recipe_sources() for name in load_recipes(source)]


@pytest.mark.parametrize(("source", "name"), ALL)
def test_every_recipe_names_a_protocol_a_method_and_settings_that_exist(source, name):
    recipe = load_recipes(source)[name]
    methods, protocols = KINDS.get(source, (METHODS, PROTOCOLS))
    assert recipe.protocol in protocols
    budget = recipe.graph if source == GRAPHS else str(recipe.per_class)
    plain = recipe.name.removesuffix("-cpu").removesuffix("-paper").removesuffix("-best")
    assert plain == "-".join(filter(None, (recipe.method, budget)))
    make_settings(methods[recipe.method].settings, recipe.settings)
    if source == GRAPHS:
        make_settings(CONTINUAL_METHODS[recipe.method].learning, recipe.stream)


def test_every_named_source_has_recipes_of_its_own_or_those_of_mnist():
    without = {*IDX_SETS} - {"mnist"}
    assert set(recipe_sources()) == {*SOURCES, "own", GRAPHS, TABLES} - without


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


@pytest.mark.parametrize("name", [None, "best"])
@pytest.mark.parametrize("source", ["cifar10", "cifar100"])
def test_the_best_recipe_of_a_source_is_taken_where_no_method_is_asked_for(source, name):
    taken = [chosen_recipe(source, name, None, count, cpu=True) for count in (None, 1, 50)]
    assert [recipe.name for recipe in taken] == ["dance-10-best", "dance-1-best", "dance-10-best"]
    assert [recipe.per_class for recipe in taken] == [10, 1, 50]
    assert chosen_recipe(source, None, "dm", 10, cpu=True).name == "dm-10-cpu"
    assert chosen_recipe(source, "best", "dance", 1, cpu=True).name == "dance-1-best"


def test_a_source_without_a_best_recipe_is_condensed_by_dm_and_says_so_if_best_is_asked_for():
    assert chosen_recipe("own", None, None, 10, cpu=True).name == "dm-10-cpu"
    with pytest.raises(ConfigError, match=r"no recipe 'best'.*there are some for .*cifar10"):
        chosen_recipe("own", "best", None, 10, cpu=True)


def test_a_recipe_called_best_has_no_variant_called_paper():
    assert not any("-best-" in name for source, name in ALL)


def test_a_method_without_a_recipe_has_its_defaults_and_the_sources_protocol():
    recipe = fitting_recipe("digits", "herding", 10, cpu=True)
    assert (recipe.settings, recipe.protocol) == ({}, "quick-200")
    assert fitting_recipe("cifar10", "herding", 10, cpu=False).protocol == "field-1000"
    assert fitting_recipe("cifar10", "herding", 10, cpu=True).protocol == "quick-200"


def test_an_unknown_recipe_suggests_the_nearest():
    with pytest.raises(ConfigError, match=r"cifar10 'idm-11'.*'idm-1"):
        named_recipe("cifar10", "idm-11")


def test_the_table_has_a_row_for_each():
    assert sum(table.row_count for _, table in recipe_tables()) == len(ALL)
    ((_, table),) = recipe_tables("digits")
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


def exact_settings(source, method, per_class):
    recipe = called_recipe(source, "paper", method, per_class)
    return recipe.name, recipe.protocol, make_settings(METHODS[method].settings, recipe.settings)


# Steps between two evaluations in IDM's published commands.
INTERVALS = {
    "cifar10": {1: 100, 10: 100, 50: 500},
    "cifar100": {1: 100, 10: 100, 50: 500},
    "tinyimagenet": {1: 100, 10: 500, 50: 1000},
}


@pytest.mark.parametrize("source", INTERVALS)
def test_paper_is_the_original_in_every_detail(source):
    for per_class, interval in INTERVALS[source].items():
        name, protocol, idm = exact_settings(source, "idm", per_class)
        assert (name, protocol) == (f"idm-{per_class}-paper", "field-2000")
        assert (idm.meter_reset, idm.clip) == (interval, "end")
        assert idm.mosaic_init == ("whole" if source == "tinyimagenet" else "cells")
        name, protocol, dm = exact_settings(source, "dm", per_class)
        assert (name, protocol) == (f"dm-{per_class}-paper", "field-1000")
        assert (dm.update, dm.clip) == ("per-class", "end")
        name, protocol, datadam = exact_settings(source, "datadam", per_class)
        assert (name, protocol) == (f"datadam-{per_class}-paper", "datadam-1800")
        assert (datadam.update, datadam.clip, datadam.power) == ("summed", "end", 4.0)


@pytest.mark.parametrize("source", INTERVALS)
def test_apart_from_that_paper_is_the_recipe_of_the_same_budget(source):
    known = load_recipes(source)
    differ = {"dm": {"update", "clip"}, "datadam": {"update", "clip"}}
    differ["idm"] = {"clip", "meter_reset", "mosaic_init"}
    for recipe in known.values():
        if recipe.exact:
            usual = known[recipe.name.removesuffix("-paper")]
            exact, ours = (
                asdict(make_settings(METHODS[r.method].settings, r.settings)) for r in (recipe, usual)
            )
            assert {name for name in exact if exact[name] != ours[name]} <= differ.get(
                recipe.method, {"clip"}
            )
            assert recipe.paper == usual.paper


def test_paper_is_never_chosen_unless_it_is_asked_for():
    for cpu in (False, True):
        for method in ("dm", "datadam", "idm", "dsa"):
            for per_class in (1, 10, 50):
                assert not fitting_recipe("cifar10", method, per_class, cpu=cpu).exact


def test_paper_of_a_budget_between_two_is_that_of_the_smaller():
    names = [called_recipe("cifar10", "paper", "idm", per_class).name for per_class in (1, 9, 49, 50)]
    assert names == ["idm-1-paper", "idm-1-paper", "idm-10-paper", "idm-50-paper"]


def test_where_there_is_no_paper_a_sentence_says_where_there_is(digits):
    with pytest.raises(ConfigError, match=r"cifar10 .*'paper'.*'dc'.* for dm, datadam, idm, dsa"):
        called_recipe("cifar10", "paper", "dc", 10)
    with pytest.raises(ConfigError, match=r"images of your own .*'idm'.*cifar100, a graph, tinyimagenet"):
        called_recipe("own", "paper", "idm", 10)
    with pytest.raises(ConfigError, match=r"digits .*'paper'.*'dm'"):
        lqm.condense(digits, recipe="paper", show_progress=False)


def test_paper_of_a_graph_has_settings_for_all_but_those_that_need_their_own():
    def steps(method, graph):
        return called_recipe(GRAPHS, "paper", method, graph=graph).settings["steps"]

    assert (steps("cat", "cora"), steps("cat", "corafull"), steps("puma", "corafull")) == (3000, 5000, 100)


def test_a_run_by_paper_has_its_settings_budget_and_protocol(digits):
    source = replace(digits, recipes="cifar10")
    small = {"steps": 1, "real_batch": 8, "network": "convnet:width=4:depth=1"}
    made = lqm.condense(source, recipe="paper", per_class=2, settings=small, show_progress=False)
    manifest = made.manifest
    assert (manifest["recipe"], manifest["method"], manifest["per_class"]) == ("dm-1-paper", "dm", 2)
    assert (manifest["settings"]["clip"], manifest["settings"]["update"]) == ("end", "per-class")
    assert manifest["evaluation"]["name"] == "field-1000"


def test_paper_is_for_several_budgets_at_once_and_other_names_are_for_one(tmp_path):
    from lqm.cli.condense import Condense

    def make(recipe):
        return Condense(source="digits", recipe=recipe, per_class="1,2", out=tmp_path / "runs")

    with pytest.raises(ConfigError, match=r"'dm-1'.*one per_class"):
        make("dm-1")()
    with pytest.raises(ConfigError, match=r"digits has no recipe 'paper'"):
        make("paper")()

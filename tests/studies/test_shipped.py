"""Every study that comes with the software, at each scale: all that it names is there. Nothing is run."""

import shutil
import tomllib
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from lqm.api.cells import Place, check_cell
from lqm.api.study_banks import bank_request
from lqm.distances import DISTANCES
from lqm.graphs.evaluation import NODES
from lqm.graphs.sources import GRAPHS as MADE
from lqm.images.evaluation import IMAGES
from lqm.images.sources import SOURCES
from lqm.methods.named_distance import named_distance
from lqm.recipes import GRAPHS, called_recipe, load_recipes
from lqm.studies.files import load_study, study_names

NAMES = (
    "ablation",
    "best",
    "biases",
    "budgets",
    "families",
    "graphs",
    "hard-labels",
    "images",
    "inits",
    "lengths",
    "paper-cells",
    "rivals",
    "shape",
    "streams",
    "transfer",
)
SCALES = [
    (name, scale)
    for name in NAMES
    for scale, grids in tomllib.loads(
        (files("lqm.recipes") / "studies" / f"{name}.toml").read_text(encoding="utf-8")
    ).items()
    if isinstance(grids, dict) and "grid" in grids
]
# Graphs that users have as files.
FILES = (
    "cora70_rebuilt",
    "ogbn_arxiv_text128",
    "coauthor_cs",
    "amazon_computers",
    "uai2010",
    "cora",
    "cora_ml",
    "pubmed",
    "dblp",
    "blogcatalog",
    "acm",
    "amazon_photo",
    "facebook_pages",
)


@pytest.fixture
def folder_of_data(tmp_path, monkeypatch):
    """Graphs of these names, to be recognised by their arrays."""
    arrays = {"edge_index": np.array([[0, 1], [1, 0]]), "y": np.array([0, 1]), "x": np.eye(2)}
    np.savez(tmp_path / "graph.npz", **arrays)
    for name in FILES:
        shutil.copy(tmp_path / "graph.npz", tmp_path / f"{name}.npz")
    monkeypatch.setenv("LQM_DATA", str(tmp_path))


def test_the_shipped_studies_are_these():
    assert (*study_names(),) == NAMES


@pytest.mark.parametrize(("name", "scale"), SCALES)
def test_all_that_a_study_names_is_there(name, scale, tmp_path, folder_of_data):
    place = Place(tmp_path / "study")
    study = load_study(name, scale)
    cells = {(cell.options["source"], cell.options["method"], cell.stream): cell for cell in study.cells}
    for distance in {cell.axes["distance"] for cell in study.cells if "distance" in cell.axes}:
        assert named_distance(distance).name.partition(":")[0] in DISTANCES
    for (source, method, _), cell in cells.items():
        assert source in {*SOURCES, *MADE, *FILES}
        check_cell(cell, place)
        for setting, values in cell.tune.items():
            for value in values:
                check_cell(replace(cell, tuned={setting: value}), place)
        if "recipe" in cell.options:
            assert called_recipe(source if source in SOURCES else GRAPHS, cell.options["recipe"], method)
        evaluator = IMAGES if source in SOURCES else NODES
        for network in cell.evaluation.get("networks", ()):
            assert evaluator.check_spec(network)
        if cell.bank:
            bank_request(cell.bank, place)


# Rates of one method each are compared with no other method.
@pytest.mark.parametrize(("name", "scale"), [each for each in SCALES if each != ("rivals", "choose")])
def test_every_comparison_has_its_other_side_under_each_seed(name, scale):
    study = load_study(name, scale)
    axis, against = study.head.axis, study.head.against
    compared = [cell for cell in study.cells if axis in cell.axes]
    base = {
        (cell.seed, *sorted((k, str(v)) for k, v in cell.axes.items() if k != axis))
        for cell in compared
        if cell.axes[axis] == against
    }
    missing = {
        cell.name
        for cell in compared
        if (cell.seed, *sorted((k, str(v)) for k, v in cell.axes.items() if k != axis)) not in base
    }
    assert not missing


@pytest.mark.parametrize(("name", "scale"), SCALES)
def test_every_distance_is_tuned_over_the_same_values(name, scale):
    study = load_study(name, scale)
    tuned = {}
    for cell in study.cells:
        group = tuple((axis, value) for axis, value in cell.axes.items() if axis != "distance")
        assert tuned.setdefault(group, cell.tune) == cell.tune


def test_the_ablation_has_every_distance():
    assert {cell.axes["distance"] for cell in load_study("ablation", "cpu").cells} == {*DISTANCES}


def test_published_numbers_are_those_of_the_recipes():
    found = 0
    for name in ("images", "paper-cells"):
        for cell in load_study(name, "paper").cells:
            source, method, count = (cell.axes[axis] for axis in ("source", "method", "per_class"))
            published = load_recipes(source)[f"{method}-{count}"].paper.get(cell.axes["distance"])
            if source == "tinyimagenet":
                assert cell.paper is None
            else:
                assert cell.paper == published
                found += published is not None
    assert found

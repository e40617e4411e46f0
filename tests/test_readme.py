"""The Python of the README, run as it stands there, with smaller work behind the same names."""

import re
import textwrap
from pathlib import Path

import pytest
import torch

import lqm
from lqm.graphs.evaluation import PROTOCOLS as GRAPH_PROTOCOLS
from lqm.graphs.evaluation import GraphProtocol
from lqm.images.evaluation import PROTOCOLS
from lqm.recipes import Recipe

PAGE = Path(__file__).parent.parent / "README.md"
SPEED = PAGE.with_name("docs") / "speed.md"
ON_DIGITS, ON_OWN_IMAGES, ON_OWN_GRAPH = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)


@pytest.fixture
def small_work(monkeypatch, tmp_path, tiny, tiny_protocol):
    monkeypatch.chdir(tmp_path)
    for name in ("field-1000", "quick-200"):
        monkeypatch.setitem(PROTOCOLS, name, tiny_protocol)
    recipe = Recipe("tiny", "dm", 10, tiny, "quick-200")
    monkeypatch.setattr("lqm.images.domain.fitting_recipe", lambda *_, **__: recipe)


def test_condensing_saving_evaluating_and_loading(small_work):
    names = {}
    exec(ON_DIGITS, names)  # noqa: S102
    assert names["small"].manifest["per_class"] == 10
    assert len(names["small"].manifest["scores"]) == 1
    assert Path("digits-10", "manifest.json").exists()


def test_images_of_ones_own(small_work):
    images, labels = torch.rand(24, 3, 8, 8), torch.arange(24) % 2
    names = {
        "lqm": lqm,
        "torch": torch,
        "train_dataset": torch.utils.data.TensorDataset(images, labels),
        "train_images": images,
        "train_labels": labels,
        "test_images": images,
        "test_labels": labels,
    }
    exec(ON_OWN_IMAGES.replace('"steps": 100', '"steps": 5'), names)  # noqa: S102
    assert names["small"].class_names == ("cat", "dog")
    assert Path("runs", "mine", "manifest.json").exists()
    assert len(names["source"].test.labels) == 4, "a fifth of each class"


def test_the_python_of_the_page_on_speed(small_work, monkeypatch):
    monkeypatch.setattr("lqm.tune_allocator", lambda: True, raising=False)  # not in the process of all tests
    names = {}
    for block in re.findall(r"```python\n(.*?)```", SPEED.read_text(), flags=re.DOTALL):
        exec(textwrap.dedent(block).replace("encoders=100", "encoders=2"), names)  # noqa: S102
    assert names["sketch"].encoders == 2
    assert names["small"].manifest["sketch"]["encoders"] == 2


def test_a_graph_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(
        GRAPH_PROTOCOLS, "cat-500", GraphProtocol("tiny", epochs=2, networks=1, full_networks=1)
    )
    labels = torch.arange(60) % 2
    names = {
        "lqm": lqm,
        "features": torch.rand(60, 5),
        "edges": torch.randint(60, (2, 150)),
        "labels": labels,
    }
    page = ON_OWN_GRAPH.replace('"steps": 500', '"steps": 3').replace('"epochs": 200', '"epochs": 2')
    exec(page, names)  # noqa: S102
    assert names["small"].class_names == ("theory", "vision")
    assert len(names["found"].repeats) == 2


def test_everything_that_has_a_name_is_named():
    from lqm.distances import DISTANCES
    from lqm.graphs.continual import CONTINUAL_METHODS
    from lqm.graphs.methods import METHODS as GRAPH_METHODS
    from lqm.graphs.networks import NETWORKS as GRAPH_NETWORKS
    from lqm.images.methods import METHODS
    from lqm.images.networks import NETWORKS
    from lqm.images.sources import SOURCES

    of_images = (*METHODS, *SOURCES, *NETWORKS, *PROTOCOLS)
    of_graphs = (*GRAPH_METHODS, *CONTINUAL_METHODS, *GRAPH_NETWORKS, *GRAPH_PROTOCOLS)
    for name in (*DISTANCES, *of_images, *of_graphs):
        assert f"`{name}`" in PAGE.read_text()

"""The Python of the README, run as it stands there, with smaller work behind the same names."""

import re
from pathlib import Path

import pytest
import torch

import lqm
from lqm.images.evaluation import PROTOCOLS
from lqm.recipes import Recipe

PAGE = Path(__file__).parent.parent / "README.md"
ON_DIGITS, ON_OWN_PICTURES = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)


@pytest.fixture
def small_work(monkeypatch, tmp_path, tiny, tiny_protocol):
    monkeypatch.chdir(tmp_path)
    for name in ("field-1000", "quick-200"):
        monkeypatch.setitem(PROTOCOLS, name, tiny_protocol)
    recipe = Recipe("tiny", "dm", 10, tiny, "quick-200")
    monkeypatch.setattr("lqm.condensing.fitting_recipe", lambda *_, **__: recipe)


def test_condensing_saving_evaluating_and_loading(small_work):
    names = {}
    exec(ON_DIGITS, names)  # noqa: S102
    assert names["small"].manifest["per_class"] == 10
    assert len(names["small"].manifest["scores"]) == 1
    assert Path("digits-10", "manifest.json").exists()


def test_pictures_of_ones_own(small_work):
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
    exec(ON_OWN_PICTURES.replace('"steps": 100', '"steps": 5'), names)  # noqa: S102
    assert names["small"].class_names == ("cat", "dog")
    assert Path("runs", "mine", "manifest.json").exists()
    assert len(names["source"].test.labels) == 4, "a fifth of each class"


def test_everything_that_has_a_name_is_named():
    from lqm.distances import DISTANCES
    from lqm.images.methods import METHODS
    from lqm.images.networks import NETWORKS
    from lqm.images.sources import SOURCES

    for name in (*DISTANCES, *METHODS, *SOURCES, *NETWORKS, *PROTOCOLS):
        assert f"`{name}`" in PAGE.read_text()

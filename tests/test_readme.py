"""The Python of the README and of the docs, run as it stands there, with smaller work."""

import re
import textwrap
from pathlib import Path

import pytest
import torch

import lqm
from lqm.graphs.evaluation import PROTOCOLS as GRAPH_PROTOCOLS
from lqm.graphs.evaluation import GraphProtocol
from lqm.images.evaluation import PROTOCOLS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def python_of(page, *smaller):
    """The blocks of Python of a page as one program, with some of its words replaced by smaller ones."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    program = "\n".join(map(textwrap.dedent, blocks))
    for old, new in smaller:
        assert old in program
        program = program.replace(old, new)
    return program


@pytest.fixture
def small_work(monkeypatch, tmp_path, tiny_protocol):
    monkeypatch.chdir(tmp_path)
    for name in ("field-1000", "quick-200"):
        monkeypatch.setitem(PROTOCOLS, name, tiny_protocol)
    tiny_graph = GraphProtocol("tiny", epochs=2, networks=1, full_networks=1)
    monkeypatch.setitem(GRAPH_PROTOCOLS, "unbiased-500", tiny_graph)


@pytest.fixture
def arrays():
    from sklearn.datasets import load_digits

    digits = load_digits()
    return {"X": digits.images / 16, "y": digits.target}


def test_the_readme_condenses_evaluates_and_trains(small_work, tiny, arrays):
    program = python_of("README.md", ("per_class=10", f"per_class=10, settings={tiny}"))
    exec(program, arrays)  # noqa: S102
    assert arrays["condensed"].manifest["per_class"] == 10
    assert arrays["condensed"].manifest["method"] == "dm"
    assert arrays["images"].shape == (100, 1, 8, 8)
    assert len(arrays["labels"]) == 100


def test_the_page_on_python(small_work, tiny, arrays, capsys):
    smaller = (
        ("(X, y, per_class=10)", f"(X, y, per_class=10, settings={tiny})"),
        ("lqm.evaluate(condensed)", 'lqm.evaluate(condensed, baselines=("random",))'),
        ('{"steps": 500}', str(tiny)),
        ('{"steps": 200}', str(tiny | {"steps": 24})),
        ('metrics["loss"] < 0.02', 'metrics["loss"] < 1e9'),
    )
    exec(python_of("docs/python.md", *smaller), arrays)  # noqa: S102
    assert arrays["condensed"].class_names[:2] == ("zero", "one")
    assert list(arrays["found"].rows) == ["condensed", "random"]
    assert capsys.readouterr().out.splitlines()[-1] == "20", "the callback ends the run"


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
    exec(python_of("docs/tutorial-images.md", ('"steps": 100', '"steps": 5')), names)  # noqa: S102
    assert names["condensed"].class_names == ("cat", "dog")
    assert Path("runs", "mine", "manifest.json").exists()
    assert len(names["source"].test.labels) == 4, "a fifth of each class"


def test_a_graph_of_ones_own(small_work):
    names = {
        "lqm": lqm,
        "features": torch.rand(60, 5),
        "edges": torch.randint(60, (2, 150)),
        "labels": torch.arange(60) % 2,
    }
    exec(python_of("docs/tutorial-graphs.md", ('"steps": 500', '"steps": 3')), names)  # noqa: S102
    assert names["condensed"].class_names == ("theory", "vision")


def test_a_stream(small_work):
    names = {}
    smaller = ('"steps": 100', '"steps": 3'), ('"epochs": 200', '"epochs": 2')
    exec(python_of("docs/tutorial-streams.md", *smaller), names)  # noqa: S102
    assert len(names["found"].repeats) == 2


def test_the_python_of_the_how_to(small_work):
    names = {}
    exec(python_of("docs/how-to.md", ('"steps": 20', '"steps": 3')), names)  # noqa: S102
    assert names["train_images"].shape == (4, 3, 8, 8)


def test_the_python_of_the_page_on_speed(small_work, monkeypatch):
    monkeypatch.setattr("lqm.tune_allocator", lambda: True, raising=False)  # not in the process of all tests
    names = {}
    smaller = ("encoders=100", "encoders=2"), ('"steps": 300', '"steps": 3')
    exec(python_of("docs/speed.md", *smaller), names)  # noqa: S102
    assert names["sketch"].encoders == 2
    assert names["condensed"].manifest["sketch"]["encoders"] == 2


def test_everything_that_has_a_name_is_named():
    from lqm.distances import DISTANCES
    from lqm.graphs.continual import CONTINUAL_METHODS
    from lqm.graphs.methods import METHODS as GRAPH_METHODS
    from lqm.graphs.networks import NETWORKS as GRAPH_NETWORKS
    from lqm.images.methods import METHODS
    from lqm.images.networks import NETWORKS
    from lqm.images.sources import SOURCES
    from lqm.tabular.evaluation import PROTOCOLS as TABLE_PROTOCOLS
    from lqm.tabular.methods import METHODS as TABLE_METHODS

    of_images = (*METHODS, *SOURCES, *NETWORKS, *PROTOCOLS)
    of_graphs = (*GRAPH_METHODS, *CONTINUAL_METHODS, *GRAPH_NETWORKS, *GRAPH_PROTOCOLS)
    of_tables = (*TABLE_METHODS, *TABLE_PROTOCOLS)
    for name in (*DISTANCES, *of_images, *of_graphs, *of_tables):
        assert f"`{name}`" in README


def test_the_exports_are_named_as_they_are_typed():
    from lqm.condensed.export import EXPORTS, NODE_EXPORTS, TABLE_EXPORTS

    (row,) = (line for line in README.splitlines() if line.startswith("| exports"))
    cells = row.strip("| ").split(" | ")[1:]
    for cell, forms in zip(cells, (EXPORTS, NODE_EXPORTS, TABLE_EXPORTS), strict=True):
        assert {*re.findall(r"`(\w+)`", cell)} == {*forms}


def test_every_setting_of_a_method_is_in_its_page():
    from dataclasses import fields

    from lqm.graphs.methods import METHODS as GRAPH_METHODS
    from lqm.images.methods import METHODS

    pages = {"docs/methods.md": METHODS, "docs/graphs.md": GRAPH_METHODS}
    for page, methods in pages.items():
        text = (ROOT / page).read_text()
        for method in methods.values():
            for field in fields(method.settings):
                assert f"`{field.name}`" in text, (page, field.name)


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 200


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"(?:\]\(|src=\")([^)\s\"#]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target

"""Promises about the code as a whole."""

import ast
import re
from pathlib import Path

import pytest

import lqm

PACKAGE = Path(lqm.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
FORBIDDEN = (
    "import pickle",
    "torch.load",
    "torch.save",
    "allow_pickle=True",
    "yaml.load",
    "eval(",
    "exec(",
    "joblib",
)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_pickle_is_read_or_written_and_no_text_is_run(path):
    text = path.read_text()
    assert not [word for word in FORBIDDEN if re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", text)]


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_distances_import_nothing_else_of_ours():
    for path in (PACKAGE / "distances").glob("*.py"):
        assert not [m for m in imports(path) if m.startswith("lqm") and not m.startswith("lqm.distances")]


def test_the_frame_knows_neither_images_nor_graphs():
    above = ("lqm.images", "lqm.graphs", "lqm.api.condense", "lqm.evaluating", "lqm.api.continual", "lqm.cli")
    for folder in ("distances", "engine", "condensed"):
        for path in (PACKAGE / folder).glob("*.py"):
            assert not [m for m in imports(path) if m.startswith(above)]
            assert "from lqm import" not in path.read_text().replace("from lqm import __version__", "")


@pytest.mark.parametrize(("one", "other"), [("images", "graphs"), ("graphs", "images")])
def test_images_and_graphs_do_not_know_each_other(one, other):
    for path in (PACKAGE / one).rglob("*.py"):
        assert not [m for m in imports(path) if m.startswith(f"lqm.{other}")]


def test_files_are_a_page_or_three():
    assert not [path for path in FILES if len(path.read_text().splitlines()) > 250]

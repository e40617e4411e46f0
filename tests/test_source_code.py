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


def module_of(path):
    parts = ("lqm", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


def imports(module):
    """The modules of ours that one imports, at its top or in a function."""
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


IMPORTS = {module: {name for name in imports(module) if name in MODULES} for module in MODULES}


def below(package):
    """A package and all that is in it."""
    found = {module for module in MODULES if f"{module}.".startswith(f"{package}.")}
    assert found, f"there is no {package}"
    return found


def reached(modules):
    """All modules that some need, directly or by way of others; the public names at the top are lazy."""
    found, left = set(), set(modules)
    while left:
        found |= left
        left = {name for module in left - {"lqm"} for name in IMPORTS[module]} - found
    return found


def test_distances_import_nothing_else_of_ours():
    assert set().union(*(IMPORTS[module] for module in below("lqm.distances"))) <= below("lqm.distances")


@pytest.mark.parametrize("package", ["lqm.distances", "lqm.engine", "lqm.condensed"])
def test_the_frame_knows_neither_images_nor_graphs(package):
    assert not reached(below(package)) & (below("lqm.images") | below("lqm.graphs"))
    for module in below(package):
        assert "from lqm import" not in MODULES[module].read_text().replace("from lqm import __version__", "")


@pytest.mark.parametrize(("one", "other"), [("images", "graphs"), ("graphs", "images")])
def test_images_and_graphs_do_not_know_each_other(one, other):
    assert not reached(below(f"lqm.{one}")) & below(f"lqm.{other}")


def test_files_are_a_page_or_three():
    assert len(FILES) > 20
    assert not [path for path in FILES if len(path.read_text().splitlines()) > 250]

"""What a person looks at reads results, and nothing that computes imports it."""

import ast
from pathlib import Path

import pytest

import lqm

PACKAGE = Path(lqm.__file__).parent
BELOW = ("evaluation", "condensed", "errors", "names", "files", "sentences", "utils")
ABOVE = ("api", "commands", "cli", "demo")


def imported(path, *, lazily=True):
    """The modules of ours that a file imports; those within functions only if `lazily`."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree) if lazily else tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lqm."):
            yield node.module.split(".")[1]


@pytest.mark.parametrize("path", sorted((PACKAGE / "report").rglob("*.py")), ids=lambda path: path.stem)
def test_the_report_reads_evaluations_and_condensed_sets_only(path):
    assert not {*imported(path)} - {*BELOW, "report"}


def test_evaluation_knows_neither_images_nor_graphs_nor_the_report():
    for path in (PACKAGE / "evaluation").rglob("*.py"):
        assert not {*imported(path)} & {"images", "graphs", "report", *ABOVE}


def test_nothing_that_computes_imports_the_report():
    for path in PACKAGE.rglob("*.py"):
        floor = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if floor not in ("report", *ABOVE):
            assert "report" not in imported(path, lazily=False), path

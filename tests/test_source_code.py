"""Promises about the code as a whole."""

import re
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

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


def test_imports_point_one_way():
    """The floors are in pyproject.toml: import-linter follows imports in functions too."""
    assert lint_imports(config_filename=str(PACKAGE.parents[1] / "pyproject.toml"), no_cache=True) == 0


def test_files_are_a_page_or_three():
    assert len(FILES) > 20
    assert not [path for path in FILES if len(path.read_text().splitlines()) > 250]

"""Every benchmark that the docs name is there."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PAGES = sorted({*PROJECT.glob("*.md"), *PROJECT.glob("docs/*.md")})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_files_of_benchmarks_are_there(page):
    text = page.read_text()
    for module in re.findall(r"-m (benchmarks[\w.]*\w)", text):
        assert find_spec(module), module
    for file in re.findall(r"benchmarks/[\w/]*\w\.\w+", text):
        assert (PROJECT / file).is_file(), file

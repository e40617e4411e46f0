"""The documentation site, built as `make docs` builds it: strict, whole, and without any other host."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import lqm

ROOT = Path(__file__).parents[1]
_REQUESTS = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*?\bsrc=["']([^"']+)|<link\b[^>]*?\bhref=["']([^"']+)"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; a warning is an error."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(out)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert built.returncode == 0, built.stderr
    return out


def test_every_page_of_the_docs_is_on_the_site(site):
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"results.in"}
    pages |= {"changelog", "contributing", "security"}
    assert pages <= {path.stem for path in site.glob("*.html")}


def test_no_page_asks_another_host_for_anything(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        for found in _REQUESTS.findall(page.read_text()):
            assert not re.match(r"(\w+:)?//", "".join(found)), (page.name, found)
    for style in site.rglob("*.css"):
        assert not re.search(r"@import|url\([\"']?(https?:)?//", style.read_text()), style.name


def test_lists_and_tables_are_rendered_as_such(site):
    """The site's Markdown asks for an empty line before a list where that of file browsers does not."""
    for page in site.glob("*.html"):
        text = re.sub(r"<(pre|script|style)\b.*?</\1>", "", page.read_text(), flags=re.DOTALL)
        assert not re.search(r"^ *(- |\* |\d+\. |\||```)", text, flags=re.MULTILINE), page.name


def test_every_public_name_is_in_the_reference(site):
    page = (site / "api.html").read_text()
    assert [name for name in lqm.__all__ if f'id="lqm.{name}"' not in page] == []


def test_links_between_the_repository_and_the_docs_hold_on_the_site(site):
    reliability = (site / "reliability.html").read_text()
    assert 'href="security.html"' in reliability
    assert 'href="reliability.html"' in (site / "security.html").read_text()
    assert ".md" not in "".join(re.findall(r'href="([^"]*)"', (site / "index.html").read_text()))


def test_the_start_has_the_words_of_the_readme_and_those_that_people_search_for(site):
    start = (site / "index.html").read_text()
    assert "Make a small dataset stand in for a large one" in start
    for words in ("dataset condensation", "dataset distillation", "IPC", "coreset"):
        assert words in start


def test_the_search_knows_every_page(site):
    index = json.loads((site / "search" / "search_index.json").read_text())
    found = {entry["location"].split("#")[0] for entry in index["docs"]}
    assert {"faq.html", "api.html", "security.html", "methods.html"} <= found


def test_versions_and_names_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert project["version"] == lqm.__version__ == cited["version"]
    assert f"## {lqm.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"version = {{{lqm.__version__}}}" in (ROOT / "docs" / "citation.md").read_text()
    assert cited["license"] == project["license"] == "MIT"
    for words in ("dataset distillation", "dataset condensation", "IPC", "coreset"):
        assert words in project["keywords"]

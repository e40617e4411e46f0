"""A hook of MkDocs: the files at the top of the repository are pages too, and links hold in both places.

A page is written for the file browser of the repository, where `README.md` links to `docs/speed.md` and a
page in `docs/` to `../SECURITY.md`. On the site these files are pages beside each other, so links are
rewritten. A link to a file that is no page (`../examples/...`) becomes its words. `<!-- README: Why -->` in a
page becomes that part of the README, which is then written once.
"""

import re
from pathlib import Path
from posixpath import dirname, normpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Files at the top of the repository, and where they are on the site.
TOP = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
_ORIGINS = {page: place for place, page in TOP.items() if place != "README.md"}
_FENCED = re.compile(r"(^ *```.*?^ *```)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\((?!\w+:)([^)\s#]+)(#[^)\s]*)?\)")
_PART = re.compile(r"<!-- README: (.+?) -->")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files at the top as pages."""
    for page, place in _ORIGINS.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / place)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links lead to pages of the site, and put the parts of the README in."""
    uri = page.file.src_uri
    text = with_links(markdown, _ORIGINS.get(uri, f"docs/{uri}"))
    return _PART.sub(lambda part: with_links(readme_part(part[1]), "README.md"), text)


def readme_part(title: str) -> str:
    """The text below a heading of the README; `introduction` is what stands above the first of them."""
    introduction, *parts = re.split(r"^## ", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    if title == "introduction":
        return introduction.split("\n", 1)[1].strip()
    for part in parts:
        heading, text = part.split("\n", 1)
        if heading == title:
            return text.strip()
    raise PluginError(f"the README has no part called {title!r}")


def with_links(text: str, place: str) -> str:
    """Text of the file at `place` of the repository, with the links that it has on the site."""

    def link(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        path = normpath(f"{dirname(place)}/{target}".lstrip("/"))
        if path in TOP:
            return f"{words}({TOP[path]}{anchor})"
        if path.startswith("docs/"):
            return f"{words}({path.removeprefix('docs/')}{anchor})"
        if (ROOT / path).exists():
            return words[1:-1]
        return found[0]  # which a strict build names

    return "".join(
        piece if piece.lstrip().startswith("```") else _LINK.sub(link, piece) for piece in _FENCED.split(text)
    )

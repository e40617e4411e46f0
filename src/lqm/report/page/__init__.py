"""One page that shows what condensed sets are worth: a file that opens from disk and needs no other."""

import math
from datetime import date
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lqm import __version__
from lqm.report.page.content import Page
from lqm.utils.errors import ArtifactError
from lqm.utils.files import write_atomically
from lqm.utils.own_files import read_plain_file

_HERE = Path(__file__).parent
_OURS = '<meta name="generator" content="lqm'
# Of more classes than these, charts by class show the worst or the largest.
_MOST_CLASSES = 30
_SCRIPTS = (
    "draw.js",
    "charts.js",
    "matrices.js",
    "explorer.js",
    "maps.js",
    "images.js",
    "study.js",
    "page.js",
)
_LIBRARIES = {"d3.min.js": "d3.LICENSE", "plot.umd.min.js": "plot.LICENSE"}


def require_ours(path: Path) -> None:
    """Refuse to write over anything but an older report."""
    if path.is_dir():
        raise ArtifactError(f"{path} is a folder; name a file such as {path / 'report.html'}")
    if path.exists() and _OURS.encode() not in read_plain_file(path, "choose another name", first=2000):
        raise ArtifactError(
            f"{path} is there already and is no report of lqm; choose another name with --out"
        )


def write_page(page: Page, path: Path) -> None:
    """Write a page to a file."""
    # The name of a folder may hold bytes that are no text.
    write_atomically(path, _render(page).encode(errors="backslashreplace"))


def _render(page: Page) -> str:
    templates = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.policies["json.dumps_kwargs"] = {"allow_nan": False}
    static = {name: _text("static", name) for name in ("page.css", *_SCRIPTS)}
    libraries = [
        Markup("/*\n{}*/\n{}").format(_text("vendor", licence), _text("vendor", name))
        for name, licence in _LIBRARIES.items()
    ]
    return templates.get_template(page.template).render(
        page.variables,
        data=_finite(page.data | {"mostClasses": _MOST_CLASSES}),
        most_classes=_MOST_CLASSES,
        style=static["page.css"],
        scripts=[static[name] for name in _SCRIPTS],
        libraries=libraries,
        version=__version__,
        today=date.today().isoformat(),
    )


def _finite(value: Any) -> Any:
    """The same with null for numbers that JSON has not."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value


def _text(folder: str, name: str) -> Markup:
    return Markup((_HERE / folder / name).read_text(encoding="utf-8"))

"""One page that shows what condensed sets are worth: a file that opens from disk and needs no other."""

import math
import os
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lqm import __version__
from lqm.report.cases import each_once
from lqm.report.page.content import Page, page_of_sets
from lqm.report.page.streams import page_of_streams
from lqm.report.streams import is_stream
from lqm.utils.errors import ArtifactError, ConfigError
from lqm.utils.files import write_atomically

_HERE = Path(__file__).parent
_OURS = '<meta name="generator" content="lqm'
# Of more classes than these, charts by class show the worst or the largest.
_MOST_CLASSES = 30
_SCRIPTS = ("draw.js", "charts.js", "explorer.js", "images.js", "page.js")
_LIBRARIES = {"d3.min.js": "d3.LICENSE", "plot.umd.min.js": "plot.LICENSE"}


def write_report(
    runs: str | Path | Sequence[str | Path],
    out: str | Path | None = None,
    *,
    source: Any = None,
    data_dir: str | Path | None = None,
) -> Path:
    """Write one self-contained HTML page about runs on the same data.

    Args:
        runs: folders of condensed sets of images or of nodes, or of streams of tasks.
        out: the file; by default `report.html` in the run's folder, or in that which the runs share.
        source: where the real data are, a name, a path or an object, if they have moved or were made in
            Python; without them the page shows neither neighbours nor latent features.
        data_dir: where named sources are, if they have moved.

    Returns:
        The path of the page.

    Raises:
        LqmError: when a run is damaged, the runs are not of the same data, or something else stands at `out`.
    """
    folders = each_once([runs] if isinstance(runs, str | Path) else runs)
    if not folders:
        raise ConfigError("there is nothing to report on; name one or more runs")
    path = Path(out) if out is not None else _common(folders) / "report.html"
    _require_ours(path)
    streams = [folder for folder in folders if is_stream(folder)]
    if streams and len(streams) < len(folders):
        other = next(folder for folder in folders if folder not in streams)
        raise ConfigError(f"{streams[0]} is a stream of tasks and {other} is not; give a report to each kind")
    page = page_of_streams(streams, source, data_dir) if streams else page_of_sets(folders, source, data_dir)
    # The name of a folder may hold bytes that are no text.
    write_atomically(path, _render(page).encode(errors="backslashreplace"))
    return path


def _common(folders: Sequence[Path]) -> Path:
    """The folder of a single run, or that which several lie in."""
    if len(folders) == 1:
        return folders[0]
    shared = os.path.commonpath([os.path.dirname(os.path.abspath(folder)) for folder in folders])
    return Path(shared if any(folder.is_absolute() for folder in folders) else os.path.relpath(shared))


def _require_ours(path: Path) -> None:
    """Refuse to write over anything but an older report."""
    if path.is_dir():
        raise ArtifactError(f"{path} is a folder; name a file such as {path / 'report.html'}")
    if path.exists() and _OURS not in path.read_text(encoding="utf-8", errors="replace")[:2000]:
        raise ArtifactError(
            f"{path} is there already and is no report of lqm; choose another name with --out"
        )


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
        page.words,
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
    """A file of ours, or of a library, which goes into the page as it is."""
    return Markup((_HERE / folder / name).read_text(encoding="utf-8"))

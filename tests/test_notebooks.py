"""The notebooks of the examples: they run, and what is stored in them is of a run and of no machine."""

import re
import socket
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest

from tools.notebooks import EXAMPLES, cleaned, executed

NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
_LONGEST = 60_000


def outputs_of(notebook):
    return [cell.get("outputs", []) for cell in notebook.cells if cell.cell_type == "code"]


def kinds_of(notebook):
    """What each cell of code shows, warnings and notes aside."""
    return [
        sorted({output.output_type for output in outputs if output.get("name") != "stderr"})
        for outputs in outputs_of(notebook)
    ]


def test_there_is_one_of_images_of_a_stream_and_of_a_distance():
    assert [path.stem for path in NOTEBOOKS] == ["graph_stream", "images", "own_distance"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_stored(path, tmp_path):
    stored = nbformat.read(path, as_version=4)
    found = executed(path, tmp_path)
    assert kinds_of(found) == kinds_of(stored)
    assert [cell.source for cell in found.cells] == [cell.source for cell in stored.cells]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_stored_notebook_is_small_whole_and_of_no_machine(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    text = path.read_text()
    assert len(text) < _LONGEST
    plain = re.sub(r"[A-Za-z0-9+/=\\n]{200,}", "", text)
    places = (Path.home(), EXAMPLES.parent, sys.prefix, tempfile.gettempdir())
    for word in (socket.gethostname(), "site-packages", *map(str, places)):
        assert word not in plain
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1)), "all cells were run, in order"
    assert not [o for outputs in outputs_of(notebook) for o in outputs if o.output_type == "error"]
    assert cleaned(nbformat.read(path, as_version=4)) == notebook
    assert [cell.cell_type for cell in notebook.cells][:2] == ["markdown", "code"]


def test_the_bar_of_a_notebook_is_one_that_was_drawn_to_its_end():
    notebook = nbformat.read(EXAMPLES / "images.ipynb", as_version=4)
    bars = [
        output.data["text/plain"]
        for outputs in outputs_of(notebook)
        for output in outputs
        if output.output_type == "display_data" and "<progress" in output.data.get("text/html", "")
    ]
    assert len(bars) == 2, "one for condensing, one for evaluating"
    assert re.fullmatch(r"dm \+ lqm: (\d+) of \1  done  loss .*", bars[0])

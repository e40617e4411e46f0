"""Progress in a notebook: one bar below a cell, drawn over again and again."""

import sys
from types import SimpleNamespace

import pytest

from lqm.engine import notebook
from lqm.engine.notebook import NotebookBar, notebook_shell
from lqm.engine.panel import follow
from lqm.engine.progress import Progress


@pytest.fixture
def cells(monkeypatch):
    """What stands below the cells of a notebook, one list of drawings for each bar."""
    display = pytest.importorskip("IPython.display")
    shown = []
    shell = SimpleNamespace(kernel=object(), execution_count=1)

    def show(bundle, *, raw, display_id):
        assert raw
        assert display_id
        shown.append([bundle])
        drawings = shown[-1]
        return SimpleNamespace(update=lambda bundle, raw: drawings.append(bundle))

    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
    monkeypatch.setattr(display, "display", show)
    monkeypatch.setattr(NotebookBar, "_shown", (-1, None))
    monkeypatch.setattr(notebook, "_SECONDS_BETWEEN", 0.0)
    return SimpleNamespace(shown=shown, shell=shell)


def test_one_bar_shows_the_steps_and_the_time_left(cells, capsys):
    with follow("dm + lqm", 4) as bar:
        for done in range(1, 5):
            bar.update(done, {"loss": 2.0 / done})
    (drawings,) = cells.shown
    assert "2 of 4" in drawings[2]["text/plain"]
    assert "left" in drawings[2]["text/plain"]
    assert drawings[-1]["text/plain"] == "dm + lqm: 4 of 4  done  loss 0.5"
    assert '<progress max="1" value="0.5000"' in drawings[2]["text/html"]
    assert capsys.readouterr().err == "", "no lines beside it"


def test_what_follows_in_the_same_cell_takes_the_same_bar(cells):
    for title in ("evaluate condensed", "evaluate <b>random</b>"):
        with Progress(title, 1) as bar:
            bar.update(1, {})
    assert len(cells.shown) == 1
    assert cells.shown[0][-1]["text/html"].startswith("<div>evaluate &lt;b&gt;random")
    cells.shell.execution_count = 2
    with Progress("again", 1):
        pass
    assert len(cells.shown) == 2, "a cell that runs anew has a bar of its own"
    assert "0 of 1" in cells.shown[1][-1]["text/plain"], "and shows how far it came"


def test_nothing_is_drawn_where_nothing_is_to_be_shown(cells):
    with Progress("quiet", 1, shown=False) as bar:
        bar.update(1, {})
    assert cells.shown == []


def test_drawing_is_no_work_for_fast_steps(cells, monkeypatch):
    monkeypatch.setattr(notebook, "_SECONDS_BETWEEN", 60.0)
    with Progress("fast", 1000) as bar:
        for done in range(1, 1001):
            bar.update(done, {})
    assert len(cells.shown[0]) <= 3
    assert "1,000 of 1,000" in cells.shown[0][-1]["text/plain"]


def test_a_shell_without_a_notebook_is_none(monkeypatch):
    ipython = pytest.importorskip("IPython")
    assert notebook_shell() is None
    monkeypatch.setattr(ipython, "get_ipython", lambda: SimpleNamespace(kernel=None))
    assert notebook_shell() is None
    monkeypatch.delitem(sys.modules, "IPython")
    assert notebook_shell() is None

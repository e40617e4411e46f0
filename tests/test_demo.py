"""The demo, end to end, at a size that takes seconds."""

import pytest

from lqm import demo
from lqm.images.evaluation import PROTOCOLS
from lqm.recipes import Recipe


@pytest.fixture
def small_demo(monkeypatch, tiny, tiny_protocol):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    recipe = Recipe("tiny", "dm", 10, tiny, "tiny")
    monkeypatch.setattr("lqm.images.planning.fitting_recipe", lambda *_, **__: recipe)


def test_the_demo_prints_the_table_and_ends_with_the_page(small_demo, tmp_path, capsys):
    demo.demo(tmp_path / "demo")
    printed = capsys.readouterr().out
    for row in ("random", "herding", "by mean", "by lqm", "full"):
        assert row in printed
    page = tmp_path / "demo" / "report.html"
    assert f"wrote {page}" in printed
    assert "<h1>digits, condensed</h1>" in page.read_text()


def test_the_demo_can_be_run_again(small_demo, tmp_path, capsys):
    demo.demo(tmp_path / "demo")
    first = (tmp_path / "demo" / "report.html").read_text()
    demo.demo(tmp_path / "demo")
    assert (tmp_path / "demo" / "report.html").read_text() == first

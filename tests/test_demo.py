"""The demo, end to end, at a size that takes seconds."""

import pytest

from lqm.api import demo
from lqm.images.evaluation import PROTOCOLS
from lqm.recipes import Recipe


@pytest.fixture
def small_demo(monkeypatch, tiny, tiny_protocol):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    recipe = Recipe("tiny", "dm", 10, tiny, "tiny")
    monkeypatch.setattr("lqm.images.domain.fitting_recipe", lambda *_, **__: recipe)


def test_the_demo_prints_the_table_ends_with_the_page_and_can_be_run_again(small_demo, tmp_path, capsys):
    demo.demo(tmp_path / "demo")
    printed = capsys.readouterr().out
    for row in ("random", "herding", "by mean", "by lqm", "full"):
        assert row in printed
    page = tmp_path / "demo" / "report.html"
    assert str(page) in printed
    first = page.read_text()
    assert "<h1>digits, condensed</h1>" in first
    demo.demo(tmp_path / "demo")
    assert page.read_text() == first

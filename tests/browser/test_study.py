"""The page of a study in a browser: what is drawn is what the lines say."""

import pytest

from .conftest import EVIL

expect = pytest.importorskip("playwright.sync_api").expect


def test_the_forest_is_drawn_where_the_numbers_are(study_report, opened):
    """Marks at the mean differences, thick lines from end to end of the t intervals, by the drawn axis."""
    with opened(study_report) as page:
        found = page.evaluate(
            """() => {
              const svg = document.querySelector("[data-chart=forest] svg");
              const {domain: [least, most], range: [left, right]} = svg.scale("x");
              const value = (place) => least + (place - left) / (right - left) * (most - least);
              const lines = [...svg.querySelectorAll("[aria-label=rule] line")];
              const thick = lines.filter(line => getComputedStyle(line.parentElement).strokeWidth === "3px");
              const marks = [...svg.querySelectorAll("[aria-label=dot] path")];
              const at = (mark) => Number(/translate\\(([-\\d.]+)/.exec(mark.getAttribute("transform"))[1]);
              return {
                ends: thick.map(line => ["x1", "x2"].map(end => value(Number(line.getAttribute(end))))),
                means: marks.map(mark => value(at(mark))),
                stored: data.forest.flatMap(group => group.rows),
              };
            }"""
        )
        stored = found["stored"]
        assert len(stored) == 3
        for drawn, row in zip(found["ends"], stored, strict=True):
            assert drawn == pytest.approx(row["interval"], abs=1e-3)
        assert sorted(found["means"]) == pytest.approx(sorted(row["mean"] for row in stored), abs=1e-3)


def test_hostile_names_are_text_in_charts_too(study_report, opened):
    with opened(study_report) as page:
        forest = page.locator("[data-chart=forest] svg")
        expect(forest).to_contain_text(EVIL[:10])
        assert page.locator("main script").count() == 0
        expect(page.locator("#failed ~ div table")).to_contain_text(EVIL)


def test_a_study_is_read_without_scripts_too(study_report, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(study_report.as_uri())
    expect(page.locator(".banner").first).to_contain_text("lqm is better than mean in 1 of 2 comparisons")
    expect(page.locator("#scores ~ div table")).to_contain_text("62.0 ± 1.7")
    context.close()

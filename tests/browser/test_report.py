"""The report as a person meets it: in a browser, from disk, by mouse, by keyboard, small and large."""

import json
import re

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

import lqm
from lqm.diagnostics import cramer_von_mises, ecdf
from lqm.distances.levels import cramer_von_mises_levels
from lqm.report.cases import read_cases
from lqm.report.latents import latents_of

from .conftest import EVIL

REPORTS = ("demo_report", "evil_report", "graph_report", "stream_report")


@pytest.fixture(params=REPORTS)
def report(request):
    return request.getfixturevalue(request.param)


def serious(page):
    found = Axe().run(page).response["violations"]
    return [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_violation_of_accessibility_is_found(report, opened, scheme):
    with opened(report, scheme=scheme) as page:
        for details in page.locator("details").all():
            details.evaluate("element => element.open = true")
        assert serious(page) == []
        if page.locator(".tile").count():
            page.locator(".tile").first.click()
            assert serious(page) == [], "with the dialog open"


@pytest.mark.parametrize("width", [380, 768, 1280, 3840])
def test_the_page_never_scrolls_sideways(report, opened, width):
    with opened(report, width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def rises(page, name):
    """Where a step curve, as it is drawn, goes up, and to which height, in the units of the axes."""
    found = page.evaluate(
        """name => {
          const svg = document.querySelector("#ecdf svg");
          const [x, y] = [svg.scale("x"), svg.scale("y")];
          const path = svg.querySelector(`.${name} path`).getAttribute("d");
          return {path, x: [x.domain, x.range], y: y.range};
        }""",
        name,
    )
    ((least, most), (left, right)), (bottom, top) = found["x"], found["y"]
    corners = [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+),([\d.]+)", found["path"])]
    assert len(corners) == len(re.findall("[A-Z]", found["path"])), "a polygon of straight pieces"
    heights = {}
    for x, y in corners:
        value = least + (x - left) / (right - left) * (most - least)
        heights[round(value, 6)] = (y - bottom) / (top - bottom)
    first, *steps, last = heights.items()
    assert (first[1], last[1]) == (0, 1)
    return steps


@pytest.mark.parametrize(("label", "feature"), [(0, 0), (3, 5), (9, 7)])
def test_choosing_class_and_feature_draws_the_curves_that_diagnostics_finds(
    demo_report, opened, label, feature
):
    runs = [demo_report.parent / distance for distance in ("mean", "lqm")]
    latents = latents_of(read_cases(runs), lqm.load_source("digits"))
    with opened(demo_report) as page:
        page.get_by_label("Class", exact=True).select_option(str(label))
        page.get_by_label("Feature", exact=True).select_option(str(feature))
        words = page.locator("#ecdf-words").inner_text()
        curves = {
            "real": latents.real[label],
            **{f"case-{n}": m[label].own for n, m in enumerate(latents.matches)},
        }
        for name, features in curves.items():
            values, shares = ecdf(features[:, feature])
            steps = rises(page, f"ecdf-{name}")
            assert [value for value, _ in steps] == pytest.approx(values.tolist(), abs=3e-6)
            assert [share for _, share in steps] == pytest.approx(shares.tolist(), abs=1e-4)
        real = latents.real[label][:, [feature]]
        levels = cramer_von_mises_levels(10).levels
        best = [value for value, _ in rises(page, "ecdf-best")]
        assert best == pytest.approx(np.quantile(real[:, 0], levels, method="hazen").tolist(), abs=3e-6)
        for number, match in enumerate(latents.matches):
            statistic = cramer_von_mises(real, match[label].own[:, [feature]], ties="ecdf").item()
            assert f"{statistic:.4f} by {('dm + mean', 'dm + lqm')[number]}" in words


def test_worst_matched_and_most_typical_lead_to_the_right_feature(demo_report, opened):
    runs = [demo_report.parent / distance for distance in ("mean", "lqm")]
    latents = latents_of(read_cases(runs), lqm.load_source("digits"))
    with opened(demo_report) as page:
        feature = page.get_by_label("Feature", exact=True)
        assert feature.input_value() == str(latents.typical(0))
        page.get_by_label("Class", exact=True).select_option("4")
        assert feature.input_value() == str(latents.typical(4))
        pick = page.get_by_label("Show the feature that is")
        for number, name in enumerate(("dm + mean", "dm + lqm")):
            pick.select_option(label=f"worst matched by {name}")
            assert feature.input_value() == str(latents.worst(number, 4))
        feature.select_option("2")
        assert pick.input_value() == "own"
        page.get_by_label("Class", exact=True).select_option("5")
        assert feature.input_value() == "2", "a number that was chosen is kept"


def test_the_picture_dialog_opens_moves_and_closes_by_keyboard(demo_report, opened):
    with opened(demo_report) as page:
        tiles = page.locator(".tile")
        dialog = page.locator("dialog#picture")
        tiles.nth(3).focus()
        page.keyboard.press("Enter")
        assert dialog.is_visible()
        assert page.locator("#picture-title").inner_text() == "class 0, picture 4, by dm + mean"
        assert page.locator("#picture-content .nearest li").count() == 3
        page.keyboard.press("ArrowRight")
        assert page.locator("#picture-title").inner_text() == "class 0, picture 5, by dm + mean"
        for _ in range(8):
            page.keyboard.press("Tab")
            assert page.evaluate(
                "[document.body, ...document.querySelectorAll('dialog *')].includes(document.activeElement)"
            )
        page.keyboard.press("Escape")
        assert not dialog.is_visible()
        assert page.evaluate("document.activeElement.dataset.place") == "0,0,4", (
            "back to the picture last seen"
        )


def test_tab_goes_from_set_to_set_and_arrows_from_picture_to_picture(demo_report, opened):
    with opened(demo_report) as page:
        place = "document.activeElement.dataset.place"
        assert page.locator(".tile[tabindex='0']").count() == 2
        page.locator(".tile").first.focus()
        for key, expected in (("ArrowRight", "0,0,1"), ("ArrowDown", "0,1,1"), ("ArrowUp", "0,0,1")):
            page.keyboard.press(key)
            assert page.evaluate(place) == expected
        page.keyboard.press("Tab")
        assert page.evaluate(place) == "1,0,0"
        page.keyboard.press("Shift+Tab")
        assert page.evaluate(place) == "0,0,1", "back to where one was"


def test_the_picture_dialog_closes_by_its_button_and_by_a_click_beside_it(demo_report, opened):
    with opened(demo_report) as page:
        dialog = page.locator("dialog#picture")
        page.locator(".tile").first.click()
        page.get_by_role("button", name="Close").click()
        assert not dialog.is_visible()
        page.locator(".tile").first.click()
        page.mouse.click(5, 5)
        assert not dialog.is_visible()


def test_a_mosaic_shows_its_cells_and_what_each_resembles(evil_report, opened):
    with opened(evil_report) as page:
        page.locator(".tile").first.click()
        assert page.locator("#picture-content .cell > img").count() == 4
        assert page.locator("#picture-content .cell .nearest li").count() == 8
        sizes = page.locator("#picture-content .cell > img").evaluate_all(
            "all => all.map(img => img.naturalWidth)"
        )
        assert sizes == [8, 8, 8, 8]


def test_hostile_names_are_text_everywhere(evil_report, opened):
    with opened(evil_report) as page:
        assert page.locator("h1").inner_text() == "<b>evil</b>, condensed"
        assert page.locator(".row .name").first.inner_text() == EVIL
        assert EVIL in page.get_by_label("Class", exact=True).inner_text()
        page.locator(".tile").first.click()
        assert EVIL in page.locator("#picture-title").inner_text()
        assert (
            page.evaluate("document.querySelectorAll('h1 b, .name script, svg script, dialog script').length")
            == 0
        )


def test_another_way_of_judging_can_be_chosen(evil_report, opened):
    with opened(evil_report) as page:
        ways = page.get_by_label("Judged by")
        assert ways.locator("option").count() == 2
        ways.select_option("1")
        page.wait_for_selector(".standing[data-standing='1'] .plot svg")
        assert page.locator(".standing[data-standing='0']").is_hidden()
        assert "width 8" in page.locator(".standing[data-standing='1'] > p").inner_text()


def test_accuracies_are_those_of_the_manifest(demo_report, opened):
    manifest = json.loads((demo_report.parent / "lqm" / "manifest.json").read_text())
    (score,) = manifest["scores"]
    deviation = torch.tensor(score["accuracies"], dtype=torch.float64).std(correction=0).item()
    expected = f"{100 * score['accuracy']:.1f} ± {100 * deviation:.1f}"
    full = score["baselines"]["full"]["accuracies"]
    with opened(demo_report) as page:
        texts = page.locator("[data-chart='accuracy:0'] svg").text_content()
        assert expected in texts
        card = page.locator(".answers article").nth(1).inner_text()
        gap = 100 * (score["accuracy"] - sum(full) / len(full))
        assert f"{gap:+.1f}".replace("-", "\N{MINUS SIGN}") in card
        ends = page.locator("[data-chart='accuracy:0'] [aria-label=bar] rect").evaluate_all(
            "all => all.map(r => r.width.baseVal.value)"
        )
        left, right = page.locator("[data-chart='accuracy:0'] svg").evaluate("svg => svg.scale('x').range")
        accuracies = sorted(
            [
                score["accuracy"],
                *(sum(b["accuracies"]) / len(b["accuracies"]) for b in score["baselines"].values()),
            ]
        )
        shares = sorted(end / (right - left) for end in ends)
        for accuracy in accuracies:
            assert min(abs(accuracy - share) for share in shares) < 2e-3


def test_the_lines_of_python_can_be_copied(demo_report, opened, browser):
    with opened(demo_report) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy").first.click()
        page.wait_for_selector("button.copy:has-text('Copied')")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == page.locator(".code code").first.inner_text()
        assert copied.startswith("import lqm\nsmall = lqm.load(")


def test_the_heat_map_has_a_cell_for_each_task_up_to_the_diagonal(stream_report, opened):
    result = json.loads((stream_report.parent / "cat" / "result.json").read_text())
    tasks = len(result["tasks"])
    matrix = torch.tensor(
        [[[float("nan") if x is None else x for x in row] for row in m] for m in result["matrices"]]
    ).mean(0)
    with opened(stream_report) as page:
        place = page.locator("[data-chart='matrix:0'] svg")
        assert place.locator("[aria-label=cell] rect").count() == tasks * (tasks + 1) // 2
        expected = [f"{100 * matrix[k, i]:.0f}" for k in range(tasks) for i in range(k + 1)]
        assert place.locator("[aria-label=text] text").all_text_contents() == expected


def test_the_memory_of_a_stream_can_be_looked_at_class_by_class(stream_report, opened):
    with opened(stream_report) as page:
        page.get_by_label("Class", exact=True).select_option(label="7")
        pick = page.get_by_label("Show the feature that is")
        assert pick.locator("option").all_text_contents() == [
            "most typical",
            "worst matched by cat + lqm",
            "chosen by its number",
        ], "joint keeps no memory"
        pick.select_option(label="worst matched by cat + lqm")
        assert "Class 7, feature" in page.locator("#ecdf-words").inner_text()
        assert page.locator("#ecdf .ecdf-case-0 path").count() == 1
        assert page.locator("#ecdf .ecdf-case-1 path").count() == 0


def test_the_page_is_read_without_scripts_too(demo_report, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(demo_report.as_uri())
    assert page.locator(".answers article").count() == 4
    assert page.locator(".tile img").count() == 200
    context.close()

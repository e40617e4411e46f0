"""The report as a person meets it: in a browser, from disk, by mouse, by keyboard, small and large.

What follows an action is waited for by `expect`: a browser closes a dialog, moves the focus and decodes a
image in its own time.
"""

import json
import re

import numpy as np
import pytest
import torch

import lqm
from lqm.distances.levels import cramer_von_mises_levels
from lqm.evaluation.cases import latents_of
from lqm.evaluation.diagnostics import cramer_von_mises, ecdf
from tests.browser.waiting import wait_until
from tests.report.making import cases_of, chosen, tiny_source

from .conftest import EVIL

Axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe
expect = pytest.importorskip("playwright.sync_api").expect

REPORTS = ("digits_report", "evil_report", "graph_report", "stream_report", "study_report")


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
            expect(page.locator("dialog#image")).to_be_visible()
            assert serious(page) == [], "with the dialog open"


def test_the_page_never_scrolls_sideways(report, opened):
    """Opened on a phone, in a window that grows, and on the phone again."""
    with opened(report, width=380) as page:
        for width in (380, 768, 1280, 3840, 380):
            page.set_viewport_size({"width": width, "height": 900})
            wait_until(page, "width => innerWidth === width", width)
            wait_until(page, "width => document.documentElement.scrollWidth <= width", width)


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_tip_can_be_read_and_names_all_runs_at_once(digits_report, opened, scheme):
    with opened(digits_report, scheme=scheme) as page:
        ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
        for chart in ("curve:loss", "classes:0", "extremes", "ecdf"):
            drawn = page.locator(f"[data-chart='{chart}']")
            drawn.scroll_into_view_if_needed()
            drawn.hover()
            tip = drawn.locator("[aria-label=tip] > g")
            expect(tip, f"{chart}: one box, not one a run").to_have_count(1)
            expect(tip, chart).to_contain_text("dm + mean: ")
            expect(tip, chart).to_contain_text("dm + lqm: ")
            box = tip.locator("path").first.evaluate("path => getComputedStyle(path).fill")
            text = tip.locator("text").first.evaluate("text => getComputedStyle(text).fill")
            assert box == ground, chart
            light = [sum(map(int, re.findall(r"\d+", colour)[:3])) / 765 for colour in (box, text)]
            assert abs(light[0] - light[1]) > 0.6, chart


@pytest.mark.parametrize(
    ("report", "chart", "said"),
    [
        ("digits_report", "accuracy:0", r"^\S.*\d\d?\.\d(, \d\d?\.\d)*$"),
        (
            "digits_report",
            "histogram",
            r"dm \+ (mean|lqm).*\d\.\d{3} to \d\.\d{3}: \d+\.\d % of the features",
        ),
        ("stream_report", "matrix:0", r"task \d after task \d: \d+\.\d %"),
        ("stream_report", "average", r"after task \d.*cat \+ lqm: \d+\.\d ± \d+\.\d.*joint: \d"),
        ("stream_report", "budgets", r"class \d.*cat \+ lqm: \d+"),
        (
            "study_report",
            "forest",
            r"(lqm|wasserstein): \S\d+\.\d \[.*\].*3 pairs: (better|can't be told apart)",
        ),
        ("study_report", "seconds:0", r"(mean|lqm): \d+\.\d ± \d+\.\d %.*seconds 2"),
        ("study_report", "sizes:0", r"(mean|lqm): \d+\.\d ± \d+\.\d %.*records a class (1|10)"),
    ],
    indirect=["report"],
)
def test_every_chart_says_its_numbers_where_one_points(report, opened, chart, said):
    with opened(report) as page:
        drawn = page.locator(f"[data-chart='{chart}'] svg")
        drawn.scroll_into_view_if_needed()
        size = drawn.bounding_box()
        tip = drawn.locator("[aria-label=tip] text")
        for across, down in ((0.5, 0.5), (0.3, 0.3), (0.2, 0.8), (0.4, 0.7)):
            page.mouse.move(size["x"] + across * size["width"], size["y"] + down * size["height"])
            if tip.count():
                break
        expect(tip).to_have_text(re.compile(said))


@pytest.mark.parametrize(("label", "feature"), [(0, 0), (3, 5), (9, 7)])
def test_choosing_class_and_feature_draws_the_curves_that_diagnostics_finds(
    digits_report, opened, label, feature
):
    runs = [digits_report.parent / distance for distance in ("mean", "lqm")]
    latents = latents_of(cases_of(runs), lqm.load_source("digits"))
    with opened(digits_report) as page:
        page.get_by_label("Class", exact=True).select_option(str(label))
        page.get_by_label("Feature", exact=True).select_option(str(feature))
        words = page.locator("#ecdf-words")
        expect(words).to_contain_text(f"Class {label}, feature {feature}:")
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
            expect(words).to_contain_text(f"{statistic:.4f} by {('dm + mean', 'dm + lqm')[number]}")


def test_worst_matched_and_most_typical_lead_to_the_right_feature(digits_report, opened):
    runs = [digits_report.parent / distance for distance in ("mean", "lqm")]
    latents = latents_of(cases_of(runs), lqm.load_source("digits"))
    with opened(digits_report) as page:
        feature = page.get_by_label("Feature", exact=True)
        expect(feature).to_have_value(str(latents.typical(0)))
        page.get_by_label("Class", exact=True).select_option("4")
        expect(feature).to_have_value(str(latents.typical(4)))
        pick = page.get_by_label("Show the feature that is")
        for number, name in enumerate(("dm + mean", "dm + lqm")):
            pick.select_option(label=f"worst matched by {name}")
            expect(feature).to_have_value(str(int(latents.matches[number][4].statistic.argmax())))
        feature.select_option("2")
        expect(pick).to_have_value("own")
        page.get_by_label("Class", exact=True).select_option("5")
        expect(feature, "a number that was chosen is kept").to_have_value("2")


def test_the_image_dialog_opens_moves_and_closes_by_keyboard(digits_report, opened):
    with opened(digits_report) as page:
        tiles = page.locator(".tile")
        dialog = page.locator("dialog#image")
        title = page.locator("#image-title")
        tiles.nth(3).focus()
        page.keyboard.press("Enter")
        expect(dialog).to_be_visible()
        expect(title).to_have_text("class 0, image 4, by dm + mean")
        expect(page.locator("#image-content .nearest li")).to_have_count(3)
        page.keyboard.press("ArrowRight")
        expect(title).to_have_text("class 0, image 5, by dm + mean")
        for _ in range(8):
            page.keyboard.press("Tab")
            assert page.evaluate(
                "[document.body, ...document.querySelectorAll('dialog *')].includes(document.activeElement)"
            )
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(tiles.nth(4), "back to the image last seen").to_be_focused()


def test_tab_goes_from_set_to_set_and_arrows_from_image_to_image(digits_report, opened):
    with opened(digits_report) as page:
        expect(page.locator(".tile[tabindex='0']")).to_have_count(2)
        page.locator(".tile").first.focus()
        for key, place in (
            ("ArrowRight", "0,0,1"),
            ("ArrowDown", "0,1,1"),
            ("ArrowUp", "0,0,1"),
            ("Tab", "1,0,0"),
            ("Shift+Tab", "0,0,1"),
            ("End", "0,9,9"),
            ("Home", "0,0,0"),
        ):
            page.keyboard.press(key)
            expect(page.locator(f".tile[data-place='{place}']"), key).to_be_focused()


def test_arrows_go_from_line_to_line_where_a_class_has_several(large_report, opened):
    with opened(large_report) as page:
        columns = page.locator(".tiles").first.evaluate(
            "row => [...row.children].filter((tile) => tile.offsetTop === row.children[0].offsetTop).length"
        )
        assert columns < 25
        starts = [f"0,0,{start}" for start in range(0, 25, columns)] + ["0,1,0"]
        page.locator(".tile").first.focus()
        for key, places in (("ArrowDown", starts[1:]), ("ArrowUp", starts[-2::-1])):
            for place in places:
                page.keyboard.press(key)
                expect(page.locator(f".tile[data-place='{place}']"), key).to_be_focused()


def test_of_many_classes_the_worst_are_drawn(large_report, opened):
    with opened(large_report) as page:
        chart = page.locator("[data-chart='extremes']")
        expect(chart.locator("[aria-label=dot] > *")).to_have_count(30)
        expect(chart.locator("[aria-label='y-axis tick label'] > *")).to_have_count(30)
        expect(page.locator("figcaption", has_text="(the 30 worst classes)")).to_be_visible()


def test_a_large_class_is_drawn_from_its_smallest_to_its_largest_value(large_report, opened):
    source = tiny_source(classes=35, each=210)
    latents = latents_of(cases_of([large_report.parent]), source)
    with opened(large_report) as page:
        feature = int(page.get_by_label("Feature", exact=True).input_value())
        values = [value for value, _ in rises(page, "ecdf-real")]
        real = latents.real[0][:, feature]
        assert (values[0], values[-1]) == pytest.approx((real.min().item(), real.max().item()), abs=3e-6)
        expect(page.locator("#ecdf-words")).to_contain_text("210 real records, drawn as 200 quantiles.")


def test_a_table_of_numbers_opens_at_the_width_of_the_page(digits_report, opened):
    with opened(digits_report) as page:
        figure = page.locator("figure", has=page.locator("[data-chart='accuracy:0']"))
        before = figure.bounding_box()["width"]
        figure.locator("summary").click()
        expect(figure.locator("table")).to_be_visible()
        assert figure.bounding_box()["width"] > 1.8 * before
        wide = figure.locator(".wide").evaluate("place => place.scrollWidth - place.clientWidth")
        assert wide == 0, "and nothing of it is hidden"


def test_optimal_points_of_several_sizes_are_named(tmp_path, opened):
    source = tiny_source(each=12)
    for per_class in (2, 4):
        chosen(source, tmp_path / str(per_class), per_class)
    with opened(lqm.write_report([tmp_path / "2", tmp_path / "4"], source=source)) as page:
        expect(page.locator("#ecdf text", has_text="2 optimal")).to_be_visible()
        expect(page.locator("#ecdf text", has_text="4 optimal")).to_be_visible()


def test_the_image_dialog_closes_by_its_button_and_by_a_click_beside_it(digits_report, opened):
    with opened(digits_report) as page:
        dialog = page.locator("dialog#image")
        page.locator(".tile").first.click()
        page.get_by_role("button", name="Close").click()
        expect(dialog).to_be_hidden()
        page.locator(".tile").first.click()
        expect(dialog).to_be_visible()
        page.mouse.click(5, 5)
        expect(dialog).to_be_hidden()


def test_a_mosaic_shows_its_cells_and_what_each_resembles(evil_report, opened):
    with opened(evil_report) as page:
        page.locator(".tile").first.click()
        cells = page.locator("#image-content .cell > img")
        expect(cells).to_have_count(4)
        expect(page.locator("#image-content .cell .nearest li")).to_have_count(8)
        for cell in cells.all():
            expect(cell).to_have_js_property("naturalWidth", 8)


def test_hostile_names_are_text_everywhere(evil_report, opened):
    with opened(evil_report) as page:
        expect(page.locator("h1")).to_have_text("<b>evil</b>, condensed")
        expect(page.locator(".row .name").first).to_have_text(EVIL)
        expect(page.get_by_label("Class", exact=True)).to_contain_text(EVIL)
        page.locator(".tile").first.click()
        expect(page.locator("#image-title")).to_contain_text(EVIL)
        expect(page.locator("h1 b, .name script, svg script, dialog script")).to_have_count(0)


def test_another_way_of_judging_can_be_chosen(evil_report, opened):
    with opened(evil_report) as page:
        ways = page.get_by_label("Judged by")
        expect(ways.locator("option")).to_have_count(2)
        ways.select_option("1")
        expect(page.locator(".standing[data-standing='1'] .plot svg").first).to_be_visible()
        expect(page.locator(".standing[data-standing='0']")).to_be_hidden()
        expect(page.locator(".standing[data-standing='1'] > p").first).to_contain_text("width 8")


def test_accuracies_are_those_of_the_manifest(digits_report, opened):
    manifest = json.loads((digits_report.parent / "lqm" / "manifest.json").read_text())
    (score,) = manifest["scores"]
    deviation = torch.tensor(score["accuracies"], dtype=torch.float64).std().item()
    expected = f"{100 * score['accuracy']:.1f} ± {100 * deviation:.1f}"
    full = score["baselines"]["full"]["accuracies"]
    with opened(digits_report) as page:
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


def test_the_lines_of_python_can_be_copied(digits_report, opened, browser):
    with opened(digits_report) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy").first.click()
        expect(page.locator("button.copy").first).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == page.locator(".code code").first.inner_text()
        assert copied.startswith("import lqm\ncondensed = lqm.load(")


def test_the_heat_map_has_a_cell_for_each_task_up_to_the_diagonal(stream_report, opened):
    result = json.loads((stream_report.parent / "cat" / "result.json").read_text())
    tasks = len(result["tasks"])
    matrix = torch.tensor(
        [[[float("nan") if x is None else x for x in row] for row in m] for m in result["matrices"]]
    ).mean(0)
    with opened(stream_report) as page:
        place = page.locator("[data-chart='matrix:0'] svg")
        expect(place.locator("[aria-label=cell] rect")).to_have_count(tasks * (tasks + 1) // 2)
        expected = [f"{100 * matrix[k, i]:.0f}" for k in range(tasks) for i in range(k + 1)]
        expect(place.locator("[aria-label=text] text")).to_have_text(expected)


def test_the_memory_of_a_stream_can_be_looked_at_class_by_class(stream_report, opened):
    with opened(stream_report) as page:
        page.get_by_label("Class", exact=True).select_option(label="7")
        pick = page.get_by_label("Show the feature that is")
        expect(pick.locator("option"), "joint keeps no memory").to_have_text(
            ["most typical", "worst matched by cat + lqm", "chosen by its number"]
        )
        pick.select_option(label="worst matched by cat + lqm")
        expect(page.locator("#ecdf-words")).to_contain_text("Class 7, feature")
        expect(page.locator("#ecdf .ecdf-case-0 path")).to_have_count(1)
        expect(page.locator("#ecdf .ecdf-case-1 path")).to_have_count(0)


def test_the_page_is_read_without_scripts_too(digits_report, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(digits_report.as_uri())
    assert page.locator(".answers article").count() == 5
    assert page.locator(".tile img").count() == 200
    context.close()

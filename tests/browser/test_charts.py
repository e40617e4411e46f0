"""Charts of the report as a browser draws them: maps, confusions, inits, bounds and pairs."""

import pytest

import lqm
from tests.browser.conftest import tiny_work
from tests.report.making import tiny_source

from .test_report import serious

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="session")
def seeds_report(folder):
    """Two distances, two seeds of each."""
    with tiny_work(folder):
        source, runs = tiny_source(), []
        for distance in ("mean", "lqm"):
            for seed in range(2):
                runs.append(folder / f"{distance}-{seed}")
                made = lqm.condense(
                    source,
                    distance=distance,
                    per_class=2,
                    seed=seed,
                    settings={"steps": 2},
                    out=runs[-1],
                    show_progress=False,
                )
                lqm.evaluate(made, source=source, baselines=(), show_progress=False)
        return lqm.write_report(runs, folder / "seeds.html", source=source)


def box(locator):
    found = locator.bounding_box()
    return found["x"], found["y"], found["x"] + found["width"], found["y"] + found["height"]


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("width", [360, 1440])
def test_the_verdict_is_seen_without_scrolling(digits_report, opened, width):
    with opened(digits_report, width=width, height=700) as page:
        banners = page.locator(".banner")
        assert banners.count() == 2
        assert box(banners.first)[3] < 700
        expect(banners.nth(1)).to_contain_text("dm + lqm: ")


def test_the_map_shows_every_record_of_the_class_that_is_chosen(digits_report, opened):
    with opened(digits_report) as page:
        place = page.locator('[data-chart="map:class"]')
        found = page.evaluate("data.maps.classes.map(own => own.real.counts[0])")
        for label in (0, 7):
            page.locator("#map-class").select_option(str(label))
            expect(page.locator("#map-words")).to_contain_text(f"Class {label}, ")
            assert place.locator(".map-real circle").count() == found[label][1]
            assert [place.locator(f".map-case-{case} > *").count() for case in range(2)] == [10, 10]
        share = page.evaluate("Math.round(100 * data.maps.classes[7].explained[0])")
        expect(place).to_contain_text(f"axis 1 ({share} % of the variance)")
        assert page.locator('[data-chart="map:all"] .map-case-1 > *').count() == 100


def test_the_points_of_a_set_are_unpacked_at_once(digits_report, opened):
    """A page of many records opens slowly if each of them unpacks all."""
    with opened(digits_report) as page:
        page.evaluate(
            """() => {
              const decode = window.atob;
              window.decoded = 0;
              window.atob = (text) => { window.decoded += 1; return decode(text); };
            }"""
        )
        page.locator("#map-class").select_option("7")
        expect(page.locator("#map-words")).to_contain_text("Class 7, ")
        assert 3 <= page.evaluate("window.decoded") <= 12, "real images and two sets, of one map or of both"


def test_points_lie_where_the_data_say_with_equal_scales(digits_report, opened):
    with opened(digits_report) as page:
        found = page.evaluate(
            """() => {
              const svg = document.querySelector('[data-chart="map:all"] svg');
              const [x, y] = [svg.scale("x"), svg.scale("y")];
              const drawn = [...svg.querySelectorAll(".map-real circle")].slice(0, 5);
              const points = pointsOf(data.maps.all.real).slice(0, 5);
              return {
                scales: [x, y].map(s => Math.abs((s.range[1] - s.range[0]) / (s.domain[1] - s.domain[0]))),
                apart: drawn.map((dot, i) => Math.hypot(dot.cx.baseVal.value - x.apply(points[i].x),
                                                        dot.cy.baseVal.value - y.apply(points[i].y))),
              };
            }"""
        )
        assert found["scales"][0] == pytest.approx(found["scales"][1], rel=0.02)
        assert max(found["apart"]) < 1


def test_a_confusion_matrix_says_every_share_that_rounds_to_a_percent(digits_report, opened):
    with opened(digits_report) as page:
        matrix = page.evaluate("data.confusion[0][0].matrix")
        expected = sorted(f"{100 * share:.0f}" for row in matrix for share in row if share >= 0.005)
        place = page.locator('[data-chart="confusion:0,0"]')
        texts = place.locator('g[aria-label="text"] text').all_text_contents()
        assert sorted(texts) == expected
        assert place.locator('g[aria-label="cell"] rect').count() == 100
        for row in matrix:
            assert sum(row) == pytest.approx(1)


def test_the_init_stands_beside_its_image_and_in_its_place(digits_report, opened):
    with opened(digits_report) as page:
        tile = page.locator(".tile img").first
        learned = tile.get_attribute("src")
        page.locator("#inits").focus()
        page.keyboard.press("Space")
        init = tile.get_attribute("src")
        assert init == page.evaluate("data.inits.images[data.inits.of[0][0][0]]") != learned
        page.locator(".tile").first.click()
        large = page.locator("dialog#image .large")
        assert [image.get_attribute("src") for image in large.all()] == [init, learned]
        assert serious(page) == []
        page.keyboard.press("Escape")
        page.locator("#inits").uncheck()
        expect(tile).to_have_attribute("src", learned)


@pytest.mark.parametrize("width", [360, 380, 1440])
def test_ten_images_of_a_class_stand_in_one_line(digits_report, opened, width):
    with opened(digits_report, width=width) as page:
        tiles = [box(tile) for tile in page.locator(".row").first.locator(".tile").all()]
        assert len({round(top) for _, top, *_ in tiles}) == 1
        assert min(right - left for left, _, right, _ in tiles) >= 24, "large enough for a finger"


@pytest.mark.parametrize("width", [360, 1440])
def test_the_title_of_an_axis_stands_clear_of_its_ticks(digits_report, opened, width):
    with opened(digits_report, width=width) as page:
        place = page.locator('[data-chart="histogram"]')
        (title,) = place.locator('g[aria-label="x-axis label"] text').all()
        ticks = place.locator('g[aria-label="x-axis tick label"] text').all()
        assert ticks
        assert not [tick for tick in ticks if overlap(box(title), box(tick))]


@pytest.mark.parametrize("name", ["graph_report", "stream_report"])
def test_class_budgets_leave_room_on_the_screen(request, opened, name):
    for width in (360, 1440):
        with opened(request.getfixturevalue(name), width=width) as page:
            place = page.locator('[data-chart="budgets"]')
            assert page.evaluate("data.classNames.length") == 10
            assert place.bounding_box()["height"] < 450
            sets = page.evaluate("data.budgets.sets.filter(own => own.length).length")
            assert place.locator('g[aria-label="bar"] rect').count() == 10 * sets


def test_streams_that_keep_everything_are_named_at_their_line(stream_report, opened):
    with opened(stream_report) as page:
        expect(page.locator('[data-chart="average"] .bound')).to_have_text("joint: keeps everything")
        assert page.locator('[data-chart="matrix:0"] g[aria-label="text"] text').count() == 15


def test_pairs_of_seeds_are_drawn_each_with_their_mean(seeds_report, opened):
    for scheme in ("light", "dark"):
        with opened(seeds_report, width=360, scheme=scheme) as page:
            place = page.locator('[data-chart="pairs:0"]')
            assert place.locator(".pair-each circle").count() == 2
            expect(place).to_contain_text("dm + lqm less mean")
            assert serious(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= 360

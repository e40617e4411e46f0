from types import SimpleNamespace

import numpy as np
import pytest

from lqm.condensed import load
from lqm.report.figures.images import draw_images
from tests.report.figures.making import drawn, image_run, node_run, title


def source(channels=1, side=8, names=("cat", "dog", "cow")):
    return SimpleNamespace(
        name="mine", shape=(channels, side, side), class_names=names, record={"name": "mine"}
    )


def sheet(figure):
    (image,) = figure.axes[0].images
    return image.get_array()


def names_of(figure):
    return [text.get_text() for text in (*figure.axes[0].get_yticklabels(), *figure.axes[0].texts)]


@pytest.mark.parametrize("channels", [1, 3])
def test_a_row_is_a_class_with_its_name_beside_it(tmp_path, channels):
    run = image_run(tmp_path / "run", source(channels), per_class=2)
    figures, left_out = drawn(draw_images, run)
    assert not left_out
    figure = figures["images-dm-lqm"]
    assert names_of(figure) == ["cat", "dog", "cow"]
    images = (load(run).images * 255).round().byte().permute(0, 2, 3, 1).numpy()
    found = sheet(figure)
    assert found.shape == (3 * 8 + 2, 2 * 8 + 1, 3), "a gap of one pixel"
    for number, image in enumerate(images):
        row, column = divmod(number, 2)
        tile = found[9 * row : 9 * row + 8, 9 * column : 9 * column + 8]
        np.testing.assert_array_equal(tile, np.broadcast_to(image, (8, 8, 3)))
    assert (found[8] == 255).all()


def test_one_image_of_each_class_makes_a_grid_with_names_below(tmp_path):
    names = tuple(f"{number}" for number in range(10))
    figure = drawn(draw_images, image_run(tmp_path / "run", source(names=names), per_class=1))[0][
        "images-dm-lqm"
    ]
    assert names_of(figure) == [*names]
    wide, high = 9, 8 + 3
    assert sheet(figure).shape[:2] == (3 * high, 3 * wide + 8), "four a row, and room for the last names"
    assert (sheet(figure)[2 * high : 2 * high + 8, 2 * wide :] == 255).all(), "the last row is not full"


def test_of_very_many_classes_and_images_the_first_are_shown_and_that_is_said(tmp_path):
    names = tuple(map(str, range(101)))
    run = image_run(tmp_path / "run", source(side=4, names=names), per_class=1)
    (figure,) = drawn(draw_images, run)[0].values()
    assert title(figure) == "mine, dm + lqm, the first 100 of 101 classes"
    assert len(names_of(figure)) == 100
    run = image_run(tmp_path / "many", source(side=4), per_class=21)
    (figure,) = drawn(draw_images, run)[0].values()
    assert title(figure) == "mine, dm + lqm, the first 20 of 21 of a class"
    assert sheet(figure).shape[1] == 20 * 5 - 1


def test_every_set_has_a_file_of_its_own(tmp_path, digits):
    runs = [image_run(tmp_path / f"{n}", digits, seed=n) for n in range(2)]
    runs.append(image_run(tmp_path / "mine", source()))
    assert [*drawn(draw_images, *runs)[0]] == [
        "images-dm-lqm-seed-0-digits",
        "images-dm-lqm-seed-1-digits",
        "images-dm-lqm-mine",
    ]


def test_nodes_have_no_images(tmp_path):
    assert drawn(draw_images, node_run(tmp_path / "a")) == (
        {},
        {"contact sheets": "these runs hold nodes of graphs, not images"},
    )

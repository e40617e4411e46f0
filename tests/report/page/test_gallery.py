"""The images on the page are those of the sets, to the last bit, and so are the real ones beside them."""

import numpy as np
import pytest
import torch

import lqm
from lqm import write_report
from lqm.api.report import real_images
from lqm.images.inits import init_again
from lqm.images.nearest import nearest
from lqm.report.page import gallery as module
from lqm.report.page.gallery import as_uri, gallery
from lqm.utils.pixels import pixels
from tests.report.making import bytes_of, chosen, decoded, read_page, tiny_source


def synthetic(source, folder, per_class=3, mosaic=1, seed=0):
    """A set whose images are no real ones, nor of 256 levels."""
    condensed = chosen(source, folder, per_class)
    noise = torch.rand(condensed.images.shape, generator=torch.Generator().manual_seed(seed))
    changed = {"mosaic": mosaic} if mosaic > 1 else {}
    made = type(condensed)(noise, condensed.labels, condensed.class_names, condensed.manifest | changed)
    return made.write(folder)


def tiles(page):
    """The images in the text of the page, by set, class and number."""
    places = [tuple(map(int, b["data-place"].split(","))) for b in page.of("button") if "data-place" in b]
    images = [image["src"] for image in page.of("img")]
    return dict(zip(places, images, strict=True))


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("mosaic", [1, 2])
def test_images_cells_and_neighbours_are_shown_bit_for_bit(tmp_path, channels, mosaic):
    source = tiny_source(channels=channels, each=10)
    condensed = synthetic(source, tmp_path / "set", mosaic=mosaic)
    page = read_page(write_report(tmp_path / "set", source=source))
    shown, records = tiles(page), page.data["images"]
    assert len(shown) == 9
    cells, labels = condensed.records()
    count = 3 if mosaic == 1 else 2
    found = nearest(cells, source.train.images, count)
    for (number, label, place), uri in shown.items():
        assert number == 0
        image = condensed.images[condensed.labels == label][place]
        assert decoded(uri).equal(bytes_of(image))
        own = records[0][label][place]
        assert len(own) == mosaic**2
        start = mosaic**2 * place
        for offset, record in enumerate(own):
            index = (labels == label).nonzero()[start + offset].item()
            if mosaic > 1:
                assert decoded(record["cell"]).equal(bytes_of(cells[index]))
            else:
                assert record["cell"] is None
            assert [near["distance"] for near in record["nearest"]] == found.distances[index].tolist()
            for near, expected in zip(record["nearest"], found.places[index].tolist(), strict=True):
                assert near["real"] == expected
                real = page.data["real"][str(expected)]
                assert real["label"] == source.train.labels[expected]
                assert decoded(real["image"]).equal(source.train.images[expected])
    shown_real = {int(place) for place in page.data["real"]}
    assert shown_real == {*found.places.flatten().tolist()}, "no other real image is on the page"


def test_a_set_of_real_images_has_itself_for_neighbours(tmp_path):
    source = tiny_source()
    condensed = chosen(source, tmp_path / "set")
    found = gallery([condensed], real_images(source))
    for label, own in enumerate(found["sets"][0]):
        for image, stored in zip(own, condensed.images[condensed.labels == label], strict=True):
            (record,) = image["records"]
            first = record["nearest"][0]
            assert first["distance"] == 0
            assert decoded(found["real"][first["real"]]["image"]).equal(bytes_of(stored))


def test_images_of_pages_of_several_sets_stand_in_their_order(page):
    for (number, label, place), uri in tiles(page.read).items():
        condensed = page.cases[number].condensed
        assert decoded(uri).equal(bytes_of(condensed.images[condensed.labels == label][place]))
    assert len(tiles(page.read)) == 40
    names = [image["alt"] for image in page.read.of("img")]
    assert names[:3] == ["0, image 1", "0, image 2", "1, image 1"]


def test_images_that_are_not_square_keep_their_pixels():
    image = torch.rand(3, 6, 10, generator=torch.Generator().manual_seed(0))
    assert decoded(as_uri(image)).equal(bytes_of(image))


@pytest.mark.parametrize(("channels", "shown"), [(2, 1), (5, 3)])
def test_of_channels_that_are_no_colours_the_first_are_shown(tmp_path, channels, shown):
    source = tiny_source(channels=channels)
    condensed = synthetic(source, tmp_path / "set")
    page = read_page(write_report(tmp_path / "set", source=source))
    for (_, label, place), uri in tiles(page).items():
        image = condensed.images[condensed.labels == label][place]
        assert decoded(uri).equal(bytes_of(image[:shown]))


def test_without_the_real_data_there_are_images_and_no_neighbours(tmp_path):
    condensed = synthetic(tiny_source(), tmp_path / "set", mosaic=2)
    found = gallery([condensed], None)
    assert found["real"] == {}
    for classes in found["sets"]:
        for own in classes:
            assert all(not record["nearest"] for image in own for record in image["records"])
            assert all(len(image["records"]) == 4 for image in own)


def test_more_images_than_a_page_holds_are_cut_and_the_page_says_so(tmp_path, monkeypatch):
    source = tiny_source(classes=2)
    condensed = synthetic(source, tmp_path / "set", per_class=6)
    path = write_report(tmp_path / "set", source=source)
    assert len(tiles(read_page(path))) == 12
    assert "of which the first" not in read_page(path).words
    first = gallery([condensed], real_images(source))
    own = [len(tiles[0]["image"]) for tiles in first["sets"][0]]
    near = {near["real"] for tiles in first["sets"][0] for near in tiles[0]["records"][0]["nearest"]}
    letters = sum(own) + sum(len(first["real"][place]["image"]) for place in near)
    monkeypatch.setattr(module, "_LETTERS", 4 * letters)
    page = read_page(write_report(tmp_path / "set", source=source))
    assert "Each row is a class, of which the first 4 are shown." in page.words
    assert len(tiles(page)) == 8
    for (_, label, place), uri in tiles(page).items():
        assert decoded(uri).equal(bytes_of(condensed.images[condensed.labels == label][place])), (
            "the first ones"
        )
    assert [len(own) for own in page.data["images"][0]] == [4, 4]
    monkeypatch.setattr(module, "_LETTERS", 1)
    assert len(tiles(read_page(write_report(tmp_path / "set", source=source)))) == 2, "one at least"


def test_sets_of_different_sizes_are_shown_side_by_side(tmp_path):
    source = tiny_source()
    for per_class in (1, 4):
        synthetic(source, tmp_path / str(per_class), per_class)
    page = read_page(write_report([tmp_path / "1", tmp_path / "4"], source=source))
    assert [[len(own) for own in classes] for classes in page.data["images"]] == [[1] * 3, [4] * 3]


def test_more_images_than_neighbours_are_looked_for_are_cut(tmp_path, monkeypatch):
    condensed = synthetic(tiny_source(), tmp_path / "set", mosaic=2)
    monkeypatch.setattr(module, "_CELLS", 3 * 4 * 2)
    found = gallery([condensed], None)
    assert found["cut"]
    assert [len(own) for own in found["sets"][0]] == [found["shown"]] * 3 == [2] * 3


@pytest.mark.parametrize(
    ("side", "mosaic", "all_shown"),
    [
        (32, 1, True),
        (32, 2, False),
        (64, 1, False),
        pytest.param(224, 1, False, marks=pytest.mark.slow),
    ],
)
def test_a_page_of_ten_classes_stays_below_8_megabytes(tmp_path, side, mosaic, all_shown):
    """Two sets of ten images a class of noise, which is the hardest to compress."""
    source = tiny_source(classes=10, each=60 if side == 32 else 12, channels=3, side=side)
    for seed in (0, 1):
        synthetic(source, tmp_path / str(seed), per_class=10, mosaic=mosaic, seed=seed)
    path = write_report([tmp_path / "0", tmp_path / "1"], source=source)
    assert path.stat().st_size < 8e6
    page = read_page(path)
    shown = len(tiles(page))
    assert shown == 200 if all_shown else 0 < shown < 200
    assert page.data["explorer"]["features"] > 100


def test_a_large_image_is_shown_with_a_slight_loss_in_a_fraction_of_the_letters():
    across = torch.linspace(0, 1, 128).expand(128, 128)
    noise = torch.rand(3, 128, 128, generator=torch.Generator().manual_seed(0))
    image = 0.9 * torch.stack([across, across.T, 1 - across]) + 0.1 * noise
    uri = as_uri(image)
    assert decoded(uri).shape == (3, 128, 128)
    assert (decoded(uri).float() / 255 - image).abs().mean() < 0.03
    assert len(uri) < 3 * 128 * 128 / 4


def test_grey_images_are_shown_as_grey(digits):
    image = pixels(digits.train.images[0])
    assert decoded(as_uri(image)).shape == (1, 8, 8)
    assert np.array_equal(decoded(as_uri(image)).numpy(), bytes_of(image).numpy())


def test_a_mosaic_beside_plain_images_has_cells_and_they_have_none(tmp_path):
    source = tiny_source()
    for name, mosaic in (("plain", 1), ("mosaic", 2)):
        synthetic(source, tmp_path / name, mosaic=mosaic)
    page = read_page(write_report([tmp_path / "plain", tmp_path / "mosaic"], source=source))
    plain, mosaics = page.data["images"]
    assert {len(records) for own in plain for records in own} == {1}
    assert {len(records) for own in mosaics for records in own} == {4}


def test_short_rows_of_many_classes_stand_in_columns(tmp_path):
    source = tiny_source(classes=21, each=8)
    few, many = (chosen(source, tmp_path / str(per_class), per_class) for per_class in (5, 6))
    assert gallery([few], None)["short"]
    assert not gallery([many], None)["short"]
    assert not gallery([few, few], None)["short"], "two sets stand side by side"
    assert 'class="gallery short named"' in write_report(tmp_path / "5", source=source).read_text()


def learned(source, folder, seed=0, distance="lqm", **settings):
    settings = {"steps": 2, "network": "convnet:width=4", "real_batch": 8, **settings}
    return lqm.condense(
        source,
        per_class=2,
        seed=seed,
        distance=distance,
        settings=settings,
        out=folder,
        show_progress=False,
    )


def test_inits_are_shown_bit_for_bit_and_each_once(tmp_path):
    source = tiny_source(channels=3)
    for distance in ("mean", "lqm"):
        learned(source, tmp_path / distance, distance=distance)
    learned(source, tmp_path / "noise", init="noise")
    folders = [tmp_path / name for name in ("mean", "lqm", "noise")]
    page = read_page(write_report(folders, source=source))
    inits = page.data["inits"]
    assert inits["of"][0] == inits["of"][1], "one seed, one init"
    assert len(inits["images"]) == 2 * 6
    for folder, of in zip(folders, inits["of"], strict=True):
        condensed = lqm.load(folder)
        expected = init_again(condensed, source)
        for label, own in enumerate(of):
            for place, image in zip(own, expected[condensed.labels == label], strict=True):
                assert decoded(inits["images"][place]).equal(bytes_of(image))
    assert "Show the init of each image" in page.words


def test_sets_whose_init_is_not_known_show_none(tmp_path):
    source = tiny_source()
    learned(source, tmp_path / "run")
    chosen(source, tmp_path / "chosen")
    both = read_page(write_report([tmp_path / "run", tmp_path / "chosen"], source=source)).data["inits"]
    assert both["of"][1] == [[None, None]] * 3
    for page in (
        read_page(write_report(tmp_path / "run")),
        read_page(write_report(tmp_path / "chosen", source=source)),
    ):
        assert page.data["inits"] is None
        assert "init" not in page.words.split("Settings")[0]

import numpy as np
import pytest
import torch
from PIL import Image, PngImagePlugin

from lqm.images.sources import load_source
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.limits import limited_to


def everything(source):
    """All images of a source, in no order: as sorted byte strings."""
    images = torch.cat([source.train.images, source.test.images])
    return sorted(bytes(image.numpy().tobytes()) for image in images)


def images_of(source, label):
    parts = (source.train, source.test)
    return torch.cat([part.of_class(label) for part in parts])


def test_class_folders_give_their_exact_pixels_and_names(class_folders):
    root, pixels = class_folders()
    source = load_source(root)
    assert source.name == "animals"
    assert source.class_names == ("cat", "dog")
    assert source.train.images.dtype == torch.uint8
    assert everything(source) == sorted(p.transpose(2, 0, 1).tobytes() for p in pixels.values())
    for label, name in enumerate(source.class_names):
        of_class = [p.transpose(2, 0, 1).tobytes() for path, p in pixels.items() if path.parent.name == name]
        assert sorted(image.numpy().tobytes() for image in images_of(source, label)) == sorted(of_class)


def test_a_fifth_of_each_class_is_held_out_and_always_the_same(class_folders):
    root, _ = class_folders()
    first, second = load_source(root), load_source(str(root))
    assert first.fingerprint == second.fingerprint
    assert torch.bincount(first.test.labels).tolist() == [1, 1]
    assert torch.bincount(load_source(root, test_fraction=0.6).test.labels).tolist() == [3, 3]
    assert torch.bincount(load_source(root, test_fraction=0.99).train.labels).tolist() == [1, 1]
    assert torch.bincount(load_source(root, test_fraction=0.01).test.labels).tolist() == [1, 1]


@pytest.mark.parametrize("name", ["test", "val", "valid", "validation"])
def test_a_published_split_is_kept(class_folders, tmp_path, name):
    class_folders(tmp_path / "set" / "train", count=3)
    _, pixels = class_folders(tmp_path / "set" / name, count=2)
    source = load_source(tmp_path / "set")
    expected = np.stack([pixel.transpose(2, 0, 1) for pixel in pixels.values()])
    np.testing.assert_array_equal(source.test.images, expected)
    assert source.test.labels.tolist() == [0, 0, 1, 1]
    with pytest.raises(ConfigError, match=r"'set'.*test_fraction"):
        load_source(tmp_path / "set", test_fraction=0.5)


def test_both_parts_need_the_same_classes(class_folders, tmp_path):
    class_folders(tmp_path / "set" / "train")
    class_folders(tmp_path / "set" / "test", names=("cat", "cow"))
    with pytest.raises(DataError, match=r"'cow'.*train.*test"):
        load_source(tmp_path / "set")


def test_training_folders_alone_ask_for_a_test_folder(class_folders, tmp_path):
    class_folders(tmp_path / "set" / "train")
    with pytest.raises(DataError, match=r"train/.*test/, val/.*/train "):
        load_source(tmp_path / "set")
    assert load_source(tmp_path / "set" / "train").class_names == ("cat", "dog")


def test_greyscale_alone_stays_greyscale_and_with_colour_becomes_colour(class_folders):
    root, pixels = class_folders(shape=(8, 8))
    grey = load_source(root)
    assert grey.shape == (1, 8, 8)
    assert everything(grey) == sorted(p.tobytes() for p in pixels.values())
    Image.new("RGB", (8, 8), "red").save(root / "dog" / "red.png")
    mixed = load_source(root)
    assert mixed.shape == (3, 8, 8)
    expected = [np.stack([p] * 3).tobytes() for p in pixels.values()]
    red = np.stack([np.full((8, 8), value, np.uint8) for value in (255, 0, 0)]).tobytes()
    assert everything(mixed) == sorted([*expected, red])


def one_more(root, image, name="more.png", **options):
    image.save(root / "cat" / name, **options)
    Image.new("RGB", image.size, (1, 2, 3)).save(root / "dog" / "plain.png")
    Image.new("RGB", image.size, (1, 2, 3)).save(root / "dog" / "plain2.png")
    Image.new("RGB", image.size, (1, 2, 3)).save(root / "cat" / "plain.png")
    source = load_source(root)
    images = images_of(source, 0)
    plain = torch.tensor([1, 2, 3], dtype=torch.uint8).view(3, 1, 1)
    return next(image for image in images if not (image == plain).all()).numpy()


@pytest.fixture
def root(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / "set" / name).mkdir(parents=True)
    return tmp_path / "set"


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (Image.new("RGBA", (8, 8), (200, 0, 0, 0)), (255, 255, 255)),
        (Image.new("RGBA", (8, 8), (200, 10, 0, 255)), (200, 10, 0)),
        (Image.new("RGBA", (8, 8), (0, 0, 0, 51)), (204, 204, 204)),
        (Image.new("LA", (8, 8), (0, 51)), (204, 204, 204)),
        (Image.new("1", (8, 8), 1), (255, 255, 255)),
        (Image.new("L", (8, 8), 77), (77, 77, 77)),
        (Image.new("RGB", (8, 8), (9, 8, 7)).quantize(4), (9, 8, 7)),
    ],
    ids=["transparent", "opaque", "a fifth black", "grey a fifth black", "1 bit", "grey", "palette"],
)
def test_every_mode_becomes_what_is_seen_on_white(root, image, expected):
    seen = one_more(root, image)
    assert {tuple(pixel) for pixel in seen.reshape(3, -1).T.tolist()} == {expected}


def test_a_transparent_palette_colour_shows_white(root):
    image = Image.new("P", (8, 8), 0)
    image.putpalette([10, 20, 30, 40, 50, 60])
    image.putpixel((0, 0), 1)
    seen = one_more(root, image, transparency=0)
    assert seen[:, 0, 0].tolist() == [40, 50, 60]
    assert seen[:, 1, 1].tolist() == [255, 255, 255]


def test_cmyk_becomes_the_rgb_that_pillow_shows(root):
    image = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    assert one_more(root, image, "more.tif")[:, 0, 0].tolist() == [255, 0, 0]


def test_images_are_turned_upright_as_exif_says(root, random):
    pixels = random.integers(0, 256, (8, 8, 3), dtype=np.uint8)
    exif = Image.Exif()
    exif[0x0112] = 6  # the right side is the top: turn clockwise
    seen = one_more(root, Image.fromarray(pixels), exif=exif)
    np.testing.assert_array_equal(seen.transpose(1, 2, 0), np.rot90(pixels, -1))


def test_of_many_frames_the_first_is_taken(root):
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    seen = one_more(root, frames[0], "more.gif", save_all=True, append_images=frames[1:])
    assert seen[:, 0, 0].tolist() == [255, 0, 0]


def test_size_scales_the_shorter_side_and_cuts_out_the_centre(root):
    wide = Image.new("RGB", (64, 16), "black")
    wide.paste("white", (16, 0, 48, 16))
    for number, name in enumerate(("cat", "dog")):
        wide.save(root / name / "a.png")
        wide.transpose(Image.Transpose.ROTATE_90).save(root / name / "b.png")
        for more in range(2):
            Image.new("RGB", (16, 16), (number, more, 0)).save(root / name / f"c{more}.png")
    source = load_source(root, size=8)
    assert source.shape == (3, 8, 8)
    bright = [image for image in torch.cat([source.train.images, source.test.images]) if image.max() > 1]
    assert len(bright) == 4
    assert all((image == 255).all() for image in bright)


def test_size_averages_over_the_pixels_that_it_joins(root, random):
    pixels = random.integers(0, 256, (64, 64), dtype=np.uint8)
    for name in ("cat", "dog"):
        Image.fromarray(pixels).save(root / name / "0.png")
        Image.fromarray(255 - pixels if name == "cat" else pixels.T).save(root / name / "1.png")
    source = load_source(root, size=8)
    blocks = torch.tensor(pixels).float().view(8, 8, 8, 8).mean(dim=(1, 3))
    images = torch.cat([source.train.images, source.test.images])[:, 0].float()
    condensed = min(images, key=lambda image: float((image - blocks).abs().sum()))
    assert (
        condensed - blocks
    ).abs().max() < 25  # random pixels differ by 74 on average; plain picking would show
    assert (condensed.mean() - blocks.mean()).abs() < 2


def test_large_jpegs_are_read_at_a_smaller_scale_with_the_same_result(root):
    x, y = np.meshgrid(np.linspace(0, 255, 640), np.linspace(0, 255, 480))
    image = Image.fromarray(np.stack([x, y, (x + y) / 2], axis=2).astype(np.uint8))
    for name in ("cat", "dog"):
        image.save(root / name / "0.jpg", quality=95)
        Image.new("RGB", image.size, "black" if name == "cat" else "blue").save(root / name / "1.jpg")
    source = load_source(root, size=16)
    images = torch.cat([source.train.images, source.test.images]).numpy().transpose(0, 2, 3, 1)
    condensed = next(image for image in images if image[..., 0].std() > 9)
    expected = image.crop((80, 0, 560, 480)).resize((16, 16), Image.Resampling.BOX)
    assert np.abs(condensed.astype(int) - np.asarray(expected)).max() <= 4


def test_files_that_are_no_images_are_left_out_by_name(class_folders, capsys):
    root, _ = class_folders()
    (root / "cat" / "notes.txt").write_text("hello")
    (root / "README").write_text("hello")
    (root / "cat" / ".DS_Store").write_text("hello")
    (root / ".hidden").mkdir()
    assert len(everything(load_source(root, show_progress=False))) == 10
    assert "README, cat/notes.txt\n" in capsys.readouterr().err


def test_hidden_files_are_not_worth_a_word(class_folders, capsys):
    root, _ = class_folders()
    (root / "cat" / ".DS_Store").write_text("hello")
    load_source(root, show_progress=False)
    assert capsys.readouterr().err == ""


def test_images_may_lie_deeper_in_their_class_folder(class_folders):
    root, _ = class_folders()
    (root / "cat" / "more").mkdir()
    (root / "cat" / "4.png").rename(root / "cat" / "more" / "4.PNG")
    assert len(images_of(load_source(root), 0)) == 5


def refused(path, sentence, **options):
    with pytest.raises(DataError, match=sentence) as caught:
        load_source(path, show_progress=False, **options)
    assert "\n" not in str(caught.value)


def test_images_without_a_class_folder_are_refused(tmp_path):
    (tmp_path / "flat").mkdir()
    refused(tmp_path / "flat", "flat .*no class folder; .*a folder of its own")
    Image.new("L", (8, 8)).save(tmp_path / "flat" / "a.png")
    refused(tmp_path / "flat", "flat .*no class folder; .*a folder of its own")


def test_a_folder_that_may_not_be_read_is_named(class_folders, monkeypatch):
    root, _ = class_folders()

    def forbidden(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("lqm.utils.files.os.open", forbidden)
    refused(root, r"0\.png .*Permission denied")


def test_an_empty_class_folder_is_named(class_folders):
    root, _ = class_folders()
    (root / "eel").mkdir()
    refused(root, "class folder .*/eel ")


def test_one_class_is_refused(class_folders):
    root, _ = class_folders(names=("cat",))
    refused(root, "one class folder, 'cat'; .*two")


def test_a_class_of_one_image_cant_be_split(class_folders):
    root, _ = class_folders()
    (root / "eel").mkdir()
    Image.new("RGB", (8, 8)).save(root / "eel" / "a.png")
    refused(root, r"'eel' of 'animals' .*\b1\b")


def test_a_damaged_image_is_named(class_folders):
    root, _ = class_folders()
    path = root / "dog" / "3.png"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused(root, r"3\.png .*\(.*\); remove or replace")
    path.write_bytes(b"not an image")
    refused(root, r"3\.png .*known format; remove or replace")
    path.write_bytes(b"")
    refused(root, r"3\.png .*known format")


def test_mixed_sizes_name_two_files_and_a_size_to_pass(class_folders):
    root, _ = class_folders()
    Image.new("RGB", (20, 12)).save(root / "dog" / "other.png")
    refused(root, r"0\.png .*8x8 .*other\.png .*20x12.*--size 8")
    assert load_source(root, size=8).shape == (3, 8, 8)


def test_oblong_images_ask_for_a_size(class_folders):
    root, _ = class_folders(shape=(12, 16))
    refused(root, r"0\.png .*16x12.*8x8.*--size 12")


def test_images_below_8_pixels_ask_for_a_size(class_folders):
    root, _ = class_folders(shape=(6, 6))
    refused(root, "6x6.*8x8.*--size 8")


@pytest.mark.parametrize("mode", ["I;16", "I", "F"])
def test_more_than_8_bits_are_refused(class_folders, mode):
    root, _ = class_folders()
    Image.new(mode, (8, 8)).save(root / "cat" / "deep.tif")
    refused(root, r"deep\.tif .*16 or 32 bits.* 8 bits")


def test_an_image_of_too_many_pixels_is_refused(class_folders):
    root, _ = class_folders()
    with limited_to("2KB"):
        refused(root, r"0\.png .*\bpixels.*limit of 42\b.*--max-memory")


def test_text_chunks_that_burst_are_refused(class_folders, monkeypatch):
    root, _ = class_folders()
    extra = PngImagePlugin.PngInfo()
    extra.add_text("a", "b" * 5000, zip=True)
    Image.new("RGB", (8, 8)).save(root / "cat" / "text.png", pnginfo=extra)
    monkeypatch.setattr(PngImagePlugin, "MAX_TEXT_CHUNK", 100)
    refused(root, r"text\.png .*\(.*\)")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"size": 4}, r"size .*\b4\b.*at least 8"),
        ({"size": 8.5}, r"size .*8\.5.*whole number"),
        ({"test_fraction": 1.0}, r"test_fraction .*\b1\.0\b.*above 0.*below 1"),
        ({"test_fraction": 0}, r"test_fraction .*\b0\b.*above 0"),
        ({"augmentation": ["flp"]}, "'flp'.*'flip'"),
    ],
)
def test_options_out_of_range_are_refused(class_folders, options, sentence):
    root, _ = class_folders()
    with pytest.raises(ConfigError, match=sentence):
        load_source(root, **options)

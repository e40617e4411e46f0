import json
from io import BytesIO

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image
from safetensors import safe_open
from safetensors.torch import load_file

from lqm.condensed import CondensedImages
from lqm.condensed.export import EXPORTS, export, safe_names
from lqm.utils.errors import ArtifactError, ConfigError

MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def small_set(channels=3, mosaic=1, names=("naïve", "two words"), size=8):
    draws = torch.Generator().manual_seed(0)
    manifest = {"preprocessing": {"mean": [0.5] * channels, "std": [0.25] * channels}}
    return CondensedImages(
        data=torch.rand(4, channels, size, size, generator=draws),
        labels=torch.tensor([1, 0, 1, 0]),
        class_names=names,
        manifest=manifest | ({"mosaic": mosaic} if mosaic > 1 else {}),
    )


def as_bytes(image):
    """[C, H, W] in [0, 1] to what Pillow gives."""
    pixels = np.round(image.double().numpy() * 255).astype(np.uint8).transpose(1, 2, 0)
    return pixels[..., 0] if pixels.shape[-1] == 1 else pixels


@pytest.mark.parametrize("mosaic", [1, 2])
@pytest.mark.parametrize("channels", MODES)
def test_a_folder_holds_every_record_as_a_png_of_its_class(tmp_path, channels, mosaic):
    condensed = small_set(channels, mosaic)
    assert export(condensed, "folder", tmp_path / "out") == tmp_path / "out"
    images, labels = condensed.records()
    for label, name in enumerate(condensed.class_names):
        own = images[labels == label]
        files = sorted((tmp_path / "out" / name).iterdir())
        assert len(files) == len(own) == 2 * mosaic**2
        for path, image in zip(files, own, strict=True):
            with Image.open(path) as stored:
                assert (stored.format, stored.mode) == ("PNG", MODES[channels])
                assert np.array_equal(np.asarray(stored), as_bytes(image))
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_folder_keeps_the_names_that_no_file_system_takes(tmp_path):
    names = ("a/b", "..")
    export(small_set(names=names), "folder", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "classes.json").read_text("utf-8")) == [
        {"label": 0, "name": "a/b", "folder": "a_b"},
        {"label": 1, "name": "..", "folder": "class"},
    ]
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"a_b", "class", "classes.json"}


def test_safe_names_are_safe_and_differ():
    names = ["../../etc", "a\\b", "", ".", "..", " ", "x", "X", "x-2", "é", "e\u0301", "classes.json", "\0"]
    names += ["long" * 100, "long" * 101, "\N{GRINNING FACE}" * 100]
    safe = safe_names(names)
    assert len({name.casefold() for name in safe}) == len(names)
    for name in safe:
        assert name
        assert not name.startswith(".")
        assert not set(name) & set('/\\:\0*?"<>|')
        assert len(name.encode()) < 255
        assert name != "classes.json"
    assert safe_names(["airplane", "two words", "naïve"]) == ["airplane", "two words", "naïve"]


def test_a_crash_leaves_no_half_folder(tmp_path, monkeypatch):
    save, written = Image.Image.save, []

    def save_two(*args, **options):
        written.append(1)
        if len(written) > 2:
            raise KeyboardInterrupt
        save(*args, **options)

    monkeypatch.setattr(Image.Image, "save", save_two)
    with pytest.raises(KeyboardInterrupt):
        export(small_set(), "folder", tmp_path / "out")
    assert len(written) == 3
    assert list(tmp_path.iterdir()) == []


def test_npz_is_read_by_numpy_without_pickle(tmp_path):
    condensed = small_set(3, mosaic=2)
    path = export(condensed, "npz", tmp_path / "out")
    assert path == tmp_path / "out.npz"
    images, labels = condensed.records()
    with np.load(path, allow_pickle=False) as arrays:
        assert set(arrays) == {"images", "labels", "class_names", "mean", "std"}
        assert arrays["images"].dtype == np.float32
        assert np.array_equal(arrays["images"], images.numpy())
        assert arrays["labels"].dtype == np.int64
        assert arrays["labels"].tolist() == labels.tolist()
        assert arrays["class_names"].tolist() == ["naïve", "two words"]
        normalised = (arrays["images"] - arrays["mean"][:, None, None]) / arrays["std"][:, None, None]
    np.testing.assert_allclose(normalised, condensed.dataset().tensors[0].numpy(), rtol=1e-6)


@pytest.mark.parametrize("mosaic", [1, 2])
@pytest.mark.parametrize("channels", MODES)
def test_parquet_is_laid_out_as_hugging_face_does(tmp_path, channels, mosaic):
    condensed = small_set(channels, mosaic)
    path = export(condensed, "parquet", tmp_path / "out")
    assert path == tmp_path / "out.parquet"
    table = pq.read_table(path)
    images, labels = condensed.records()
    assert str(table.schema.field("image").type) == "struct<bytes: binary, path: string>"
    assert str(table.schema.field("label").type) == "int64"
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["image"] == {"_type": "Image"}
    assert features["label"] == {"names": ["naïve", "two words"], "_type": "ClassLabel"}
    assert table["label"].to_pylist() == labels.tolist()
    for cell, image in zip(table["image"].to_pylist(), images, strict=True):
        with Image.open(BytesIO(cell["bytes"])) as stored:
            assert (stored.format, stored.mode) == ("PNG", MODES[channels])
            assert np.array_equal(np.asarray(stored), as_bytes(image))
    assert len({cell["path"] for cell in table["image"].to_pylist()}) == len(labels)


def test_torch_is_ready_to_train_on(tmp_path):
    condensed = small_set(3, mosaic=2)
    path = export(condensed, "torch", tmp_path / "out")
    assert path == tmp_path / "out.safetensors"
    tensors = load_file(path)
    images, labels = condensed.dataset().tensors
    assert tensors.keys() == {"images", "labels"}
    assert tensors["images"].equal(images)
    assert tensors["labels"].equal(labels)
    with safe_open(path, "pt") as file:
        metadata = {name: json.loads(value) for name, value in file.metadata().items()}
    assert metadata == {
        "class_names": ["naïve", "two words"],
        "preprocessing": condensed.manifest["preprocessing"],
    }


def test_png_shows_the_images_as_they_are_stored(tmp_path):
    path = export(small_set(1, mosaic=2), "png", tmp_path / "out")
    assert path == tmp_path / "out.png"
    with Image.open(path) as image:
        assert image.size == (108, 108)


@pytest.mark.parametrize("to", EXPORTS)
def test_what_is_there_is_never_overwritten(tmp_path, to):
    suffix = EXPORTS[to].suffix
    path = tmp_path / f"out{suffix}"
    path.write_text("mine")
    for given in (path, tmp_path / "out"):
        with pytest.raises(ArtifactError, match=f"{path} exists"):
            export(small_set(), to, given)
    assert path.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_folder_with_something_in_it_is_refused_and_an_empty_one_is_filled(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    with pytest.raises(ArtifactError, match=f"{tmp_path / 'full'} exists"):
        export(small_set(), "folder", tmp_path / "full")
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    export(small_set(), "folder", tmp_path / "empty")
    assert (tmp_path / "empty" / "classes.json").exists()


def test_the_suffix_is_added_where_it_is_missing(tmp_path):
    assert export(small_set(), "npz", tmp_path / "deep" / "set.npz") == tmp_path / "deep" / "set.npz"
    assert export(small_set(), "npz", tmp_path / "set.v1") == tmp_path / "set.v1.npz"
    assert (tmp_path / "deep" / "set.npz").is_file()


@pytest.mark.parametrize("to", EXPORTS)
def test_a_path_that_cant_be_is_one_sentence(tmp_path, to):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArtifactError, match=f"{tmp_path}.*written"):
        export(small_set(), to, tmp_path / "file" / "out")
    with pytest.raises(ConfigError, match=f"{tmp_path}.*longer"):
        export(small_set(), to, tmp_path / ("x" * 300))
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("to", ["folder", "parquet"])
def test_channels_that_png_has_not_are_refused_by_naming_npz(tmp_path, to):
    with pytest.raises(ArtifactError, match=r"\b5 channels\b.*PNG.*npz"):
        export(small_set(5), to, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    export(small_set(5), "npz", tmp_path / "out")


def test_an_unknown_export_names_the_known_ones(tmp_path):
    with pytest.raises(ConfigError, match=r"'parket'.*'parquet'"):
        export(small_set(), "parket", tmp_path / "out")

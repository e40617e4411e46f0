"""ZCA whitening against NumPy, in the artefact, and in exports."""

import json

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

import lqm
from lqm.condensed import CondensedImages
from lqm.condensed.export import export
from lqm.condensed.whitening import Whitening, require_whitenable
from lqm.utils.errors import ArtifactError, DataError
from lqm.utils.limits import limited_to
from tests.condensed.forging import MANIFEST, changed, forge, images


def some_images(count=300, channels=3, size=8):
    """Images whose neighbouring pixels are alike, as uint8."""
    draws = torch.Generator().manual_seed(0)
    coarse = torch.rand(count, channels, size // 2, size // 2, generator=draws)
    fine = torch.nn.functional.interpolate(coarse, scale_factor=2, mode="bilinear")
    noisy = fine + 0.1 * torch.rand(count, channels, size, size, generator=draws)
    return (noisy / noisy.max() * 255).to(torch.uint8)


def by_numpy(stored):
    """Mean, spectrum and whitened rows of images, in double precision."""
    rows = stored.numpy().reshape(len(stored), -1).astype(np.float64) / 255
    u, s, _ = np.linalg.svd(np.cov(rows.T))
    return rows.mean(axis=0), s, (rows - rows.mean(axis=0)) @ (u / np.sqrt(s + 0.1)) @ u.T


def whitened_set():
    whitening = Whitening.of(some_images(channels=1))
    return CondensedImages(
        data=some_images(4, channels=1) / 255.0,
        labels=torch.tensor([1, 0, 1, 0]),
        class_names=("a", "b"),
        manifest={"preprocessing": whitening.record, "per_class": 2},
        whitening=whitening,
    )


def test_it_whitens_as_numpy_does():
    stored = some_images()
    whitening = Whitening.of(stored)
    mean, spectrum, expected = by_numpy(stored)
    np.testing.assert_allclose(whitening.mean, mean, atol=1e-6)
    np.testing.assert_allclose(whitening.spectrum.flip(0), spectrum, atol=1e-6)
    found = whitening.apply(stored / 255.0)
    assert found.shape == stored.shape
    np.testing.assert_allclose(found.flatten(1), expected, atol=1e-5)


def test_what_is_whitened_has_the_spectrum_s_over_s_plus_a_tenth():
    stored = some_images()
    whitening = Whitening.of(stored)
    rows = whitening.apply(stored / 255.0).flatten(1).double().numpy()
    np.testing.assert_allclose(
        np.linalg.eigvalsh(np.cov(rows.T)), whitening.spectrum / (whitening.spectrum + 0.1), atol=1e-5
    )
    assert abs(rows.mean()) < 1e-6


def test_undo_gives_the_pixels_back_and_clip_makes_them_legal():
    stored = some_images() / 255.0
    whitening = Whitening.of(stored)
    # Any number of axes may come before those of an image.
    batch = whitening.apply(stored).view(3, 100, 3, 8, 8)
    assert (whitening.undo(batch).flatten(0, 1) - stored).abs().max() < 1e-4
    beyond = batch + torch.randn(batch.shape, generator=torch.Generator().manual_seed(1))
    assert whitening.undo(beyond).min() < -0.1
    expected = whitening.apply(whitening.undo(beyond).clamp(0, 1))
    torch.testing.assert_close(whitening.clip(beyond), expected)
    assert (whitening.undo(whitening.clip(beyond)) - whitening.undo(beyond).clamp(0, 1)).abs().max() < 1e-4


def test_what_is_too_large_is_refused_before_any_work():
    with pytest.raises(DataError, match=r"3 x 65 x 65.*12,288.*zca"):
        require_whitenable((3, 65, 65))
    with limited_to("1GB"), pytest.raises(DataError, match=r"zca.*3 x 64 x 64.* GiB"):
        require_whitenable((3, 64, 64))
    require_whitenable((3, 32, 32))


def test_a_set_keeps_its_whitening(tmp_path):
    made = whitened_set()
    made.save(tmp_path / "set")
    loaded = lqm.load(tmp_path / "set")
    assert loaded.manifest["format"] == 4
    assert loaded.preprocessing == {"kind": "zca", "sha256": made.whitening.digest}
    assert all(tensor.equal(made.tensors()[name]) for name, tensor in loaded.tensors().items())
    assert loaded.images.equal(made.images)
    (shown, labels), expected = loaded.dataset().tensors, made.whitening.apply(made.images)
    assert shown.equal(expected)
    assert labels.equal(made.labels)
    test_images = some_images(5, channels=1)
    assert loaded.normalised(test_images).equal(made.whitening.apply(test_images / 255.0))
    with pytest.raises(DataError, match=r"\[2, 1, 4, 4\].*\[N, 1, 8, 8\]"):
        loaded.normalised(torch.rand(2, 1, 4, 4))


def test_a_score_noted_later_leaves_the_format_as_it_is(tmp_path):
    saved = whitened_set().save(tmp_path / "set")
    saved.with_audit({"found": 1})
    assert json.loads((tmp_path / "set" / "manifest.json").read_text())["format"] == 4
    assert lqm.load(tmp_path / "set").manifest["audit"] == {"found": 1}


def test_a_set_can_not_be_made_without_the_whitening_that_its_manifest_speaks_of():
    made = whitened_set()
    with pytest.raises(ArtifactError, match="whitening"):
        CondensedImages(made.data, made.labels, made.class_names, made.manifest)


def spoiled(name, change):
    """The tensors of a set of which one part of the whitening is changed, or left out."""
    whitening = Whitening.of(some_images(channels=1))
    tensors = images() | whitening.tensors()
    if change is None:
        del tensors[f"whitening.{name}"]
    else:
        tensors[f"whitening.{name}"] = change(tensors[f"whitening.{name}"]).contiguous()
    return tensors, changed("preprocessing", whitening.record)


@pytest.mark.parametrize("name", ["mean", "basis", "spectrum"])
@pytest.mark.parametrize(
    "change",
    [
        None,
        lambda tensor: tensor.double(),
        lambda tensor: tensor[:-1],
        lambda tensor: tensor * torch.nan,
        lambda tensor: tensor / 0,
    ],
)
def test_a_damaged_whitening_is_refused(tmp_path, name, change):
    tensors, manifest = spoiled(name, change)
    forge(tmp_path / "set", manifest, tensors)
    with pytest.raises(ArtifactError, match=rf"whitening\.{name}"):
        lqm.load(tmp_path / "set")


def test_negative_eigenvalues_and_another_whitening_are_refused(tmp_path):
    tensors, manifest = spoiled("spectrum", lambda spectrum: spectrum - 1)
    forge(tmp_path / "negative", manifest, tensors)
    with pytest.raises(ArtifactError, match=r"whitening\.spectrum.*negative"):
        lqm.load(tmp_path / "negative")
    tensors, manifest = spoiled("mean", lambda mean: mean + 0.5)
    forge(tmp_path / "other", manifest, tensors)
    with pytest.raises(ArtifactError, match=r"whitening.*sha256"):
        lqm.load(tmp_path / "other")


@pytest.mark.parametrize("said", [{"kind": "zca"}, {"kind": "pca", "sha256": ""}, {"sha256": ""}, {}])
def test_a_preprocessing_that_is_not_whole_is_refused(tmp_path, said):
    tensors, _ = spoiled("mean", lambda mean: mean)
    forge(tmp_path / "set", changed("preprocessing", said), tensors)
    with pytest.raises(ArtifactError, match="preprocessing"):
        lqm.load(tmp_path / "set")


def test_a_whitening_that_the_manifest_does_not_speak_of_is_refused(tmp_path):
    tensors, _ = spoiled("mean", lambda mean: mean)
    forge(tmp_path / "set", MANIFEST, tensors)
    with pytest.raises(ArtifactError, match=r"whitening\."):
        lqm.load(tmp_path / "set")


def test_exports_of_pixels_are_pixels_and_torch_is_whitened(tmp_path):
    made = whitened_set()
    path = export(made, "torch", tmp_path / "out")
    tensors = load_file(path)
    assert tensors["images"].equal(made.whitening.apply(made.images))
    again = Whitening.of_tensors(tensors)
    test_images = some_images(5, channels=1) / 255.0
    assert again.apply(test_images).equal(made.whitening.apply(test_images))
    with safe_open(path, "pt") as file:
        assert json.loads(file.metadata()["preprocessing"])["kind"] == "zca"
    with np.load(export(made, "npz", tmp_path / "out")) as arrays:
        assert np.array_equal(arrays["images"], made.images.numpy())
        assert not {"mean", "std"} & {*arrays}
        assert np.array_equal(arrays["whitening.basis"], made.whitening.basis.numpy())
    for to in ("folder", "parquet", "png"):
        assert export(made, to, tmp_path / f"as-{to}").exists()

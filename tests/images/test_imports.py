"""Sets that other software made: the layouts in which they are saved, and what is wrong with some."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import lqm
from lqm.condensed.export import export
from lqm.utils.errors import ArtifactError, ConfigError, DataError

PER_CLASS = 2
LABELS = torch.arange(10).repeat_interleave(PER_CLASS)


@pytest.fixture(scope="module")
def images(digits):
    return torch.cat([own[:PER_CLASS] for own in digits.by_class])


def logits(labels=LABELS):
    return (
        torch.randn(len(labels), 10, generator=torch.Generator().manual_seed(0)) + 9 * torch.eye(10)[labels]
    )


def torch_layouts(images):
    return {
        "list": [images, LABELS],
        "tuple": (images, LABELS.int()),
        "images and labels": {"images": images, "labels": LABELS},
        "data and targets": {"data": images.double(), "targets": LABELS},
        "experiments": {"data": [[images, LABELS]], "accs_all_exps": {"ConvNet": [np.float64(0.5)]}},
        "list of pairs": [[images, LABELS]],
        "parameters": [torch.nn.Parameter(images), LABELS],
    }


@pytest.mark.parametrize("layout", torch_layouts(torch.zeros(1)))
def test_the_layouts_of_the_field_s_scripts_are_read(tmp_path, digits, images, layout):
    path = tmp_path / "res.pt"
    torch.save(torch_layouts(images)[layout], path)
    made = lqm.import_set(path, source=digits)
    assert torch.allclose(made.images, images)
    assert made.labels.equal(LABELS)
    assert made.manifest["method"] == "imported"
    assert (made.manifest["per_class"], made.manifest["settings"]["file"]) == (PER_CLASS, "res.pt")


def test_the_sha256_is_that_of_the_file(tmp_path, digits, images):
    import hashlib

    torch.save([images, LABELS], tmp_path / "a.pt")
    made = lqm.import_set(tmp_path / "a.pt", source=digits)
    assert made.manifest["settings"]["sha256"] == hashlib.sha256((tmp_path / "a.pt").read_bytes()).hexdigest()


def test_a_folder_of_images_labels_and_rate_is_read(tmp_path, digits, images):
    torch.save(digits.normalised(images), tmp_path / "images_best.pt")
    torch.save(digits.normalised(images.flip(0)), tmp_path / "images_5000.pt")
    torch.save(LABELS, tmp_path / "labels_best.pt")
    torch.save(torch.tensor(0.02), tmp_path / "lr_best.pt")
    for path in (tmp_path, tmp_path / "images_best.pt"):
        made = lqm.import_set(path, source=digits, normalised=True)
        assert torch.allclose(made.images, images, atol=1e-6)
        assert made.learning_rate == pytest.approx(0.02)
        assert made.manifest["evaluation"]["learned"]
    (tmp_path / "labels_best.pt").unlink()
    with pytest.raises(DataError, match=r"images without labels.*labels_best\.pt"):
        lqm.import_set(tmp_path, source=digits, normalised=True)
    (tmp_path / "images_best.pt").rename(tmp_path / "images_10.pt")
    with pytest.raises(ConfigError, match=r"images_10\.pt, images_5000\.pt; give the path of one"):
        lqm.import_set(tmp_path, source=digits, normalised=True)


def test_one_of_several_experiments_is_chosen(tmp_path, digits, images):
    path = tmp_path / "res_DM.pt"
    torch.save({"data": [[images, LABELS], [images.flip(3), LABELS]]}, path)
    with pytest.raises(ConfigError, match="holds 2 sets; choose one by --item, from 0 to 1"):
        lqm.import_set(path, source=digits)
    with pytest.raises(ConfigError, match=r"item = 2 .*sets 0 to 1"):
        lqm.import_set(path, source=digits, item=2)
    made = lqm.import_set(path, source=digits, item=1)
    assert made.images.equal(images.flip(3))
    assert made.manifest["settings"]["item"] == 1


@pytest.mark.parametrize(
    "stored",
    [
        lambda images: (images * 255).round().byte().numpy(),
        lambda images: (images * 255).round().numpy(),
        lambda images: images.permute(0, 2, 3, 1).numpy(),
        lambda images: images[:, 0].numpy(),
        lambda images: images.numpy().astype(">f8"),
    ],
)
def test_npz_of_any_scale_and_order_of_axes_is_read(tmp_path, digits, images, stored):
    np.savez(tmp_path / "a.npz", images=stored(images), labels=LABELS.numpy())
    made = lqm.import_set(tmp_path / "a.npz", source=digits)
    assert torch.allclose(made.images, images, atol=0.5 / 255)


def test_normalised_images_are_brought_back_and_cut_only_if_asked(digits, images, capsys):
    seen = digits.normalised(images)
    made = lqm.import_set((seen, LABELS), source=digits, normalised=True)
    assert torch.allclose(made.images, images, atol=1e-6)
    with pytest.raises(DataError, match=r"outside \[0, 1\], from -0\.\d+ to .*--normalised if .*--clip"):
        lqm.import_set((seen, LABELS), source=digits)
    with pytest.raises(DataError, match=r"outside \[0, 1\].*; give --clip to cut them, which"):
        lqm.import_set((2 * seen, LABELS), source=digits, normalised=True)
    cut = lqm.import_set((2 * seen, LABELS), source=digits, normalised=True, clip=True)
    assert cut.images.equal(digits.denormalised(2 * seen).clamp(0, 1))
    assert "are cut, which changes the set" in capsys.readouterr().err
    assert cut.manifest["settings"]["clip"] is True


def test_whitened_images_are_brought_back_and_are_whitened_again_when_used(digits, images):
    whitened = digits.whitened()
    made = lqm.import_set((whitened.normalised(images), LABELS), source=digits, normalised=True, zca=True)
    assert torch.allclose(made.images, images, atol=1e-4)
    assert made.preprocessing["kind"] == "zca"
    assert torch.allclose(made.dataset().tensors[0], whitened.normalised(images), atol=1e-3)


def test_soft_labels_are_shares_or_logits(digits, images):
    rows = logits()
    for given in (rows, rows.softmax(dim=1)):
        made = lqm.import_set((images, given), source=digits, labels="soft")
        assert made.labels.equal(LABELS)
        assert torch.allclose(made.soft_labels, rows.softmax(dim=1))
        assert made.learning_rate is None
    taught = lqm.import_set((images, rows), source=digits, labels="soft", rate=0.02)
    assert taught.manifest["training"] == {"learning_rate": 0.02, "soft_labels": True}


def test_a_set_with_soft_labels_and_no_rate_is_saved_loaded_and_exported(tmp_path, digits, images):
    made = lqm.import_set((images, logits()), source=digits, labels="soft", out=tmp_path / "set")
    again = lqm.load(tmp_path / "set")
    assert again.soft_labels.equal(made.soft_labels)
    folder = export(again, "folder", tmp_path / "folder")
    assert json.loads((folder / "learning.json").read_text())["learning_rate"] is None


@pytest.mark.parametrize("form", ["npz", "folder", "parquet"])
def test_our_own_exports_come_back(tmp_path, digits, images, form):
    """With labels, soft labels and rate; the names of the classes are in another order than the folders."""
    names = tuple(f"{9 - number} things" for number in range(10))
    source = replace(digits, class_names=names)
    soft = {} if form == "parquet" else {"labels": "soft", "rate": 0.5}
    made = lqm.import_set((images, logits() if soft else LABELS), source=source, **soft)
    path = export(made, form, tmp_path / "out")
    again = lqm.import_set(path, source=source)
    order, order_again = made.labels.argsort(stable=True), again.labels.argsort(stable=True)
    assert torch.allclose(again.images[order_again], images[order], atol=0.5 / 255)
    assert again.learning_rate == made.learning_rate
    if soft:
        assert torch.allclose(again.soft_labels[order_again], made.soft_labels[order])


def test_classes_in_another_order_get_the_source_s_numbers(tmp_path, digits, images):
    names = list(reversed(digits.class_names))
    np.savez(tmp_path / "a.npz", images=images, labels=9 - LABELS.numpy(), class_names=names)
    assert lqm.import_set(tmp_path / "a.npz", source=digits).labels.equal(LABELS)
    np.savez(tmp_path / "b.npz", images=images, labels=LABELS.numpy(), class_names=["cat", *names[1:]])
    with pytest.raises(DataError, match="has the classes cat, which 'digits' has not: its classes are 0, 1"):
        lqm.import_set(tmp_path / "b.npz", source=digits)


def test_counts_may_differ_and_it_is_said(digits, images, capsys):
    made = lqm.import_set((images[:-1], LABELS[:-1]), source=digits)
    assert made.manifest["per_class"] == PER_CLASS
    assert "classes have 1 to 2 images" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda x, y: (x[..., :7], y), r"shape \[20, 1, 8, 7\], and those of 'digits' are \[N, 1"),
        (lambda x, y: (x[:0], y[:0]), r"have shape \[0, "),
        (lambda x, y: (x, y[:-1]), r"shape \[19\]; it should be \[20\]"),
        (lambda x, y: (x, y + 1), "go up to 10; .*should be 0 to 9"),
        (lambda x, y: (x, y - 1), "label -1"),
        (lambda x, y: (x, y + 0.5), "not whole numbers"),
        (lambda x, y: (x, y.clamp(max=8)), "no image of 9; it should have one of each class"),
        (lambda x, y: (x * torch.nan, y), "hold NaN"),
        (lambda x, y: (x.to(torch.complex64), y), "complex64"),
        (lambda x, y: (x, logits()), "a row an image; give --labels soft"),
    ],
)
def test_what_does_not_fit_the_source_is_one_sentence(digits, images, change, said):
    with pytest.raises(DataError, match=said) as caught:
        lqm.import_set(change(images, LABELS), source=digits)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"labels": "soft"}, DataError, r"soft labels of data are int64 of shape \[20\].*\[20, 10\]"),
        ({"labels": "sofft"}, ConfigError, "did you mean 'soft'"),
        ({"rate": 0}, ConfigError, "rate = 0 .*greater than 0"),
        ({"mosaic": 65}, ConfigError, "mosaic = 65 .*equal to 64"),
        ({"mosaic": 50}, DataError, "can't be mosaics of 50"),
        ({"protocol": "quick-200", "rate": 0.1}, ConfigError, "rate of its own"),
        ({"protocol": "fast"}, ConfigError, "no protocol 'fast'"),
        ({"source": "digits-knn"}, ConfigError, "no source of images"),
    ],
)
def test_options_that_can_t_be_are_one_sentence(digits, images, options, error, said):
    with pytest.raises(error, match=said):
        lqm.import_set((images, LABELS), **{"source": digits, **options})


def test_files_that_hold_something_else_are_one_sentence(tmp_path, digits):
    torch.save({"model": torch.zeros(2)}, tmp_path / "model.pt")
    np.savez(tmp_path / "a.npz", weights=np.zeros(3))
    (tmp_path / "words.txt").write_text("hello")
    for name, said in {
        "model.pt": "a dictionary of model; it should hold a list",
        "a.npz": "holds weights; it should hold images, labels",
        "words.txt": r"can't be read as images; it should be a \.npz, a \.pt",
        "nowhere.pt": "there is no .*nowhere.pt",
    }.items():
        with pytest.raises(DataError, match=said):
            lqm.import_set(tmp_path / name, source=digits)


def test_a_folder_with_another_set_is_left_alone_and_the_same_import_is_repeated(tmp_path, digits, images):
    first = lqm.import_set((images, LABELS), source=digits, out=tmp_path / "set")
    assert lqm.import_set((images, LABELS), source=digits, out=tmp_path / "set").images.equal(first.images)
    with pytest.raises(ArtifactError, match="holds another set; choose another folder by --out"):
        lqm.import_set((images.flip(3), LABELS), source=digits, out=tmp_path / "set")

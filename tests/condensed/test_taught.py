"""Sets that are to be learned at a rate of their own, and by soft labels: nobody trains on them without."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from safetensors import safe_open

import lqm
from lqm.condensed import CondensedImages
from lqm.condensed.artefact import read_artefact, write_artefact
from lqm.condensed.export import export
from lqm.utils.errors import ArtifactError

RATE = 0.0123


def taught(*, soft=True, mosaic=1):
    draws = torch.Generator().manual_seed(0)
    manifest = {"preprocessing": {"mean": [0.5], "std": [0.25]}}
    images = torch.rand(6, 1, 8, 8, generator=draws)
    labels = torch.tensor([0, 0, 1, 1, 2, 2])
    shares = torch.randn(6, 3, generator=draws).softmax(dim=1) if soft else None
    made = CondensedImages(images, labels, ("a", "b/c", "d"), manifest | {"mosaic": mosaic})
    return made.taught_by(RATE, shares)


@pytest.mark.parametrize("soft", [True, False])
def test_rate_and_soft_labels_come_back_from_the_disk_in_format_4(tmp_path, soft):
    made = taught(soft=soft)
    made.save(tmp_path / "set")
    found = lqm.load(tmp_path / "set")
    assert found.learning_rate == RATE
    assert json.loads((tmp_path / "set" / "manifest.json").read_text())["format"] == 4
    assert found.labels.equal(made.labels)
    assert found.soft_labels.equal(made.soft_labels) if soft else found.soft_labels is None


def test_a_plain_set_stays_in_the_format_that_earlier_versions_read(tmp_path):
    plain = replace(taught(soft=False), manifest={"preprocessing": {"mean": [0.5], "std": [0.25]}})
    plain.save(tmp_path / "set")
    assert json.loads((tmp_path / "set" / "manifest.json").read_text())["format"] == 3
    assert lqm.load(tmp_path / "set").learning_rate is None


def test_a_dataset_has_the_soft_labels_of_each_record():
    _, targets = taught().dataset().tensors
    assert targets.equal(taught().soft_labels)
    _, targets = taught(mosaic=2).dataset().tensors
    assert targets.equal(taught().soft_labels.repeat_interleave(4, dim=0))
    loss = torch.nn.functional.cross_entropy(torch.zeros(6, 3), taught().dataset().tensors[1])
    assert loss.item() == pytest.approx(np.log(3))


def by_record():
    """Mosaics whose cells have soft labels of their own."""
    shares = torch.randn(24, 3, generator=torch.Generator().manual_seed(1)).softmax(dim=1)
    return taught(mosaic=2).taught_by(None, shares)


def test_the_cells_of_a_mosaic_may_have_soft_labels_of_their_own_and_no_rate(tmp_path):
    made = by_record()
    assert made.targets().equal(made.soft_labels)
    made.save(tmp_path / "set")
    found = lqm.load(tmp_path / "set")
    assert found.targets().equal(made.soft_labels)
    assert found.learning_rate is None
    export(found, "npz", tmp_path / "set.npz")
    assert np.array_equal(np.load(tmp_path / "set.npz")["soft_labels"], made.soft_labels.numpy())


def test_as_many_soft_labels_as_neither_images_nor_cells_are_refused(tmp_path):
    by_record().save(tmp_path / "set")
    tensors, manifest = read_artefact(tmp_path / "set")
    write_artefact(tmp_path / "set", tensors | {"soft_labels": tensors["soft_labels"][:12]}, manifest)
    with pytest.raises(ArtifactError, match=r"shape \[6 or 24, 3\]"):
        lqm.load(tmp_path / "set")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tensors: tensors.pop("soft_labels"), "soft_labels"),
        (lambda tensors: tensors.update(soft_labels=tensors["soft_labels"][:, :2]), r"shape \[6, 3\]"),
        (lambda tensors: tensors.update(soft_labels=tensors["soft_labels"] * 2), "sum is 1"),
        (lambda tensors: tensors.update(soft_labels=tensors["soft_labels"] * torch.nan), "sum is 1"),
    ],
)
def test_soft_labels_that_can_t_be_used_are_refused(tmp_path, change, said):
    taught().save(tmp_path / "set")
    tensors, manifest = read_artefact(tmp_path / "set")
    change(tensors)
    write_artefact(tmp_path / "set", tensors, manifest)
    with pytest.raises(ArtifactError, match=said):
        lqm.load(tmp_path / "set")


def test_soft_labels_without_a_word_in_the_manifest_are_refused(tmp_path):
    taught().save(tmp_path / "set")
    tensors, manifest = read_artefact(tmp_path / "set")
    del manifest["training"]
    write_artefact(tmp_path / "set", tensors, manifest)
    with pytest.raises(ArtifactError, match="soft_labels"):
        lqm.load(tmp_path / "set")


def test_exports_carry_both(tmp_path):
    made = taught()
    with np.load(export(made, "npz", tmp_path / "set")) as found:
        assert found["learning_rate"] == np.float32(RATE)
        assert (found["soft_labels"] == made.soft_labels.numpy()).all()
    table = pq.read_table(export(made, "parquet", tmp_path / "set"))
    assert torch.tensor(table["soft_label"].to_pylist()).equal(made.soft_labels)
    assert float(table.schema.metadata[b"learning_rate"]) == RATE
    with safe_open(export(made, "torch", tmp_path / "set"), "pt") as found:
        assert found.get_tensor("labels").equal(made.soft_labels)
        assert float(found.metadata()["learning_rate"]) == RATE
    folder = export(made, "folder", tmp_path / "images")
    beside = json.loads((folder / "learning.json").read_text())
    assert beside["learning_rate"] == RATE
    files = beside["soft_labels"]
    assert sorted(files) == sorted(str(path.relative_to(folder)) for path in folder.glob("*/*.png"))
    assert torch.tensor(files["b_c/00001.png"]).equal(made.soft_labels[3])


def test_a_plain_export_says_nothing_of_them(tmp_path):
    plain = replace(taught(soft=False), manifest={"preprocessing": {"mean": [0.5], "std": [0.25]}})
    assert not (export(plain, "folder", tmp_path / "images") / "learning.json").exists()
    with np.load(export(plain, "npz", tmp_path / "set")) as found:
        assert {"learning_rate", "soft_labels"}.isdisjoint(found.files)

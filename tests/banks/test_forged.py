"""Shards of a bank whose hash and place are right, and whose tensors no version writes."""

import shutil

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save

import lqm
from lqm.utils.errors import ArtifactError
from lqm.utils.files import short_hash

NETWORK = "convnet:width=8:depth=2"


def forge(folder, name, change):
    """Change a tensor, or leave it out, in every shard that has it."""
    for path in folder.glob("*-0*.safetensors"):
        with safe_open(path, "pt") as file:
            tensors, metadata = {key: file.get_tensor(key) for key in file.keys()}, file.metadata()  # noqa: SIM118
        if name in tensors:
            changed = change(tensors.pop(name))
            content = save(tensors | ({} if changed is None else {name: changed.contiguous()}), metadata)
            number, _, suffix = path.name.split(".")
            path.unlink()
            path.with_name(f"{number}.{short_hash(content)}.{suffix}").write_bytes(content)


@pytest.fixture(scope="module")
def sketched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sketched") / "sketch"
    options = {"max_per_class": 2, "real_batch": 20, "settings": {"network": NETWORK}}
    lqm.sketch("digits", out=folder, encoders=1, show_progress=False, **options)
    return folder


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "experts"
    lqm.experts(
        "digits", out=folder, networks=1, epochs=1, settings={"network": NETWORK}, show_progress=False
    )
    return folder


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("augmentation.numbers", lambda tensor: tensor * float("nan")),
        ("augmentation.numbers", lambda tensor: -1 - tensor),
        ("augmentation.numbers", lambda tensor: tensor[:3]),
        ("augmentation.operations", lambda tensor: tensor + 100),
        ("augmentation.operations", lambda tensor: tensor.double()),
        ("encoder.weights.classifier.bias", lambda tensor: tensor[:2]),
        ("encoder.weights.classifier.bias", lambda tensor: None),
        ("grid.0.3", lambda tensor: tensor * float("inf")),
        ("grid.0.3", lambda tensor: tensor[:0]),
        ("grid.0.3", lambda tensor: tensor.long()),
        ("grid.0.3", lambda tensor: None),
    ],
)
def test_a_forged_shard_of_a_sketch_is_named(sketched, tmp_path, name, change):
    folder = shutil.copytree(sketched, tmp_path / "sketch")
    forge(folder, name, change)
    with pytest.raises(ArtifactError, match=r"encoder-000000.*lqm sketch") as caught:
        lqm.condense("digits", per_class=1, sketch=folder, settings={"steps": 1}, show_progress=False)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", [lambda tensor: tensor[:2], lambda tensor: None])
def test_a_forged_snapshot_of_experts_is_named(trained, tmp_path, change):
    folder = shutil.copytree(trained, tmp_path / "experts")
    forge(folder, "weights.classifier.bias", change)
    with pytest.raises(ArtifactError, match=r"snapshot-000000"):
        lqm.condense(
            "digits",
            method="dance",
            network=NETWORK,
            per_class=1,
            experts=folder,
            settings={"steps": 1, "pairs": 1},
            show_progress=False,
        )
    with pytest.raises(ArtifactError, match="snapshot 1 of network 0"):
        lqm.experts(
            "digits", out=folder, networks=1, epochs=2, settings={"network": NETWORK}, show_progress=False
        )


def test_grids_of_another_width_than_their_encoders_features_are_named(sketched, tmp_path):
    folder = shutil.copytree(sketched, tmp_path / "sketch")
    for label in range(10):
        forge(folder, f"grid.0.{label}", lambda tensor: tensor[:, :3])
    with pytest.raises(ArtifactError, match=r"encoder-000000"):
        lqm.condense("digits", per_class=1, sketch=folder, settings={"steps": 1}, show_progress=False)


def test_shards_as_they_were_made_are_used(sketched):
    made = lqm.condense("digits", per_class=1, sketch=sketched, settings={"steps": 1}, show_progress=False)
    assert torch.isfinite(made.images).all()

"""Condensing from the sketch of a graph, against a plain loop over all real nodes."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import lqm
from lqm.banks import SKETCH, BankWriter, Shard, Sketch, encoder_of_step
from lqm.distances import DISTANCES
from lqm.graphs.encoders import fresh_encoder
from lqm.graphs.graph import dense
from lqm.graphs.methods import METHODS
from lqm.graphs.methods.cat import CaTSettings
from lqm.graphs.population import population
from lqm.graphs.problem import GraphProblem
from lqm.graphs.sketching import require_same_weights
from lqm.utils.errors import ArtifactError, ConfigError
from tests.banks.making import plain_loss

CPU = torch.device("cpu")
SEED, WIDTH, ENCODERS = 7, 16, 3
COUNTS = [2] * 10


def make_sketch(out, encoders=ENCODERS, **options):
    options = {"settings": {"width": WIDTH}, "max_per_class": 2, "seed": SEED, **options}
    return lqm.sketch("digits-knn", out=out, encoders=encoders, show_progress=False, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_sketch(tmp_path_factory.mktemp("graph") / "sketch").path


@pytest.fixture(scope="module")
def real():
    source = lqm.load_graph("digits-knn")
    return population(source.graph, source.by_class, source.class_names, 1)


def encoder(number):
    options = {"width": WIDTH, "depth": 1, "activation": "relu", "seed": SEED, "device": CPU}
    return fresh_encoder(64, step=number, **options)


def weights(number):
    return encoder(number).weights[0]


def embed(features, weight):
    hidden = torch.relu(features @ weight)
    return hidden / hidden.norm(dim=1, keepdim=True)


def load_shard(folder, number):
    (path,) = folder.glob(f"encoder-{number:06d}.*")
    return load_file(path)


@pytest.mark.parametrize("distance", ["lqm", "mean"])
def test_cat_from_a_sketch_is_the_plain_loop_over_all_real_nodes(real, folder, distance):
    problem = GraphProblem(
        class_names=real.class_names,
        counts=tuple(COUNTS),
        distance=DISTANCES[distance],
        seed=0,
        device=CPU,
        sketch=Sketch(folder),
        real=real,
    )
    ours = METHODS["cat"].build(problem, CaTSettings(width=WIDTH, learning_rate=0.01, lengths="free"))
    features = ours.synthetic.features.detach().clone().requires_grad_()
    adam = torch.optim.Adam([features], lr=0.01)
    for step in range(8):
        weight = weights(encoder_of_step(0, step, ENCODERS))
        loss = sum(
            plain_loss(distance, embed(dense(propagated), weight), embed(own, weight))
            for propagated, own in zip(real.propagated, features.split(COUNTS), strict=True)
        )
        adam.zero_grad()
        loss.backward()
        adam.step()
        assert 10 * ours.step(step)["loss"] == pytest.approx(loss.item(), rel=1e-3)
    # Adam moves a feature whose gradient is all but 0 by a whole step, up or down with the last bits.
    apart = (ours.synthetic.features - features).abs() > 1e-4
    assert apart.float().mean() < 0.01


def test_a_shard_has_means_grids_and_the_first_weights(real, folder):
    shard = load_shard(folder, 1)
    assert shard["weights"].equal(weights(1).flatten()[:64])
    for label, propagated in enumerate(real.propagated):
        found = embed(dense(propagated), weights(1)).double().numpy()
        np.testing.assert_allclose(shard[f"mean.0.{label}"], found.mean(axis=0), atol=1e-5)
        expected = np.quantile(found, (2 * np.arange(6) + 1) / 12, axis=0, method="hazen")
        np.testing.assert_allclose(shard[f"grid.0.{label}"], expected, atol=1e-5)


def test_more_encoders_leave_the_first_ones_untouched(tmp_path, folder):
    def files():
        return {path.name: path.stat().st_mtime_ns for path in (tmp_path / "s").glob("encoder-*")}

    make_sketch(tmp_path / "s", 1)
    first = files()
    assert make_sketch(tmp_path / "s").encoders == ENCODERS
    assert first.items() <= files().items()
    assert files().keys() == {path.name for path in folder.glob("encoder-*")}, "bit for bit as at once"


def test_an_encoder_that_is_drawn_otherwise_is_refused(tmp_path, folder):
    shard = load_shard(folder, 0)
    save_file(shard | {"weights": shard["weights"] + 1e-3}, tmp_path / "other.safetensors")
    (path,) = folder.glob("encoder-000000.*")
    require_same_weights(encoder(0), Shard(path, "make it again"))
    with pytest.raises(ArtifactError, match=r"encoders.*sketch"):
        require_same_weights(encoder(0), Shard(tmp_path / "other.safetensors", "make it again", check=False))


def test_a_sketch_of_an_earlier_version_gives_what_one_of_this_version_gives(tmp_path, folder):
    """Earlier sketches of graphs, with one readout, left its number out of the names of their tensors."""
    old = tmp_path / "old"
    config = json.loads((folder / "run.json").read_text())
    with BankWriter(old, SKETCH, config["config"]["sketched"], config["environment"]) as writer:
        for number in range(ENCODERS):
            tensors = load_shard(folder, number)
            writer.write((number,), {name.replace(".0.", "."): part for name, part in tensors.items()})
    options = {"budget": 10, "settings": {"steps": 3}, "show_progress": False}
    for distance in ("lqm", "mean"):
        found = [lqm.condense("digits-knn", sketch=s, distance=distance, **options) for s in (old, folder)]
        assert found[0].features.equal(found[1].features)


def test_a_sketch_of_a_graph_is_used_from_the_public_function(tmp_path, folder):
    options = {"sketch": folder, "settings": {"steps": 3}, "show_progress": False}
    condensed = lqm.condense("digits-knn", budget=10, out=tmp_path / "run", **options)
    assert condensed.manifest["sketch"] == Sketch(folder).identity
    assert condensed.manifest["settings"]["width"] == WIDTH
    with pytest.raises(ConfigError, match=rf"{folder} .*\b2\b"):
        lqm.condense("digits-knn", budget=100, **options)
    with pytest.raises(ConfigError, match=r"width\b.*\b16\b.*\b8\b"):
        lqm.condense("digits-knn", budget=10, **options | {"settings": {"width": 8}})
    for name in ("reuse", "window"):
        with pytest.raises(ConfigError, match=f"{name} .*leave it out"):
            lqm.condense("digits-knn", budget=10, **options | {"settings": {name: 2}})
    with pytest.raises(ConfigError, match=r"'cat'.*'puma'"):
        lqm.condense("digits-knn", budget=10, method="puma", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "random"}, "'random'.*cat, puma"),
        ({"settings": {"learning_rate": 0.1}}, "'learning_rate'.*'cat'"),
        ({"compile": "on"}, "compile.*'digits-knn'.*graph"),
    ],
)
def test_what_can_not_be_sketched_is_refused(tmp_path, options, message):
    with pytest.raises(ConfigError, match=message):
        make_sketch(tmp_path / "s", **options)

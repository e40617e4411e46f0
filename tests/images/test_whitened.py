"""Work on whitened images: sources, experts, a method with `zca`, and the evaluation of what it makes."""

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from pydantic.dataclasses import dataclass
from safetensors.torch import load_file

import lqm
from lqm.api.experts import experts
from lqm.api.report import write_report
from lqm.condensed.export import export
from lqm.condensed.whitening import Whitening
from lqm.engine.randomness import generator, seeded
from lqm.images.auditing import AUDITOR
from lqm.images.augment import augment, draw
from lqm.images.evaluation import IMAGES, EvaluationProtocol
from lqm.images.methods import METHODS
from lqm.images.methods.dm import DMSettings, build
from lqm.images.networks import make_network
from lqm.images.problem import ImageProblem
from lqm.images.synthetic import SyntheticImages
from lqm.methods.spec import MethodSpec
from lqm.utils.errors import ConfigError

NETWORK = "convnet:width=4:depth=2"
SETTINGS = {"steps": 3, "network": NETWORK, "real_batch": 16, "learning_rate": 5.0}


@dataclass(frozen=True, config={"extra": "forbid"})
class WhitenedDMSettings(DMSettings):
    zca: bool = True


@pytest.fixture
def zca_method(monkeypatch):
    """DM in whitened space, under a name of its own."""
    monkeypatch.setitem(METHODS, "dm-zca", MethodSpec(WhitenedDMSettings, build))


def condensed_by(digits, out=None, **settings):
    return lqm.condense(
        digits,
        method="dm-zca",
        per_class=2,
        settings={**SETTINGS, **settings},
        out=out,
        show_progress=False,
    )


def test_a_whitened_source_is_fitted_to_its_training_images_once(digits, monkeypatch):
    fits = []
    fit = Whitening.of.__func__
    monkeypatch.setattr(
        Whitening, "of", classmethod(lambda cls, images: fits.append(len(images)) or fit(cls, images))
    )
    plain = replace(digits)
    first, second = plain.whitened(), plain.whitened()
    assert not fits, "it takes long, so nothing is fitted before it is needed"
    assert first.normalised(digits.test.images).equal(second.normalised(digits.test.images))
    assert first.whitened() is first
    assert fits == [len(digits.train.labels)]
    assert first.identity == digits.identity
    assert digits.whitening is None


@pytest.mark.parametrize("whitened", [False, True])
def test_denormalised_undoes_normalised_and_clipped_brings_pixels_into_range(digits, whitened):
    source = digits.whitened() if whitened else digits
    shown = source.normalised(digits.train.images[:50])
    stored = digits.train.images[:50]
    pixels = stored if stored.is_floating_point() else stored / 255.0
    assert (source.denormalised(shown) - pixels).abs().max() < 1e-4
    beyond = source.denormalised(source.clipped(3 * shown))
    assert beyond.min() > -1e-4
    assert beyond.max() < 1 + 1e-4


def test_synthetic_images_are_projected_to_legal_pixels_in_whitened_space(digits):
    source = digits.whitened()
    problem = ImageProblem(
        class_names=digits.class_names, counts=(1,) * 10, seed=0, device=torch.device("cpu"), source=source
    )
    made = SyntheticImages(problem, DMSettings(learning_rate=50.0))
    before = source.denormalised(made.images.detach())
    made.images.square().sum().backward()
    (learned,) = made.learnables
    learned.update()
    after = source.denormalised(made.images.detach())
    assert (after - before).abs().max() > 0.1
    assert after.min() > -1e-4
    assert after.max() < 1 + 1e-4
    torch.testing.assert_close(made.result().images.view_as(after), after, atol=1e-4, rtol=0)
    with pytest.raises(ConfigError, match=r"mosaic = 2.*zca"):
        SyntheticImages(problem, DMSettings(), 2)


def test_experts_on_whitened_images_are_those_of_a_plain_loop(digits, tmp_path):
    settings = {"batch": 200, "learning_rate": 0.1, "momentum": 0.0, "weight_decay": 0.0, "zca": True}
    options = {"networks": 1, "epochs": 1, "network": NETWORK, "show_progress": False, "settings": settings}
    experts(digits, out=tmp_path, **options)
    (path,) = tmp_path.glob("snapshot-000000-000001.*")
    with seeded(0, "trajectory", 0):
        model = make_network(NETWORK, digits.shape, 10)
    shown = Whitening.of(digits.train.images).apply(digits.train.images)
    order = torch.randperm(len(shown), generator=generator(0, "trajectory batches", 1))
    for chosen in order.split(200):
        loss = F.cross_entropy(model(shown[chosen]), digits.train.labels[chosen])
        slopes = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for weight, slope in zip(model.parameters(), slopes, strict=True):
                weight -= 0.1 * slope
    found = load_file(path)
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(found[f"weights.{name}"], weight, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("zca", "wanted", "mentioned"),
    [
        (True, None, r"whitened images \(zca = true\).*'dance'.*lqm experts`$"),
        (True, False, r"whitened images \(zca = true\).*give zca = true"),
        (False, True, r"not whitened.*give zca = false"),
    ],
)
def test_experts_that_were_fed_otherwise_are_refused(digits, tmp_path, monkeypatch, zca, wanted, mentioned):
    @dataclass(frozen=True, config={"extra": "forbid"})
    class WhitenedSettings(METHODS["dance"].settings):
        zca: bool = False

    bank = tmp_path / "bank"
    options = {"networks": 1, "epochs": 1, "network": NETWORK, "show_progress": False}
    experts(digits, out=bank, **options, settings={"batch": 500, "zca": zca})
    settings = {"network": NETWORK, "pairs": 1, "steps": 1}
    if wanted is not None:
        monkeypatch.setitem(METHODS, "dance", replace(METHODS["dance"], settings=WhitenedSettings))
        settings["zca"] = wanted
    with pytest.raises(ConfigError, match=mentioned):
        lqm.condense(
            digits, method="dance", per_class=1, settings=settings, experts=bank, show_progress=False
        )


def test_zca_of_a_bank_is_recorded_and_told_from_others(digits, tmp_path):
    options = {"networks": 1, "epochs": 1, "network": NETWORK, "show_progress": False}
    experts(digits, out=tmp_path, **options, settings={"batch": 500, "zca": True})
    record = json.loads((tmp_path / "run.json").read_text())["config"]["experts"]
    assert record["settings"]["zca"] is True
    with pytest.raises(ConfigError, match="zca = True, not False"):
        experts(digits, out=tmp_path, **options, settings={"batch": 500})


def test_a_source_that_is_whitened_already_is_for_settings_that_say_so(digits, tmp_path):
    with pytest.raises(ConfigError, match="whitened"):
        lqm.condense(digits.whitened(), method="dm", per_class=1, settings=SETTINGS, show_progress=False)
    with pytest.raises(ConfigError, match="whitened"):
        experts(digits.whitened(), out=tmp_path, networks=1, epochs=1, network=NETWORK, show_progress=False)


def test_a_set_made_in_whitened_space_is_pixels_with_its_whitening(digits, tmp_path, zca_method):
    made = condensed_by(digits, tmp_path / "run")
    loaded = lqm.load(tmp_path / "run")
    assert (loaded.manifest["format"], loaded.manifest["settings"]["zca"]) == (4, True)
    assert loaded.whitening.digest == digits.whitened().whitening.digest
    assert 0 <= loaded.images.min() < loaded.images.max() <= 1
    assert made.images.equal(loaded.images)
    plain = condensed_by(digits, zca=False)
    assert plain.whitening is None
    assert not plain.images.equal(made.images)


def test_a_run_in_whitened_space_goes_on_bit_for_bit(digits, tmp_path, zca_method):
    straight = condensed_by(digits, tmp_path / "straight", steps=4)
    condensed_by(digits, tmp_path / "resumed", steps=2)
    resumed = condensed_by(digits, tmp_path / "resumed", steps=4)
    assert all(tensor.equal(straight.tensors()[name]) for name, tensor in resumed.tensors().items())


def test_the_example_in_numpy_whitens_what_it_learns_from(digits, tmp_path, zca_method):
    """It ends like the same training on what the set itself gives."""
    made = condensed_by(digits)
    export(made, "npz", tmp_path / "small.npz")
    np.savez(tmp_path / "test.npz", images=digits.test.images.numpy(), labels=digits.test.labels.numpy())
    script = Path(__file__).parents[2] / "examples" / "train_with_numpy.py"
    command = [sys.executable, script, tmp_path / "small.npz", tmp_path / "test.npz"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    inputs, test = (made.normalised(part).flatten(1) for part in (made.images, digits.test.images))
    weights = torch.zeros(inputs.shape[1] + 1, 10)
    rows, real = (F.pad(part, (0, 1), value=1.0) for part in (inputs, test))
    for _ in range(500):
        wrong = (rows @ weights).softmax(dim=1) - F.one_hot(made.labels, 10)
        weights -= 0.1 * (rows.T @ wrong / len(rows) + 1e-3 * weights)
    right = ((real @ weights).argmax(dim=1) == digits.test.labels).double().mean()
    assert f"right on {right:.1%}" in done.stdout


def by_hand(made, digits, protocol, index):
    """The accuracy of one network that is trained and tested on whitened images."""
    whiten = made.whitening.apply
    images, labels = whiten(made.images), made.labels
    with seeded(0, "evaluation network", index):
        network = make_network(protocol.network, digits.shape, 10)
    draws = generator(0, "evaluation batches", index)
    options = {"momentum": protocol.momentum, "weight_decay": protocol.weight_decay}
    optimizer = torch.optim.SGD(network.parameters(), protocol.learning_rate, **options)
    for epoch in range(protocol.epochs + 1):
        order = torch.randperm(len(labels), generator=draws)
        drawn = draw(digits.augmentation, draws, rows=len(order))
        optimizer.zero_grad()
        F.cross_entropy(network(augment(images[order], drawn)), labels[order]).backward()
        optimizer.step()
        if epoch == protocol.epochs // 2 + 1:
            optimizer = torch.optim.SGD(network.parameters(), protocol.learning_rate / 10, **options)
    named = network.eval()(whiten(digits.test.images)).argmax(dim=1)
    return (named == digits.test.labels).double().mean().item()


def test_its_evaluation_trains_and_tests_on_whitened_images(digits, tmp_path, zca_method):
    made = condensed_by(digits, tmp_path / "run")
    protocol = EvaluationProtocol("own", epochs=15, networks=2, network=NETWORK, learning_rate=0.05)
    made = replace(made, manifest=made.manifest | {"evaluation": asdict(protocol)})
    found = lqm.evaluate(made, source=digits, baselines=("random",), show_progress=False)
    for index, accuracy in enumerate(found.score.accuracies):
        assert accuracy == by_hand(made, digits, protocol, index)
    # Real images are whitened too: on other inputs their networks would be others.
    records = IMAGES.baseline("random", made, digits, protocol, 0, torch.device("cpu"))
    plain, whitened = (
        IMAGES.score(records, source, protocol, seed=0, device=torch.device("cpu")).accuracies
        for source in (digits, made.prepared(digits))
    )
    assert found.baselines["random"].accuracies == whitened != plain


def test_it_is_fed_by_its_own_whitening_and_not_by_that_of_the_source(digits, zca_method):
    made = condensed_by(digits)
    other = Whitening.of(digits.test.images)
    changed = replace(
        made,
        whitening=other,
        manifest=made.manifest | {"preprocessing": other.record},
    )
    source = changed.prepared(digits)
    assert source.normalised(digits.test.images).equal(other.apply(digits.test.images))
    assert source.preprocessing != made.prepared(digits).preprocessing
    assert made.prepared(digits).preprocessing == made.preprocessing


def test_an_audit_s_other_training_images_are_whitened_as_before(digits):
    source = digits.whitened()
    places = AUDITOR.labels(source)._replace(train=torch.arange(40), held_out=torch.arange(40))
    half = AUDITOR.made_of(source, places)
    assert half.normalised(digits.test.images).equal(source.normalised(digits.test.images))


def test_a_page_and_an_audit_of_such_a_set_are_made(digits, tmp_path, zca_method):
    protocol = EvaluationProtocol("own", epochs=2, networks=1, network=NETWORK)
    made = condensed_by("digits", tmp_path / "run")
    manifest = made.manifest | {"evaluation": asdict(protocol)}
    saved = replace(made, manifest=manifest).save(tmp_path / "set")
    assert write_report([tmp_path / "set"], out=tmp_path / "page.html").exists()
    lqm.audit(saved, shadows=4, canaries=0, steps=1, references=("random",), show_progress=False)
    assert lqm.load(tmp_path / "set").manifest["audit"]

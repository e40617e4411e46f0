"""Training in each way that images are kept and networks are run: the weights are the same."""

import pytest
import torch

from lqm.engine.compute import Compute
from lqm.engine.probes import compile_problem
from lqm.images import training
from lqm.images.networks import make_network
from lqm.images.sources import Images, ImageSource


def few(digits, stored=None):
    """16 training images."""
    images, labels = digits.train.images[:16], digits.train.labels[:16]
    return Images(images if stored is None else (images * 255).to(stored), labels)


def trained(digits, images, compute=None):
    torch.manual_seed(3)
    network = make_network("convnet:width=8:depth=1", (1, 8, 8), 10)
    options = {"epochs": 4, "learning_rate": 0.05, "momentum": 0.9, "weight_decay": 5e-4, "batch": 8}
    draws = torch.Generator().manual_seed(0)
    training.train(network, images, digits, draws=draws, compute=compute, **options)
    return network


def weights(network):
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


@pytest.mark.parametrize("stored", [None, torch.uint8])
def test_a_set_that_is_kept_normalised_trains_the_same_weights_as_one_that_is_not(
    digits, monkeypatch, stored
):
    normalised = []
    original = ImageSource.normalised
    monkeypatch.setattr(
        ImageSource,
        "normalised",
        lambda self, images: normalised.append(len(images)) or original(self, images),
    )
    images = few(digits, stored)
    resident = weights(trained(digits, images))
    assert normalised == [16], "once and for all"
    normalised.clear()
    monkeypatch.setattr(training, "_RESIDENT", images.images.numel() - 1)
    streamed = weights(trained(digits, images))
    assert normalised == [8] * 10, "batch after batch"
    for name, tensor in resident.items():
        assert tensor.equal(streamed[name]), name


def test_a_compiled_network_trains_to_the_same_weights_and_answers(digits):
    if problem := compile_problem():
        pytest.skip(f"torch can't compile here: {problem}")
    images = few(digits)
    eager, compiled = trained(digits, images), trained(digits, images, Compute(compile=True))
    other = weights(trained(digits, Images(images.images[:8], images.labels[:8])))
    for name, tensor in weights(eager).items():
        torch.testing.assert_close(weights(compiled)[name], tensor, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(other["classifier.weight"], weights(eager)["classifier.weight"], atol=1e-3)


def test_features_and_accuracy_are_those_of_the_network_however_many_images_go_at_once(digits, monkeypatch):
    network = trained(digits, few(digits))
    images = digits.test.images[:300]
    expected = network.eval().embed(digits.normalised(images)).detach()
    right = network(digits.normalised(digits.test.images)).argmax(dim=1) == digits.test.labels
    for at_once in (7, 10_000):
        monkeypatch.setattr(training, "_NORMALISED", at_once)
        found = training.latent_features(network, images, digits)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
        assert training.predict(network, digits).eq(digits.test.labels).equal(right)

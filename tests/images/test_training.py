"""Training in each way that images are kept and networks are run: the weights are the same."""

import copy
from dataclasses import replace

import pytest
import torch

from lqm.engine.compute import Compute
from lqm.engine.probes import compile_problem
from lqm.images import training
from lqm.images.augment import augment, cutmix, draw, draw_several
from lqm.images.networks import make_network
from lqm.images.sources import Images, ImageSource

OPTIONS = {"learning_rate": 0.05, "momentum": 0.9, "weight_decay": 5e-4}


def few(digits):
    """16 training images."""
    return Images(digits.train.images[:16], digits.train.labels[:16])


def trained(digits, images, compute=None):
    torch.manual_seed(3)
    network = make_network("convnet:width=8:depth=1", (1, 8, 8), 10)
    draws = torch.Generator().manual_seed(0)
    training.train(network, images, digits, epochs=4, batch=8, draws=draws, compute=compute, **OPTIONS)
    return network


def weights(network):
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def plainly_trained(network, images, source):
    """One epoch, in batches of 8 that are normalised one by one."""
    draws = torch.Generator().manual_seed(0)
    rate, momentum, decay = OPTIONS.values()
    optimizer = torch.optim.SGD(network.train().parameters(), rate, momentum=momentum, weight_decay=decay)
    for chosen in torch.randperm(len(images.labels), generator=draws).split(8):
        record = draw(source.augmentation, draws, rows=len(chosen))
        logits = network(augment(source.normalised(images.images[chosen]), record))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits, images.labels[chosen]).backward()
        optimizer.step()
    return network


# A small set is normalised once and for all; the last one is too large for that.
@pytest.mark.parametrize(
    ("stored", "count", "size", "normalised"),
    [(torch.float32, 16, 8, [16]), (torch.uint8, 16, 8, [16]), (torch.uint8, 17, 1024, [8, 8, 1])],
    ids=["small, floats", "small, bytes", "large, bytes"],
)
def test_a_set_trains_the_same_weights_however_it_is_kept(monkeypatch, stored, count, size, normalised):
    drawn = torch.randint(0, 256, (count, 1, size, size), generator=torch.Generator().manual_seed(1))
    images = drawn.byte() if stored == torch.uint8 else drawn / 255
    images = Images(images, torch.arange(count) % 2)
    source = ImageSource("drawn", images, images, ("a", "b"))
    torch.manual_seed(3)
    ours = make_network("convnet:width=2:depth=1", source.shape, 2)
    plain = plainly_trained(copy.deepcopy(ours), images, source)
    seen, original = [], ImageSource.normalised
    monkeypatch.setattr(
        ImageSource, "normalised", lambda self, images: seen.append(len(images)) or original(self, images)
    )
    training.train(ours, images, source, epochs=0, batch=8, draws=torch.Generator().manual_seed(0), **OPTIONS)
    assert seen == normalised
    for name, tensor in weights(plain).items():
        torch.testing.assert_close(weights(ours)[name], tensor, atol=1e-6, rtol=1e-5)


def test_a_compiled_network_trains_to_the_same_weights_and_answers(digits):
    if problem := compile_problem():
        pytest.skip(f"torch can't compile here: {problem}")
    images = few(digits)
    eager, compiled = trained(digits, images), trained(digits, images, Compute(compile=True))
    other = weights(trained(digits, Images(images.images[:8], images.labels[:8])))
    for name, tensor in weights(eager).items():
        torch.testing.assert_close(weights(compiled)[name], tensor, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(other["classifier.weight"], weights(eager)["classifier.weight"], atol=1e-3)


def test_features_and_classes_are_those_of_the_network_for_more_images_than_go_at_once(digits):
    network, images = trained(digits, few(digits)), digits.train.images
    everything = network.eval().embed(digits.normalised(images)).detach()
    for count in (7, 1442):
        found = training.latent_features(network, images[:count], digits)
        torch.testing.assert_close(found, everything[:count], atol=1e-5, rtol=1e-4)
    expected = network(digits.normalised(images)).argmax(dim=1)
    assert training.predict(network, replace(digits, test=digits.train)).equal(expected)


def test_the_way_of_idc_is_a_plain_loop_with_cutmix_and_two_falls_of_the_rate(digits):
    images, epochs = few(digits), 6
    torch.manual_seed(3)
    ours = make_network("convnet:width=4:depth=1", (1, 8, 8), 10)
    plain = copy.deepcopy(ours).train()
    way = {"schedule": "fifths", "several": True, "mixed": 0.5}
    draws = torch.Generator().manual_seed(0)
    training.train(ours, images, digits, epochs=epochs, batch=8, draws=draws, **way, **OPTIONS)
    draws, mixed = torch.Generator().manual_seed(0), []
    rate, momentum, decay = OPTIONS.values()
    optimizer = torch.optim.SGD(plain.parameters(), rate, momentum=momentum, weight_decay=decay)
    operations = [name for name in digits.augmentation if name != "cutout"]
    for epoch in range(epochs):
        optimizer.param_groups[0]["lr"] = rate * (1.0 if epoch < 4 else 0.2 if epoch < 5 else 0.04)
        for chosen in torch.randperm(16, generator=draws).split(8):
            drawn = draw_several(operations, draws, rows=8)
            shown = augment(digits.normalised(images.images[chosen]), *drawn)
            shown, wanted = cutmix(shown, images.labels[chosen], 10, 0.5, draws)
            mixed.append(wanted.is_floating_point())
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(plain(shown), wanted).backward()
            optimizer.step()
    assert {True, False} == {*mixed}
    for name, tensor in weights(plain).items():
        torch.testing.assert_close(ours.state_dict()[name], tensor)


def test_soft_labels_are_what_is_learned(digits):
    hard = few(digits)
    shares = torch.nn.functional.one_hot(hard.labels, 10).float()
    same, other = (replace(hard, soft_labels=soft) for soft in (shares, shares.roll(1, dims=1)))
    expected, found, wrong = (weights(trained(digits, images)) for images in (hard, same, other))
    for name, tensor in expected.items():
        torch.testing.assert_close(found[name], tensor)
    assert not all(torch.allclose(wrong[name], tensor) for name, tensor in expected.items())
    assert len({images.digest for images in (hard, same, other, replace(hard, learning_rate=0.1))}) == 4

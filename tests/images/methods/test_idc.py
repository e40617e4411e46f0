"""IDC against a plain loop over the definition, with the same draws."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from lqm.engine.randomness import generator, seeded
from lqm.images.augment import augment, draw_several
from lqm.images.experts import ExpertSettings, epoch
from lqm.images.methods.idc import IDCSettings, build
from lqm.images.networks import make_network
from tests.images.methods.test_gradients import SEED, class_gradient, make_problem

NETWORK = "convnet:width=6:depth=2"
OUTER, REAL, RATE, MOMENTUM, IMAGES, BATCH = 2, 12, 0.02, 0.5, 48, 16


def make_settings(**more):
    values = {"outer": OUTER, "real_batch": REAL, "learning_rate": RATE, "network": NETWORK}
    return IDCSettings(**values, train_images=IMAGES, train_batch=BATCH, **more)


def cells(mosaics):
    """The four quarters of each image, each stretched to the size of the whole."""
    half = mosaics.shape[-1] // 2
    parts = [mosaics[..., a : a + half, b : b + half] for a in (0, half) for b in (0, half)]
    stretched = [F.interpolate(part, scale_factor=2, mode="bilinear") for part in parts]
    return torch.stack(stretched, dim=1).flatten(0, 1)


def conv_distance(one, other, name):
    differences = [a - b for a, b in zip(one, other, strict=True) if a.ndim == 4]
    return sum((d.square() if name == "conv-squared" else d.abs()).sum() for d in differences)


class PlainLoop:
    """Every class in turn has an update, all images coast on their momentum, then the network learns."""

    def __init__(self, source, first, distance):
        self.source, self.distance = source, distance
        self.images, self.speed = first.detach().clone(), torch.zeros_like(first)
        self.low, self.high = (source.normalised(torch.full((1, 1), v)) for v in (0.0, 1.0))
        self.operations = [name for name in ("color", "crop", "cutout") if name in source.augmentation]

    def step(self, i):
        with seeded(SEED, "network", i):
            network = make_network(NETWORK, self.source.shape, 10)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
        for outer in range(OUTER):
            n = i * OUTER + outer
            draws = generator(SEED, "batch", n)
            losses = [self.update(network, label, *self.drawn(label, draws)) for label in range(10)]
            if outer < OUTER - 1:
                learning = ExpertSettings(NETWORK, BATCH, augmentation="color-crop", cutmix=0.5)
                batches = epoch(
                    make_problem(self.source), learning, generator(SEED, "inner training", n), IMAGES
                )
                for images, labels in batches:
                    optimizer.zero_grad()
                    F.cross_entropy(network(images), labels).backward()
                    optimizer.step()
        return sum(losses) / 10

    def drawn(self, label, draws):
        own = self.source.by_class[label]
        real = self.source.normalised(own[torch.randperm(len(own), generator=draws)[:REAL]])
        return real, draw_several(self.operations, draws)

    def update(self, network, label, real, drawn):
        leaf = self.images.clone().requires_grad_()
        synthetic = augment(cells(leaf[label]), *drawn)
        wanted = [part.detach() for part in class_gradient(network, augment(real, *drawn), label)]
        loss = conv_distance(wanted, class_gradient(network, synthetic, label, True), self.distance)
        (gradient,) = torch.autograd.grad(loss, leaf)
        self.speed = MOMENTUM * self.speed + gradient
        self.images = (self.images - RATE * self.speed).clamp(self.low, self.high)
        return loss.item()


@pytest.mark.parametrize("distance", ["conv-squared", "conv-absolute"])
def test_two_steps_are_those_of_the_plain_loop(digits, distance):
    ours = build(make_problem(digits), make_settings(gradient_distance=distance))
    plain = PlainLoop(digits, ours.synthetic.images, distance)
    before = plain.images.clone()
    for i in range(2):
        assert ours.step(i)["loss"] == pytest.approx(plain.step(i), rel=1e-3)
    torch.testing.assert_close(ours.synthetic.images.detach(), plain.images, atol=1e-4, rtol=1e-3)
    assert (plain.images - before).abs().mean() > 1e-3


def test_an_update_sees_as_many_cells_as_it_may(digits):
    problem = make_problem(digits, 3)
    some = build(problem, make_settings(synthetic_batch=5)).synthetic.batch([0, 4])
    assert list(some.sizes) == [5, 5]
    assert list(build(problem, make_settings()).synthetic.batch([0, 4]).sizes) == [12, 12]
    torch.manual_seed(0)
    one = build(problem, make_settings(synthetic_batch=5)).synthetic.batch([0]).inputs
    other = build(problem, make_settings(synthetic_batch=5)).synthetic.batch([0]).inputs
    assert not one.equal(other)

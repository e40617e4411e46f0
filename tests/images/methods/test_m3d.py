"""M3D against a plain loop over the definition, with the same draws."""

import torch

from lqm.condensed.mosaic import expand
from lqm.distances import DISTANCES
from lqm.engine.randomness import generator, seeded
from lqm.images.augment import augment, draw_several
from lqm.images.methods.m3d import M3D, M3DSettings
from lqm.images.networks import make_network
from lqm.images.problem import ImageProblem

SEED, PER_CLASS, REAL, RATE, KEPT = 3, 2, 12, 0.5, 2
NETWORK = "convnet:width=6:depth=2"


def make_problem(source):
    return ImageProblem(
        class_names=source.class_names,
        counts=(PER_CLASS,) * 10,
        distance=DISTANCES["kernel"],
        seed=SEED,
        device=torch.device("cpu"),
        source=source,
    )


def kernel_distance(real, synthetic):
    """Five kernels, each in the units of squared features, as the definition has it."""
    h = 2 * real.var(dim=0).sum()
    total = 0.0
    for m in (0.25, 0.5, 1.0, 2.0, 4.0):

        def mean(one, other, width=m * h):
            return torch.exp(-(one[:, None] - other[None]).square().sum(dim=2) / width).mean()

        whole = mean(real, real) - 2 * mean(real, synthetic) + mean(synthetic, synthetic)
        total = total + m * h / 2 * whole / 5
    return total


def test_three_steps_are_those_of_the_plain_loop(digits):
    settings = M3DSettings(network=NETWORK, real_batch=REAL, learning_rate=RATE, kept=KEPT)
    ours = M3D.build(make_problem(digits), settings)
    images = ours.synthetic.images.detach().clone()
    before, speed = images.clone(), torch.zeros_like(images)
    low, high = (digits.normalised(torch.full((1, 1), value)) for value in (0.0, 1.0))
    for i in range(3):
        with seeded(SEED, "network", i // KEPT):
            network = make_network(NETWORK, (1, 8, 8), 10).requires_grad_(False)
        draws = generator(SEED, "batch", i)
        for label in range(10):
            own = digits.by_class[label]
            real = digits.normalised(own[torch.randperm(len(own), generator=draws)[:REAL]])
            drawn = draw_several(["color", "crop", "cutout"], draws)
            leaf = images.clone().requires_grad_()
            synthetic = network.embed(augment(expand(leaf[label], 2), *drawn))
            loss = kernel_distance(network.embed(augment(real, *drawn)), synthetic)
            speed = 0.5 * speed + torch.autograd.grad(loss, leaf)[0]
            images = (images - RATE * speed).clamp(low, high)
        ours.step(i)
    torch.testing.assert_close(ours.synthetic.images.detach(), images, atol=2e-5, rtol=1e-5)
    assert (images - before).abs().mean() > 0.01


def test_an_update_sees_as_many_cells_as_it_may(digits):
    method = M3D.build(make_problem(digits), M3DSettings(network=NETWORK, real_batch=REAL, synthetic_batch=3))
    assert list(method.synthetic.batch([0]).sizes) == [3]
    method.step(0)

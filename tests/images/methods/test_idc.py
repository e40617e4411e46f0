"""IDC against a plain loop over the definition, with the same draws."""

import pytest
import torch

from benchmarks.ratios.plain_gradients import PlainIDC
from lqm.images.methods.idc import IDCSettings, build
from tests.images.methods.test_gradients import PER_CLASS, SEED, make_problem

NETWORK = "convnet:width=6:depth=2"
OUTER, REAL, RATE, IMAGES, BATCH = 2, 12, 0.02, 48, 16


def make_settings(**more):
    values = {"outer": OUTER, "real_batch": REAL, "learning_rate": RATE, "network": NETWORK}
    return IDCSettings(**values, train_images=IMAGES, train_batch=BATCH, **more)


@pytest.mark.parametrize("distance", ["conv-squared", "conv-absolute"])
def test_two_steps_are_those_of_the_plain_loop(digits, distance):
    settings = make_settings(gradient_distance=distance)
    ours = build(make_problem(digits), settings)
    plain = PlainIDC(digits, PER_CLASS, SEED, settings)
    before = plain.images.detach().clone()
    for i in range(2):
        assert ours.step(i)["loss"] == pytest.approx(plain.step(i), rel=1e-3)
    torch.testing.assert_close(ours.synthetic.images, plain.images, atol=1e-4, rtol=1e-3)
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

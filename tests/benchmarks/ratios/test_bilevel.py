"""Both ways of each work of the bi-level methods do the same: the loss and the images of a step."""

import pytest
import torch

from benchmarks.noise import noise
from benchmarks.ratios.bilevel_steps import SETTINGS, STEPS, ours, plain
from lqm.images.methods import METHODS

SMALL = {"network": "convnet:width=4:depth=2", "real_batch": 6}
SHORT = {"outer": 2, "inner": 1, "query_batch": 4, "train_images": 16, "train_batch": 8, "student_steps": 2}


@pytest.mark.parametrize("name", STEPS)
def test_both_ways_do_the_same(name):
    torch.manual_seed(0)
    source = noise(of_each=8, size=16)
    spec = METHODS[name]
    short = {key: value for key, value in SHORT.items() if hasattr(spec.settings(), key)}
    settings = spec.settings(**SETTINGS[name] | SMALL | short)
    one, other = ours(name, source, settings, 2, compiled=False), plain(name, source, settings, 2)
    before = other.images.detach().clone()
    assert before.equal(one.synthetic.images)
    assert one.step(0)["loss"] == pytest.approx(other.step(0), rel=1e-3)
    torch.testing.assert_close(one.synthetic.images, other.images, atol=1e-3, rtol=1e-3)
    assert not before.equal(other.images)

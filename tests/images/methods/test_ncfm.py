"""NCFM against the plain loop of DANCE, by its distance and AdamW; its sampler against layers of torch."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from lqm.distances import DISTANCES
from lqm.images.methods.ncfm import NCFM, NCFMSettings
from lqm.methods.named_distance import named_distance
from lqm.methods.sampler import Sampler
from lqm.utils.errors import ConfigError
from tests.images.methods.test_dance import NETWORK, NETWORKS, REAL, WEIGHT, PlainLoop, bank, make_problem

__all__ = ["bank"]
RATE, DECAY = 0.02, 0.1
USUAL = {"network": NETWORK, "real_batch": REAL, "learning_rate": RATE, "pairs": NETWORKS}


class PlainAdamW(PlainLoop):
    """The same loop, each of whose updates is one of AdamW."""

    def __init__(self, *given):
        super().__init__(*given)
        self.leaf = self.images.clone().requires_grad_()
        self.optimizer = torch.optim.AdamW([self.leaf], lr=RATE, weight_decay=DECAY)

    def update(self, loss_of):
        self.optimizer.zero_grad()
        loss_of(self.leaf).backward()
        self.optimizer.step()
        with torch.no_grad():
            self.leaf.clamp_(self.low, self.high)


def test_two_steps_are_those_of_the_plain_loop(digits, bank):
    settings = NCFMSettings(**USUAL, weight_decay=DECAY, class_weight=WEIGHT)
    ours = NCFM.build(make_problem(digits, bank, "ncfm"), settings)
    plain = PlainAdamW(digits, ours.synthetic.images, bank, "ncfm")
    for i in range(2):
        ours.step(i)
        plain.step(i)
    # AdamW's first updates are signs of gradients, whose last bits decide where they are all but 0.
    far = (ours.synthetic.images - plain.leaf).abs() > 1e-3
    assert far.float().mean() < 0.01
    assert (plain.leaf - plain.images).abs().mean() > 0.01


def test_a_sampler_is_three_layers_with_batch_norms(digits, bank):
    sampler = Sampler(6, 0.1, make_problem(digits, bank))
    layers = []
    for number, weights in enumerate(sampler.learnable.tensor.detach()):
        linear, norm = nn.Linear(6, 6), nn.BatchNorm1d(6)
        linear.weight.data, linear.bias.data = weights[:6], weights[6]
        norm.weight.data, norm.bias.data = weights[7], weights[8]
        layers += [linear, norm, nn.Tanh() if number == 2 else nn.LeakyReLU(0.2)]
    noise = torch.randn(6, 50)
    torch.testing.assert_close(sampler.frequencies(noise), nn.Sequential(*layers)(noise.T).T)


def test_a_sampler_ascends_where_the_images_descend(digits, bank):
    method = NCFM.build(
        make_problem(digits, bank, "ncfm"),
        NCFMSettings(**USUAL, sampler="learned", sampler_rate=1e-3, class_weight=0),
    )
    images, sampler = method.synthetic.learnables
    before = sampler.tensor.detach().clone()
    target = method.passes[0].targets.at(0, 0)
    loss = (
        method.passes[0]
        .objective.loss(
            target.encoder, target.groups[0].target, method.synthetic.batch([0], target.groups[0].transforms)
        )
        .sum()
    )
    by_images, by_sampler = torch.autograd.grad(loss, [images.tensor, sampler.tensor])
    first = images.tensor.detach().clone()
    images.tensor.grad, sampler.tensor.grad = by_images, by_sampler
    method.synthetic.update()
    assert ((sampler.tensor.detach() - before) * by_sampler).sum() > 0
    assert ((images.tensor.detach() - first) * by_images).sum() < 0


@pytest.mark.parametrize("given", [{}, {"sampler": "learned"}, {"optimizer": "sgd"}])
def test_a_state_that_was_loaded_goes_on_to_the_same_bits(digits, bank, given):
    whole, resumed = (
        NCFM.build(make_problem(digits, bank, "ncfm"), NCFMSettings(**USUAL, **given)) for _ in range(2)
    )
    whole.step(0)
    resumed.load_state({name: part.clone() for name, part in whole.state().items()})
    assert ("sampler" in whole.state()) == ("sampler" in given)
    for method in (whole, resumed):
        method.step(1)
    for one, other in zip(whole.synthetic.leaves, resumed.synthetic.leaves, strict=True):
        assert one.equal(other)


def test_frequencies_are_learned_for_the_distance_that_has_them(digits, bank):
    problem = make_problem(digits, bank, "ncfm")
    with pytest.raises(ConfigError, match=r"'lqm' has not; give sampler = normal"):
        NCFM.build(replace(problem, distance=DISTANCES["lqm"]), NCFMSettings(**USUAL, sampler="learned"))
    NCFM.build(replace(problem, distance=DISTANCES["lqm"]), NCFMSettings(**USUAL)).step(0)
    with pytest.raises(ConfigError, match="at least 2 frequencies"):
        NCFM.build(
            replace(problem, distance=named_distance("ncfm:frequencies=1")),
            NCFMSettings(**USUAL, sampler="learned"),
        )

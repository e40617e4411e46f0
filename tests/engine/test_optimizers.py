"""What a checkpoint says of an optimiser is that of its parameter, or refused."""

import pytest
import torch

from lqm.engine.optimizers import load_moments, save_moments

KEY = "adam.{moment}"


def stepped(optimizer=torch.optim.Adam):
    parameter = torch.ones(3, 2, requires_grad=True)
    own = optimizer([parameter], lr=0.1)
    parameter.square().sum().backward()
    own.step()
    return own, {"": parameter}


@pytest.mark.parametrize(
    "change",
    [
        {"adam.exp_avg": None},
        {"adam.step": None},
        {"adam.step": torch.tensor(-3.0)},
        {"adam.step": torch.tensor([1.0, 2.0])},
        {"adam.step": torch.tensor(1)},
        {"adam.exp_avg": torch.zeros(3, 2).double()},
        {"adam.exp_avg": torch.tensor(1.0)},
        {"adam.exp_avg_sq": torch.zeros(3, 2).bool()},
        {"adam.exp_avg_sq": torch.full((3, 2), -1.0)},
    ],
)
def test_moments_that_no_optimiser_has_are_refused(change):
    optimizer, parameters = stepped()
    state = {n: t for n, t in (save_moments(optimizer, parameters, KEY) | change).items() if t is not None}
    with pytest.raises(ValueError, match=r"exp_avg|step"):
        load_moments(optimizer, parameters, KEY, state)


@pytest.mark.parametrize("kind", [torch.optim.Adam, lambda p, lr: torch.optim.SGD(p, lr, momentum=0.9)])
def test_moments_that_were_saved_are_loaded(kind):
    optimizer, parameters = stepped(kind)
    state = {name: tensor.clone() for name, tensor in save_moments(optimizer, parameters, KEY).items()}
    load_moments(optimizer, parameters, KEY, state)
    again = save_moments(optimizer, parameters, KEY)
    assert state.keys() == again.keys()
    assert all(state[name].equal(again[name]) for name in state)

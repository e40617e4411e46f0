"""A tensor that is learned, and the moments of its optimiser, against torch's own state."""

from copy import deepcopy

import pytest
import torch

from lqm.engine.optimizers import load_moments, save_moments
from lqm.methods.synthetic import Learnable

CPU = torch.device("cpu")
OPTIMIZERS = {
    "sgd": lambda tensors: torch.optim.SGD(tensors, lr=0.1),
    "momentum": lambda tensors: torch.optim.SGD(tensors, lr=0.1, momentum=0.5),
    "adam": lambda tensors: torch.optim.Adam(tensors, lr=0.1),
}


def parameters():
    draws = torch.Generator().manual_seed(0)
    return {name: torch.rand(3, 2, generator=draws).requires_grad_() for name in ("one", "two")}


def descend(optimizer, tensors, first, end):
    for i in range(first, end):
        optimizer.zero_grad()
        sum((tensor - i).square().sum() for tensor in tensors).backward()
        optimizer.step()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_saved_moments_are_all_that_torchs_state_dict_holds(name):
    own = parameters()
    optimizer = OPTIMIZERS[name](list(own.values()))
    assert save_moments(optimizer, own, "{name}.{moment}") == {}, "there are none before the first step"
    descend(optimizer, own.values(), 0, 3)
    saved = save_moments(optimizer, own, "{name}.{moment}")
    expected = {
        f"{tensor}.{moment}": value
        for place, tensor in enumerate(own)
        for moment, value in optimizer.state_dict()["state"].get(place, {}).items()
        if value is not None
    }
    assert saved.keys() == expected.keys()
    assert all(saved[key].equal(expected[key]) for key in saved)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimiser_with_loaded_moments_goes_on_like_one_with_torchs_state_dict(name):
    first = parameters()
    optimizer = OPTIMIZERS[name](list(first.values()))
    descend(optimizer, first.values(), 0, 3)
    ends = []
    for ours in (True, False):
        own = {key: tensor.detach().clone().requires_grad_() for key, tensor in first.items()}
        resumed = OPTIMIZERS[name](list(own.values()))
        # What it has kept of other steps must not survive.
        resumed.state[own["one"]]["momentum_buffer"] = torch.full((3, 2), 9.0)
        if ours:
            load_moments(
                resumed, own, "m.{name}.{moment}", save_moments(optimizer, first, "m.{name}.{moment}")
            )
        else:
            resumed.load_state_dict(deepcopy(optimizer.state_dict()))
        descend(resumed, own.values(), 3, 6)
        ends.append(own)
    descend(optimizer, first.values(), 3, 6)
    for key in first:
        assert ends[0][key].equal(ends[1][key])
        assert ends[0][key].equal(first[key])


def learnable(name="momentum", **options):
    made = []

    def init():
        made.append(1)
        return torch.linspace(0, 1, 6).view(3, 2)

    moments = "adam.{moment}" if name == "adam" else "momentum"
    own = Learnable("x", init, lambda x: OPTIMIZERS[name]([x]), CPU, moments=moments, **options)
    return own, made


def update(own, first, end):
    for i in range(first, end):
        own.begin_step(i)
        (own.tensor - i).square().sum().backward()
        own.update()


@pytest.mark.parametrize("restarts", [False, True])
def test_each_step_has_its_rate_also_after_a_resume(restarts):
    rates = [0.4, 0.2, 0.2, 0.1]
    own, _ = learnable(restarts=restarts, rate=lambda step: rates[step])
    expected, speed = own.tensor.detach().clone(), 0.0
    for i, rate in enumerate(rates):
        if i == 2:
            state = {key: part.clone() for key, part in own.state().items()}
            own, _ = learnable(restarts=restarts, rate=lambda step: rates[step])
            own.load_state(state)
        update(own, i, i + 1)
        speed = (0.0 if restarts else 0.5 * speed) + 2 * (expected - i)
        expected = expected - rate * speed
    torch.testing.assert_close(own.tensor.detach(), expected)


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_learnable_moves_as_torch_moves_it_and_goes_on_bit_for_bit(name, restarts):
    own, _ = learnable(name, restarts=restarts)
    update(own, 0, 3)
    state = {key: part.clone() for key, part in own.state().items()}
    resumed, made = learnable(name, restarts=restarts)
    resumed.load_state(state)
    for each in (own, resumed):
        update(each, 3, 6)
    assert not made, "what is resumed does not choose its init again"
    expected = torch.linspace(0, 1, 6).view(3, 2).requires_grad_()
    optimizer = OPTIMIZERS[name]([expected])
    for i in range(6):
        optimizer = OPTIMIZERS[name]([expected]) if restarts else optimizer
        descend(optimizer, [expected], i, i + 1)
    assert own.tensor.equal(expected)
    assert resumed.tensor.equal(expected)


def test_the_state_holds_moments_only_of_an_optimiser_that_does_not_restart():
    for restarts, keys in ((False, {"x", "adam.step", "adam.exp_avg", "adam.exp_avg_sq"}), (True, {"x"})):
        own, _ = learnable("adam", restarts=restarts)
        update(own, 0, 2)
        assert own.state().keys() == keys


def test_the_projection_follows_each_update_and_the_init_is_made_once_when_it_is_needed():
    own, made = learnable(project=lambda x: x.clamp_(0, 1))
    assert not made
    for i in range(1, 4):
        update(own, 10 * i, 10 * i + 1)
        assert own.tensor.min() >= 0
        assert own.tensor.max() <= 1
    assert len(made) == 1


def test_what_is_loaded_is_a_copy():
    own, _ = learnable()
    state = {key: part.clone() for key, part in own.state().items()}
    own.load_state(state)
    update(own, 5, 6)
    assert state["x"].equal(torch.linspace(0, 1, 6).view(3, 2))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_state_without_moments_leaves_an_optimiser_as_if_it_were_fresh(name):
    used, fresh = ({"one": torch.ones(3, requires_grad=True)} for _ in range(2))
    optimizer = OPTIMIZERS[name](list(used.values()))
    used["one"].grad = torch.ones(3)
    optimizer.step()
    load_moments(optimizer, used, "m.{name}.{moment}", {})
    with torch.no_grad():
        used["one"].copy_(fresh["one"])
    for parameters, mover in ((used, optimizer), (fresh, OPTIMIZERS[name](list(fresh.values())))):
        parameters["one"].grad = torch.full((3,), 2.0)
        mover.step()
    assert used["one"].equal(fresh["one"])

"""The order of a step: rounds, passes, groups of classes and updates; and what is said when it diverges."""

import pytest
import torch

from lqm.methods.batch import Batch
from lqm.methods.condensation import Condensation, Pass
from lqm.methods.encoders import Encoders
from lqm.methods.problem import Problem
from lqm.methods.synthetic import Learnable, Synthetic
from lqm.methods.targets import GroupTarget, Target
from lqm.utils.errors import DivergedError

CPU = torch.device("cpu")
NAMES = ("cat", "dog", "owl", "fox")
RATE = 0.1


class Points(Synthetic):
    """One number a class; writes down what happens to it."""

    def __init__(self, events, momentum=0.0, start=(1.0, 2.0, 3.0, 4.0)):
        sgd = lambda x: torch.optim.SGD([x], lr=RATE, momentum=momentum)  # noqa: E731
        self.points = Learnable("points", lambda: torch.tensor(start), sgd, CPU, moments="momentum")
        self.learnables, self.counts, self._events = [self.points], [1] * 4, events

    def batch(self, classes, transforms=()):
        return Batch(self.points.tensor[list(classes)], classes, [1] * len(classes))

    def update(self):
        self._events.append("update")
        super().update()

    def result(self):
        return self.points.tensor.detach().clone()


class Plain(Encoders):
    def __init__(self, events, end=None):
        self._events, self._end, self.count = events, end, torch.tensor(0)
        self.metrics = {"looks": 1.0}

    def after(self, n, synthetic):
        self._events.append(("after", n))
        self.count = self.count + 1

    def finished(self, n):
        return n == self._end

    def state(self):
        return {"count": self.count}

    def load_state(self, state):
        self.count = state["count"]


class Towards:
    """The squared distance to a target, times a factor."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def loss(self, encoder, target, synthetic):
        return self.factor * (synthetic.inputs - target).square()


class Fixed:
    """The same target for every update; writes down for which it was asked."""

    def __init__(self, encoder, groups, goal, events, name):
        self.target = Target(encoder, [GroupTarget(classes, (), goal) for classes in groups])
        self._events, self._name, self.forgotten = events, name, 0

    def at(self, step, round_):
        self._events.append((self._name, step, round_))
        return self.target

    def forget(self):
        self.forgotten += 1


def condensation(
    groups, passes=(("loss", 1.0, 0.0),), momentum=0.0, start=(1.0, 2.0, 3.0, 4.0), end=None, **options
):
    """Passes are (name, factor, goal); `end` is the update with which encoders end a step."""
    events = []
    problem = Problem(class_names=NAMES, counts=(1,) * 4, seed=0, device=CPU)
    encoders = Plain(events, end)
    parts = [
        Pass(Towards(factor), Fixed(encoders, groups, goal, events, name), name)
        for name, factor, goal in passes
    ]
    made = Condensation(problem, Points(events, momentum, start), encoders, parts, **options)
    return made, events


WHOLE, PAIRS = [range(4)], [[0, 1], [2, 3]]


def test_one_update_for_the_sum_over_all_classes_whatever_the_groups():
    found = []
    for groups in (WHOLE, PAIRS):
        method, events = condensation(groups, momentum=0.5)
        for i in range(3):
            method.step(i)
        assert events.count("update") == 3
        found.append(method.result())
    by_hand = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    optimizer = torch.optim.SGD([by_hand], lr=RATE, momentum=0.5)
    for _ in range(3):
        optimizer.zero_grad()
        by_hand.square().sum().backward()
        optimizer.step()
    for each in found:
        torch.testing.assert_close(each, by_hand.detach())


def test_per_class_updates_after_each_group_and_momentum_moves_the_others_on():
    method, events = condensation([[c] for c in range(4)], momentum=0.5, per_class=True)
    method.step(0)
    method.step(1)
    assert events.count("update") == 8
    by_hand = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    optimizer = torch.optim.SGD([by_hand], lr=RATE, momentum=0.5)
    for label in [0, 1, 2, 3] * 2:
        optimizer.zero_grad()
        by_hand[label].square().backward()
        optimizer.step()
    torch.testing.assert_close(method.result(), by_hand.detach())


def test_rounds_are_updates_of_a_step_with_an_encoder_that_is_told_after_each():
    method, events = condensation(WHOLE, rounds=3)
    method.step(2)
    assert events == [event for r in range(3) for event in (("loss", 2, r), "update", ("after", 6 + r))]
    torch.testing.assert_close(method.result(), torch.tensor([1.0, 2.0, 3.0, 4.0]) * (1 - 2 * RATE) ** 3)


def test_encoders_may_end_a_step_before_all_of_its_rounds():
    method, events = condensation(WHOLE, rounds=5, end=12)
    method.step(2)
    assert events == [event for r in range(3) for event in (("loss", 2, r), "update", ("after", 10 + r))]
    method.step(3)
    assert events.count("update") == 3 + 5


def test_passes_follow_one_another_and_each_is_logged_under_its_name():
    method, events = condensation(WHOLE, (("loss", 1.0, 0.0), ("calibration", 2.0, 1.0)))
    metrics = method.step(0)
    assert events == [("loss", 0, 0), "update", ("calibration", 0, 0), "update", ("after", 0)]
    first = torch.tensor([1.0, 2.0, 3.0, 4.0])
    second = first * (1 - 2 * RATE)
    torch.testing.assert_close(method.result(), second - RATE * 4 * (second - 1))
    assert metrics["loss"] == pytest.approx(first.square().mean().item())
    assert metrics["calibration"] == pytest.approx(2 * (second - 1).square().mean().item())
    assert metrics["looks"] == 1.0, "what the encoder logs is logged too"


@pytest.mark.parametrize("bad", [torch.inf, torch.nan])
@pytest.mark.parametrize(("groups", "per_class"), [(WHOLE, False), (PAIRS, False), (PAIRS, True)])
def test_divergence_names_the_class_and_makes_no_update_with_its_gradient(groups, per_class, bad):
    method, events = condensation(groups, start=(1.0, 2.0, 3.0, bad), per_class=per_class)
    with pytest.raises(DivergedError, match=f"'fox'.*{bad}"):
        method.step(0)
    assert events.count("update") == int(per_class)


def test_a_state_is_of_the_set_and_of_the_encoders_and_loading_it_forgets_the_targets():
    method, _ = condensation(WHOLE, momentum=0.5)
    method.step(0)
    state = {name: part.clone() for name, part in method.state().items()}
    assert state.keys() == {"points", "momentum", "count"}
    method.step(1)
    expected = method.result()
    other, _ = condensation(WHOLE, momentum=0.5)
    other.load_state(state)
    assert other.passes[0].targets.forgotten == 1
    other.step(1)
    assert other.result().equal(expected)
    assert other.state()["count"] == 2

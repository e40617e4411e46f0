"""IDM's accuracy meter against a plain simulation of the original's loop."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from lqm.engine.randomness import generator
from lqm.images import encoders, students
from lqm.images.encoders import QueueEncoders
from lqm.images.methods.idm import IDMSettings
from lqm.recipes import load_recipes
from tests.images.methods.making import built, problem_of

CPU = torch.device("cpu")


class Network:
    """A network of the simulation: how often it was right, of how many, since its meter was last reset."""

    def __init__(self):
        self.right = self.seen = self.learned = 0

    def learn(self):
        """One batch of 100; it is right more often the longer it has learned."""
        self.right += min(90, 10 + self.learned)
        self.seen += 100
        self.learned += 1


def plain_loop(settings, steps, evaluate_every, seed=0):
    """Sections 5.3 to 5.5 of the facts about IDM, without images: the accuracy that weighs each step."""
    queue = [Network() for _ in range(settings.queue_start)]
    found = []
    for i in range(steps):
        if evaluate_every and i > 0 and i % evaluate_every == 0:
            for network in queue:
                network.right = network.seen = 0
        if i % settings.queue_interval == 0:
            if len(queue) == settings.queue_limit:
                del queue[0]
            queue.append(Network())
        draws = generator(seed, "students", i)
        matched = queue[int(torch.randperm(len(queue), generator=draws)[0])]
        found.append(matched.right / matched.seen if matched.seen else 0.0)
        for place in torch.randperm(len(queue), generator=draws)[: settings.students].tolist():
            for _ in range(settings.student_steps):
                queue[place].learn()
    return found


class FakeStudent(students.Student):
    """Ours, whose network is not there and whose answers are those of the simulation."""

    def __init__(self, network, logits=None):
        self._right = self._seen = self._learned = 0

    def snapshot(self):
        return None

    def learn(self, images, labels):
        self._right += min(90, 10 + self._learned)
        self._seen += 100
        self._learned += 1


def ours(settings, steps, monkeypatch):
    """The accuracies that our queue gives, with students that cost nothing."""
    monkeypatch.setattr(students, "Student", FakeStudent)
    monkeypatch.setattr(encoders, "draw_real", lambda *args: (None, None))
    factory = SimpleNamespace(of=lambda network, accuracy: accuracy)
    problem = SimpleNamespace(
        seed=0,
        source=None,
        device=CPU,
        fresh_network=lambda *args: None,
        encoder_factory=lambda *args: factory,
    )
    queue = QueueEncoders(problem, settings)
    return [queue.at(i) for i in range(steps)]


def share_off(accuracies):
    return sum(accuracy == 0 for accuracy in accuracies) / len(accuracies)


@pytest.mark.parametrize("meter_reset", [0, 1, 7, 30, 45])
def test_each_step_has_the_accuracy_of_the_plain_loop(meter_reset, monkeypatch):
    settings = IDMSettings(queue_interval=6, queue_limit=9, student_steps=3, meter_reset=meter_reset)
    expected = plain_loop(settings, 200, meter_reset)
    assert ours(settings, 200, monkeypatch) == expected
    assert 0 < share_off(expected) <= 1


# Share of the steps without the class term at the paper's settings, with the reset and without: means over
# five seeds of a simulation with Python's random numbers.
SHARES = {
    ("cifar10", 1): (0.457, 0.100),
    ("cifar10", 10): (0.412, 0.017),
    ("cifar10", 50): (0.105, 0.017),
    ("tinyimagenet", 50): (0.061, 0.017),
}


@pytest.mark.parametrize(("source", "per_class"), SHARES)
def test_the_share_of_steps_without_the_class_term_is_the_papers(source, per_class, monkeypatch):
    recipe = load_recipes(source)[f"idm-{per_class}-paper"]
    # How many batches a network learns from at once changes nothing here but the time.
    original = IDMSettings(**{**recipe.settings, "student_steps": 1})
    for settings, share in zip(
        (original, replace(original, meter_reset=0)), SHARES[source, per_class], strict=True
    ):
        expected = plain_loop(settings, settings.steps, settings.meter_reset)
        assert ours(settings, settings.steps, monkeypatch) == expected
        assert share_off(expected) == pytest.approx(share, abs=0.012)


def learner(digits):
    return built(
        "idm",
        problem_of(digits, 1),
        steps=9,
        network="convnet:width=4:depth=1",
        real_batch=8,
        student_batch=16,
        student_steps=1,
        queue_interval=4,
        meter_reset=3,
    )


def test_a_run_that_is_resumed_between_two_resets_goes_on_bit_for_bit(digits):
    straight = learner(digits)
    metrics = [straight.step(i) for i in range(9)]
    assert any(found["network_accuracy"] for found in metrics)
    assert metrics[3]["network_accuracy"] == metrics[6]["network_accuracy"] == 0
    for stop in (2, 3, 4, 7):
        first, second = learner(digits), learner(digits)
        for i in range(stop):
            first.step(i)
        second.load_state({name: part.clone() for name, part in first.state().items()})
        assert [second.step(i) for i in range(stop, 9)] == metrics[stop:]
        ended = straight.state()
        assert all(part.equal(ended[name]) for name, part in second.state().items())

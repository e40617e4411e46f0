import pytest
import torch

from lqm.engine.randomness import generator
from lqm.images.evaluation import EvaluationProtocol, Score, accuracy, random_pictures, score, train
from lqm.images.networks import ConvNet
from lqm.images.sources import pick

CPU = torch.device("cpu")


def test_a_few_epochs_on_all_digits_learn_most_of_them(digits):
    protocol = EvaluationProtocol("short", epochs=12, networks=1, width=16, batch=32)
    found = score(lambda j: digits.train, digits, protocol, seed=0, device=CPU)
    assert found.accuracy > 0.8
    assert found.pictures == len(digits.train.labels)
    assert found.extremes == 0
    assert found.cramer_von_mises == pytest.approx(0, abs=1e-3)


def test_scores_repeat_for_a_seed_and_differ_between_networks(digits, tiny_protocol):
    def run(seed):
        return score(lambda j: random_pictures(digits, 2, 0, j), digits, tiny_protocol, seed=seed, device=CPU)

    assert run(0) == run(0)
    assert run(0).accuracies != run(1).accuracies


def test_mean_and_population_deviation_are_those_of_numpy():
    import numpy as np

    accuracies = (0.5, 0.7, 0.9)
    found = Score(10, accuracies, 0.0, 0.0)
    assert found.accuracy == pytest.approx(np.mean(accuracies))
    assert found.deviation == pytest.approx(np.std(accuracies))


def test_accuracy_is_the_share_of_right_answers(digits):
    class Always3(ConvNet):
        def __init__(self):
            super().__init__((1, 8, 8), 10, width=2)
            torch.nn.init.zeros_(self.classifier.weight)
            self.classifier.bias.data = torch.nn.functional.one_hot(torch.tensor(3), 10).float()

    expected = (digits.test.labels == 3).double().mean().item()
    assert accuracy(Always3(), digits, CPU) == pytest.approx(expected)


def test_the_schedule_is_the_fields(digits, monkeypatch):
    """Epochs 0 to E, and a new optimiser with a tenth of the rate after epoch E // 2 + 1."""
    steps = []
    original = torch.optim.SGD.step

    def spy(self, *args, **kwargs):
        steps.append((id(self), self.param_groups[0]["lr"]))
        return original(self, *args, **kwargs)

    monkeypatch.setattr(torch.optim.SGD, "step", spy)
    protocol = EvaluationProtocol("schedule", epochs=10, networks=1, width=4, batch=8)
    train(random_pictures(digits, 1, 0, 0), digits, protocol, seed=0, index=0, device=CPU)
    rates = [rate for _, rate in steps]
    assert rates == [0.01] * 2 * 7 + [pytest.approx(0.001)] * 2 * 4
    assert len({optimizer for optimizer, _ in steps}) == 2


def test_random_pictures_are_real_distinct_and_of_their_class(digits):
    found = random_pictures(digits, 5, seed=0, index=0)
    assert found.labels.tolist() == [c for c in range(10) for _ in range(5)]
    for c in range(10):
        real = {tuple(p.flatten().tolist()) for p in digits.train.of_class(c)}
        chosen = {tuple(p.flatten().tolist()) for p in found.of_class(c)}
        assert len(chosen) == 5
        assert chosen <= real
    assert not found.images.equal(random_pictures(digits, 5, seed=0, index=1).images)


def test_pick_gives_all_when_asked_for_more():
    numbers = torch.arange(4.0)
    assert pick(numbers, 9, generator(0, "x")).sort().values.equal(numbers)


def test_the_protocol_says_itself():
    text = str(EvaluationProtocol("quick", epochs=300, networks=5, width=64))
    assert "quick" in text
    assert "300 epochs" in text
    assert "5 fresh ConvNet-3 of width 64" in text

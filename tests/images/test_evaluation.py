import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import recall_score

from lqm.engine.compute import Compute
from lqm.engine.randomness import generator, seeded
from lqm.evaluation.latents import LatentMatch
from lqm.evaluation.markdown import score_markdown
from lqm.evaluation.scores import Score, finding, score_networks
from lqm.images.evaluation import (
    EvaluationProtocol,
    fresh_network,
    latent_match,
    score,
    teach,
)
from lqm.images.methods.coresets import random_images
from lqm.images.networks import ConvNet
from lqm.images.sources import pick
from lqm.images.training import predict, train

CPU = torch.device("cpu")


def test_a_few_epochs_on_all_digits_learn_most_of_them(digits):
    protocol = EvaluationProtocol("short", epochs=12, networks=1, network="convnet:width=16", batch=32)
    found = score(lambda j: digits.train, digits, protocol, seed=0, device=CPU)
    assert found.accuracy > 0.8
    assert found.records == len(digits.train.labels)
    assert found.before == found.after == LatentMatch(0.0, 0.0, (0.0,)), (
        "the training set has its own distribution"
    )


def test_scores_repeat_for_a_seed_and_differ_between_networks(digits, tiny_protocol):
    def run(seed):
        return score(lambda j: random_images(digits, 2, 0, j), digits, tiny_protocol, seed=seed, device=CPU)

    assert run(0) == run(0)
    assert run(0).accuracies != run(1).accuracies


def test_mean_and_sample_deviation_are_those_of_numpy():
    accuracies = (0.5, 0.7, 0.9)
    found = Score(10, accuracies, LatentMatch(0.0, 0.0), LatentMatch(0.0, 0.0))
    assert found.accuracy == pytest.approx(np.mean(accuracies))
    assert found.deviation == pytest.approx(np.std(accuracies, ddof=1))


def test_accuracy_is_the_share_of_right_answers(digits):
    class Always3(ConvNet):
        def __init__(self):
            super().__init__((1, 8, 8), 10, width=2)
            torch.nn.init.zeros_(self.classifier.weight)
            self.classifier.bias.data = torch.nn.functional.one_hot(torch.tensor(3), 10).float()

    expected = (digits.test.labels == 3).double().mean().item()
    assert (predict(Always3(), digits) == digits.test.labels).double().mean() == pytest.approx(expected)


def test_the_schedule_is_the_fields(digits, monkeypatch):
    """Epochs 0 to E, and a new optimiser with a tenth of the rate after epoch E // 2 + 1."""
    steps = []
    original = torch.optim.SGD.step

    def spy(self, *args, **kwargs):
        steps.append((id(self), self.param_groups[0]["lr"]))
        return original(self, *args, **kwargs)

    monkeypatch.setattr(torch.optim.SGD, "step", spy)
    network = fresh_network(digits, "convnet:width=4", seed=0, index=0)
    train(
        network,
        random_images(digits, 1, 0, 0),
        digits,
        epochs=10,
        learning_rate=0.01,
        momentum=0.9,
        weight_decay=5e-4,
        batch=8,
        draws=generator(0, "batches"),
    )
    rates = [rate for _, rate in steps]
    assert rates == [0.01] * 2 * 7 + [pytest.approx(0.001)] * 2 * 4
    assert len({optimizer for optimizer, _ in steps}) == 2


def test_random_images_are_real_distinct_and_of_their_class(digits):
    found = random_images(digits, 5, seed=0, index=0)
    assert found.labels.tolist() == [c for c in range(10) for _ in range(5)]
    for c in range(10):
        real = {tuple(p.flatten().tolist()) for p in digits.train.of_class(c)}
        chosen = {tuple(p.flatten().tolist()) for p in found.of_class(c)}
        assert len(chosen) == 5
        assert chosen <= real
    assert not found.images.equal(random_images(digits, 5, seed=0, index=1).images)


def test_pick_gives_all_when_asked_for_more():
    numbers = torch.arange(4.0)
    assert pick(numbers, 9, generator(0, "x")).sort().values.equal(numbers)


def test_real_images_are_never_extreme_even_one_at_a_time(digits, tiny_protocol):
    for j in range(5):
        network = fresh_network(digits, tiny_protocol.network, 0, j)
        assert latent_match(network, random_images(digits, 1, 0, j), digits).extremes == 0


def test_the_protocol_says_itself():
    text = str(EvaluationProtocol("quick", epochs=300, networks=5, network="convnet:width=64"))
    assert re.search(r"quick.*\b5\b.*ConvNet-3 of width 64.*300 epochs.*\b0\.01\b", text)


def test_the_match_before_training_is_on_the_same_networks_for_every_set(digits, tiny_protocol):
    first, second = (random_images(digits, 2, 0, j) for j in range(2))
    expected = [
        latent_match(fresh_network(digits, tiny_protocol.network, 0, j), first, digits).cramer_von_mises
        for j in range(2)
    ]
    found = score(lambda j: first, digits, tiny_protocol, seed=0, device=CPU)
    assert found.before.cramer_von_mises == pytest.approx(sum(expected) / 2)
    assert found.before != found.after
    assert found.before != score(lambda j: second, digits, tiny_protocol, seed=0, device=CPU).before


def test_the_match_is_the_average_of_scipys_statistic_and_of_the_extremes(digits, tiny_protocol):
    from scipy.stats import cramervonmises_2samp

    network = fresh_network(digits, tiny_protocol.network, 0, 0)
    images = random_images(digits, 3, 0, 0)
    statistics, extremes = [], []
    for c in range(10):
        real, own = (
            network.embed(digits.normalised(part.of_class(c))).detach().numpy()
            for part in (digits.train, images)
        )
        for f in range(real.shape[1]):
            statistics.append(cramervonmises_2samp(real[:, f], own[:, f]).statistic)
            extremes.extend((own[:, f] < real[:, f].min()) | (own[:, f] > real[:, f].max()))
    found = latent_match(network, images, digits)
    # Each value of a real image that was picked is tied with itself, which SciPy counts differently.
    assert found.cramer_von_mises == pytest.approx(sum(statistics) / len(statistics), abs=0.01)
    assert found.extremes == sum(extremes) / len(extremes) == 0


def test_shares_by_class_are_those_of_sklearn(digits, tiny_protocol):
    found = score(lambda j: random_images(digits, 3, 0, j), digits, tiny_protocol, seed=0, device=CPU)
    recalls = []
    for j in range(tiny_protocol.networks):
        network = fresh_network(digits, tiny_protocol.network, 0, j)
        with seeded(0, "evaluation training", j):
            train(
                network,
                random_images(digits, 3, 0, j),
                digits,
                epochs=tiny_protocol.epochs,
                learning_rate=tiny_protocol.learning_rate,
                momentum=tiny_protocol.momentum,
                weight_decay=tiny_protocol.weight_decay,
                batch=tiny_protocol.batch,
                draws=generator(0, "evaluation batches", j),
            )
        recalls.append(recall_score(digits.test.labels, predict(network, digits), average=None))
    assert found.by_class == pytest.approx(np.mean(recalls, axis=0))


def test_a_class_without_test_records_has_no_share():
    match = LatentMatch(0.0, 0.0)
    found = finding(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]), 3, match, match)
    whole = score_networks(1, lambda j: (3, found), lambda count, metrics: None)
    assert whole.by_class == (0.5, 1.0, None)
    assert whole.accuracy == pytest.approx(2 / 3)


def test_the_match_is_the_mean_over_networks_with_the_statistic_of_each():
    before = [(0.1, 0.0), (0.4, 0.02), (0.7, 0.04)]

    def judge(j):
        match = LatentMatch(*before[j])
        return 3, finding(torch.tensor([0]), torch.tensor([0]), 1, match, LatentMatch(0.0, 0.0))

    found = score_networks(3, judge, lambda count, metrics: None).before
    assert found.by_network == (0.1, 0.4, 0.7)
    assert (found.cramer_von_mises, found.extremes) == pytest.approx(np.mean(before, axis=0))
    assert found.statistic.deviation == pytest.approx(np.std([0.1, 0.4, 0.7], ddof=1))


def test_the_best_epoch_is_told_apart_and_changes_nothing(digits):
    images = random_images(digits, 2, 0, 0)
    plain = EvaluationProtocol("short", epochs=9, networks=2, network="convnet:width=8", learning_rate=0.3)
    tested = replace(plain, test_every=3)
    last = score(lambda j: images, digits, plain, seed=0, device=CPU)
    found = score(lambda j: images, digits, tested, seed=0, device=CPU)
    assert found.accuracies == last.accuracies
    assert last.best == ()
    # The oracle: a training of its own, whose network is tested after every epoch.
    for index, best in enumerate(found.best):
        network = fresh_network(digits, tested.network, 0, index)
        accuracies = {}

        def test(epochs, network=network, accuracies=accuracies):
            right = predict(network, digits) == digits.test.labels
            accuracies[epochs] = right.double().mean().item()

        teach(
            network,
            images,
            digits,
            tested,
            seed=0,
            index=index,
            full=False,
            compute=Compute(),
            after_epoch=test,
        )
        assert [*accuracies] == [*range(1, 11)]
        assert best == max(accuracies[epochs] for epochs in (3, 6, 9, 10))
        assert found.accuracies[index] == accuracies[10]


def test_a_table_shows_the_best_epoch_only_where_networks_were_tested_along_the_way(digits, tiny_protocol):
    match = LatentMatch(0.1, 0.0)
    plain, tested = Score(10, (0.5, 0.6), match, match), Score(10, (0.5, 0.6), match, match, best=(0.7, 0.8))
    assert "best" not in score_markdown({"convnet": {"condensed": plain}}, tiny_protocol)
    table = score_markdown({"convnet": {"condensed": tested}}, tiny_protocol)
    assert "| best epoch % |" in table
    assert "| 55.0 ± 7.1 | 75.0 ± 7.1 |" in table
    assert "chosen on test images" in table

"""A condensed set in place of all data, while a network is tuned."""

from dataclasses import asdict, replace

import pytest
import torch

import lqm
from lqm.evaluation.spread import Spread
from lqm.images import tuning
from lqm.utils.errors import ConfigError, DataError

PAIR = [
    {"network": "mlp:width=16", "epochs": 2, "learning_rate": 1e-4},
    {"network": "mlp:width=16", "epochs": 20, "learning_rate": 0.1, "batch": 16},
]


@pytest.fixture(scope="module")
def condensed():
    return lqm.condense("digits", method="random", per_class=5, validation=True, show_progress=False)


def tried(condensed, configurations, **options):
    return lqm.proxy(condensed, configurations, **{"show_progress": False, **options})


def own_network(shape, classes):
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, classes))


def test_configurations_are_ranked_by_their_mean_on_validation_images(condensed):
    found = tried(condensed, PAIR, repeats=2)
    assert found.accuracies[1] > found.accuracies[0] + 0.1
    assert found.best == PAIR[1]
    assert [trial.configuration for trial in found.ranked] == [PAIR[1], PAIR[0]]
    assert found.trials[0].accuracy == pytest.approx(sum(found.trials[0].accuracies) / 2)
    assert found.seconds == pytest.approx(sum(trial.seconds for trial in found.trials))
    first, *_ = (line for line in str(found).splitlines() if line.startswith("| 1 "))
    assert "network=mlp:width=16, epochs=20, learning_rate=0.1, batch=16" in first
    assert f"{Spread(found.ranked[0].accuracies).percent()} |" in first


def test_accuracies_are_those_of_evaluate_on_the_same_validation_images(condensed, tiny_protocol):
    asked = condensed.manifest | {"evaluation": asdict(tiny_protocol)}
    condensed = replace(condensed, manifest=asked)
    assert tried(condensed, [{}], repeats=2).trials[0].accuracies == (
        lqm.evaluate(condensed, show_progress=False).score.accuracies
    )


def test_no_test_image_has_a_part_in_the_ranking(condensed, digits, tmp_path, monkeypatch):
    usual = tried(condensed, PAIR, repeats=1).accuracies
    spoiled = replace(digits, test=lqm.Images(1 - digits.test.images, digits.test.labels.flip(0)))
    monkeypatch.setenv("LQM_CACHE", str(tmp_path))
    assert tried(condensed, PAIR, repeats=1, source=spoiled).accuracies == usual


def test_a_set_of_all_training_images_is_used_with_a_warning(capsys):
    whole = lqm.condense("digits", method="random", per_class=2, show_progress=False)
    found = tried(whole, PAIR[:1], repeats=1)
    assert not found.unseen
    assert "condense with validation=True" in capsys.readouterr().err
    assert "from all training images" in str(found)


def test_what_was_asked_before_is_not_trained_again(condensed, monkeypatch, capsys):
    before = tried(condensed, PAIR, repeats=1)
    tried(condensed, PAIR, repeats=1, show_progress=True)
    assert "proxy: 2/2  cached  0:00:00 left" in capsys.readouterr().err

    def refuse(*args, **options):
        raise AssertionError("trained again")

    monkeypatch.setattr(tuning, "teach", refuse)
    assert tried(condensed, PAIR, repeats=1).accuracies == before.accuracies
    with pytest.raises(AssertionError, match="trained again"):
        tried(condensed, PAIR, repeats=2)
    with pytest.raises(AssertionError, match="trained again"):
        tried(condensed, [PAIR[0] | {"weight_decay": 0.1}], repeats=1)


def test_a_network_of_the_users_own_is_tuned(condensed):
    found = tried(condensed, [{"network": own_network, "epochs": 20, "batch": 16}], repeats=1)
    assert found.accuracies[0] > 0.5
    assert "own:own_network" in str(found)


def test_the_best_is_trained_on_all_images_and_tested_once(condensed, digits):
    # Under the rate of the pair, an MLP may learn worse from all images than from few.
    steady = [PAIR[0], PAIR[1] | {"learning_rate": 0.01}]
    found = tried(condensed, steady, repeats=1)
    final = found.retrain()
    assert final.configuration == steady[1]
    assert final.records == len(digits.train.labels)
    named = final.network(digits.normalised(digits.test.images)).argmax(dim=1)
    assert final.accuracy == pytest.approx((named == digits.test.labels).double().mean().item())
    assert final.accuracy > found.accuracies[1]
    assert found.retrain(2).accuracy < final.accuracy
    with pytest.raises(ConfigError, match=r"no rank 3.*1 to 2"):
        found.retrain(3)


def test_a_source_without_its_test_images_is_not_tested_on(condensed, digits):
    found = tried(condensed, PAIR[:1], repeats=1, source=digits.for_validation())
    with pytest.raises(ConfigError, match="give the whole source"):
        found.retrain()


@pytest.mark.parametrize(
    ("configurations", "reason"),
    [
        ([], "no configuration to try"),
        ({"epochs": 3}, "give a list of dictionaries"),
        (["mlp"], "configuration 0 is 'mlp'.*dictionary"),
        ([{}, {"rate": 0.1}], "no option of configuration 1 'rate'"),
        ([{"epochs": 0}], "epochs of configuration 0 = 0"),
        ([{"learning_rate": -1.0}], "learning_rate of configuration 0 = -1.0"),
        ([{"cutmix": 2.0}], "from 0 to 1"),
        ([{"schedule": "cosine"}], "schedule of configuration 0 = 'cosine'"),
        ([{"network": "convnt"}], "did you mean 'convnet'"),
        ([{"network": 3}], "network of configuration 0 is 3"),
        ([{"network": "convnet:depth=9"}], "largest depth"),
    ],
)
def test_what_cant_be_tried_is_refused_before_any_training(condensed, configurations, reason, monkeypatch):
    monkeypatch.setattr(tuning, "teach", None)
    with pytest.raises(ConfigError, match=reason):
        tried(condensed, configurations)


def test_another_source_and_a_set_of_nodes_are_refused(condensed, digits):
    other = replace(digits, train=lqm.Images(digits.train.images.flip(0), digits.train.labels))
    with pytest.raises(DataError, match="is not what this set was condensed from"):
        tried(condensed, PAIR, source=other)
    nodes = lqm.condense("digits-knn", method="random", budget=20, show_progress=False)
    with pytest.raises(ConfigError, match=r"this set is of nodes.*use evaluate"):
        tried(nodes, PAIR)

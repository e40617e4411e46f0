import numpy as np
import pytest
import torch
from sklearn.metrics import pairwise_distances

from lqm.engine.randomness import generator
from lqm.methods.rules import RULES

FEATURES = torch.randn(60, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def choose(rule, count, features=FEATURES):
    return RULES[rule](features, count, generator(0, "test")).tolist()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("count", [1, 7, 60])
def test_records_are_distinct_and_as_many_as_asked_for(rule, count):
    chosen = choose(rule, count)
    assert len(set(chosen)) == len(chosen) == count
    assert set(chosen) <= set(range(60))


def test_herding_is_the_greedy_search_for_the_nearest_mean():
    features, expected = FEATURES.numpy(), []
    for _ in range(6):
        gaps = {
            i: np.linalg.norm(features[[*expected, i]].mean(axis=0) - features.mean(axis=0))
            for i in range(60)
            if i not in expected
        }
        expected.append(min(gaps, key=gaps.get))
    assert choose("herding", 6) == expected


def test_herding_keeps_the_mean_better_than_chance():
    def gap(chosen):
        return (FEATURES[chosen].mean(dim=0) - FEATURES.mean(dim=0)).norm()

    assert gap(choose("herding", 10)) < 0.3 * gap(list(range(10)))


def test_k_centre_adds_the_record_that_is_farthest_from_all_chosen():
    distances = pairwise_distances(FEATURES)
    chosen = choose("k-centre", 8)
    assert chosen[0] == np.linalg.norm(FEATURES - FEATURES.mean(dim=0), axis=1).argmin()
    for count in range(1, 8):
        assert chosen[count] == distances[chosen[:count]].min(axis=0).argmax()


def test_k_means_finds_one_record_in_the_middle_of_each_cluster():
    centres = torch.tensor([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]], dtype=torch.float64)
    spread = torch.randn(3, 20, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    features = (centres[:, None] + spread).flatten(0, 1)
    chosen = choose("k-means", 3, features)
    assert sorted(i // 20 for i in chosen) == [0, 1, 2]
    for i in chosen:
        cluster = features[i // 20 * 20 :][:20]
        nearest = (cluster - cluster.mean(dim=0)).norm(dim=1).argmin()
        assert i % 20 == nearest


def test_records_that_are_all_equal_are_no_trouble():
    for rule in ("herding", "k-centre"):
        assert len(set(choose(rule, 5, torch.ones(9, 2)))) == 5

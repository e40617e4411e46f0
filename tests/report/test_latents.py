"""Distributions under one fresh network, beside SciPy and plain loops."""

from dataclasses import asdict, replace
from statistics import fmean

import pytest
import torch
from scipy.stats import cramervonmises_2samp

import lqm
from lqm.api.evaluate import score_entry
from lqm.engine.randomness import seeded
from lqm.evaluation.cases import latents_of
from lqm.evaluation.latents import ClassMatch, Latents
from lqm.images.networks import make_network
from tests.graphs.continual.making import small_graph
from tests.report.making import PROTOCOL, case_of, cases_of


@pytest.fixture(scope="module")
def cases(judged):
    return cases_of([judged.runs["mean"], judged.runs["lqm"]])


@pytest.fixture(scope="module")
def latents(cases):
    return latents_of(cases, lqm.load_source("digits"))


def drawn(*shape, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))


def made(statistics, own=None, real=None):
    """Latents whose statistics are given, by set, class and feature."""
    return Latents(
        "a network",
        real or {label: drawn(5, len(row)) for found in statistics for label, row in found.items()},
        [
            {
                label: ClassMatch(
                    (own or {}).get((case, label), drawn(2, len(row))), torch.tensor(row).double(), 0.0
                )
                for label, row in found.items()
            }
            for case, found in enumerate(statistics)
        ],
    )


def test_features_are_those_of_the_first_network_of_an_evaluation(cases, latents, digits):
    with seeded(0, "evaluation network", 0):
        network = make_network("convnet:width=8", digits.shape, 10).eval()
    assert latents.network == "ConvNet-3 of width 8"
    with torch.no_grad():
        for label in (0, 7):
            real = network.embed(digits.normalised(digits.train.of_class(label)))
            torch.testing.assert_close(latents.real[label], real, rtol=1e-4, atol=1e-5)
            for case, found in zip(cases, latents.matches, strict=True):
                images = case.condensed.images[case.condensed.labels == label]
                own = network.embed(case.condensed.normalised(images))
                torch.testing.assert_close(found[label].own, own, rtol=1e-4, atol=1e-5)
    assert latents.features == real.shape[1]


def test_a_statistic_without_ties_is_scipys(latents):
    compared = 0
    for found in latents.matches:
        for label, match in found.items():
            for feature in range(latents.features):
                real, own = latents.real[label][:, feature], match.own[:, feature]
                if len(torch.cat([real, own]).unique()) == len(real) + len(own):
                    expected = cramervonmises_2samp(real.double().numpy(), own.double().numpy()).statistic
                    assert match.statistic[feature].item() == pytest.approx(expected, abs=1e-9)
                    compared += 1
    assert compared > 50


def test_means_and_extremes_are_what_an_evaluation_by_one_network_finds(cases, latents, digits):
    one = asdict(replace(PROTOCOL, networks=1, epochs=1))
    for case, mean, found in zip(cases, latents.means, latents.matches, strict=True):
        condensed = replace(case.condensed, manifest=case.manifest | {"evaluation": one})
        scored = score_entry(condensed, digits, seed=0, device=torch.device("cpu"))["before"]
        assert mean == pytest.approx(scored["cramer_von_mises"])
        assert fmean(match.extremes for match in found.values()) == pytest.approx(scored["extremes"])


def test_the_typical_feature_is_nearest_to_the_median_of_every_set(latents):
    for label in latents.real:
        rows = [found[label].statistic.tolist() for found in latents.matches]
        medians = [sorted(row)[(len(row) - 1) // 2] for row in rows]
        badness = [
            sum((row[feature] / median - 1) ** 2 for row, median in zip(rows, medians, strict=True))
            for feature in range(latents.features)
        ]
        assert latents.typical(label) == badness.index(min(badness))


def test_a_typical_feature_is_typical_of_all_sets_and_not_of_one():
    found = made([{0: [0.1, 0.2, 0.3, 0.4, 9.0]}, {0: [5.0, 40.0, 2.2, 2.0, 1.0]}])
    assert found.typical(0) == 2
    assert made([{0: [0.0, 0.0, 0.0]}]).typical(0) == 0, "medians of 0 are no trouble"


def test_a_set_strays_where_a_value_is_farthest_beyond_the_real_ones(latents):
    for case, found in enumerate(latents.matches):
        farthest, expected = float("-inf"), None
        for label, match in found.items():
            for feature in range(latents.features):
                real = latents.real[label][:, feature].tolist()
                for value in match.own[:, feature].tolist():
                    beyond = max(value - max(real), min(real) - value)
                    if beyond > farthest:
                        farthest, expected = beyond, (label, feature)
        assert latents.strays(case) == expected


def test_straying_below_the_smallest_value_counts_too():
    real = {0: torch.tensor([[0.0, 0.0], [1.0, 1.0]]), 1: torch.tensor([[0.0, 0.0], [1.0, 1.0]])}
    own = {(0, 0): torch.tensor([[0.5, 1.5]]), (0, 1): torch.tensor([[-2.0, 0.5]])}
    found = made([{0: [0.1, 0.2], 1: [0.3, 0.4]}], own, real)
    assert found.strays(0) == (1, 0)


def test_a_class_that_one_set_has_no_node_of_is_left_out_of_it_only(tmp_path):
    source = small_graph(classes=3)
    condensed = lqm.condense(source, method="random", budget=9, show_progress=False)
    less = type(condensed)(
        condensed.features[condensed.labels != 1],
        condensed.labels[condensed.labels != 1],
        condensed.class_names,
        condensed.manifest,
    )
    found = latents_of([case_of("less", less, tmp_path), case_of("whole", condensed, tmp_path)], source)
    assert [*found.real] == [0, 1, 2], "in the order of the classes"
    assert [[*match] for match in found.matches] == [[0, 2], [0, 1, 2]]
    assert found.typical(1) == latents_of([case_of("whole", condensed, tmp_path)], source).typical(1)
    assert len(found.means) == 2
    assert found.strays(0)[0] != 1

"""What the page draws of latent features, beside `lqm.evaluation.diagnostics` and NumPy."""

import numpy as np
import pytest
import torch

from lqm.evaluation.diagnostics import cramer_von_mises, ecdf, extreme_share
from lqm.evaluation.latents import ClassMatch, Latents
from lqm.report.page import explorer as module
from lqm.report.page.explorer import explorer, packed
from tests.report.making import unpacked


def made(features, sizes=(10, 10), classes=2, records=30, seed=0):
    """Latents of noise; a set is None where it has nothing of the last class."""
    draws = torch.Generator().manual_seed(seed)
    real = {label: torch.rand(records, features, generator=draws) for label in range(classes)}
    matches = []
    for size in sizes:
        own = {label: torch.rand(size or 4, features, generator=draws) for label in real}
        matches.append(
            {
                label: ClassMatch(
                    values,
                    cramer_von_mises(real[label], values, ties="ecdf"),
                    extreme_share(real[label], values).item(),
                )
                for label, values in own.items()
                if size or label < classes - 1
            }
        )
    return Latents("a network", real, matches)


def test_real_curves_are_the_real_values(page, latents):
    found = page.data["explorer"]
    assert found["features"] == found["kept"] == latents.features
    assert [own["label"] for own in found["classes"]] == list(range(10))
    for own in found["classes"]:
        real = latents.real[own["label"]]
        assert own["features"] == list(range(latents.features))
        assert own["records"] == own["steps"] == len(real) <= 200
        curves = unpacked(own["real"], latents.features)
        np.testing.assert_array_equal(curves, np.sort(real.numpy(), axis=0).T)
        values, shares = ecdf(real[:, 3])
        steps = np.searchsorted(curves[3], values.numpy(), side="right") / own["steps"]
        np.testing.assert_allclose(steps, shares.numpy(), atol=1e-6)


def test_curves_of_sets_are_their_values_and_statistics_follow_from_what_is_drawn(page, latents):
    for own in page.data["explorer"]["classes"]:
        real = torch.from_numpy(unpacked(own["real"], latents.features).copy()).T
        for number, found in enumerate(own["cases"]):
            match = latents.matches[number][own["label"]]
            values = unpacked(found["own"], latents.features)
            assert found["size"] == values.shape[1] == 2
            np.testing.assert_array_equal(values, np.sort(match.own.numpy(), axis=0).T)
            expected = cramer_von_mises(real, torch.from_numpy(values.copy()).T, ties="ecdf")
            assert found["statistic"] == expected.tolist()
            assert found["worst"] == int(expected.argmax())
        assert own["typical"] == latents.typical(own["label"])


def test_optimal_points_are_quantiles_at_the_levels_of_cramer_and_von_mises(page, latents):
    for own in page.data["explorer"]["classes"]:
        assert [*own["best"]] == ["2"]
        expected = np.quantile(latents.real[own["label"]].numpy(), [0.25, 0.75], axis=0, method="hazen")
        np.testing.assert_allclose(unpacked(own["best"]["2"], latents.features), expected.T, rtol=1e-5)


def test_there_are_optimal_points_of_every_size_that_a_set_has():
    found = explorer(made(5, sizes=(10, 4, 10)))
    for own in found["classes"]:
        assert {*own["best"]} == {4, 10}
        for size, text in own["best"].items():
            assert unpacked(text, 5).shape == (5, size)


def test_more_than_200_real_records_are_drawn_as_200_quantiles():
    latents = made(6, records=500)
    for own in explorer(latents)["classes"]:
        assert (own["records"], own["steps"]) == (500, 200)
        real = latents.real[own["label"]].numpy()
        expected = np.quantile(real, np.linspace(0, 1, 200), axis=0, method="hazen")
        curve = unpacked(own["real"], 6)
        np.testing.assert_allclose(curve, expected.T, rtol=1e-5)
        np.testing.assert_array_equal(curve[:, 0], real.min(axis=0), "what is extreme lies beyond the curve")
        np.testing.assert_array_equal(curve[:, -1], real.max(axis=0))
        heights = (np.arange(200) + 1) / 200
        shares = (real.T[:, None, :] <= curve[:, :, None] + 1e-6).mean(axis=-1)
        assert np.abs(shares - heights).max() < 0.006, "and the curve is the ECDF, to a step of it"
        (size,) = own["best"]
        expected = np.quantile(
            latents.real[own["label"]].numpy(), (np.arange(10) + 0.5) / 10, axis=0, method="hazen"
        )
        np.testing.assert_allclose(unpacked(own["best"][size], 6), expected.T, rtol=1e-5)


def test_200_real_records_are_drawn_as_they_are():
    latents = made(3, records=200)
    own = explorer(latents)["classes"][0]
    np.testing.assert_array_equal(unpacked(own["real"], 3), np.sort(latents.real[0].numpy(), axis=0).T)


@pytest.mark.parametrize("room", [8, 20, 57])
def test_of_many_features_an_even_choice_stays_with_the_worst_and_the_typical_ones(monkeypatch, room):
    latents = made(300, sizes=(10, 5))
    monkeypatch.setattr(module, "_VALUES", room * 2 * (30 + 2 * 15))
    for own in explorer(latents)["classes"]:
        label, features = own["label"], own["features"]
        assert features == sorted({*features})
        assert room <= len(features) <= room + 3
        assert {
            latents.typical(label),
            *(int(latents.matches[case][label].statistic.argmax()) for case in (0, 1)),
        } <= {*features}
        means = torch.stack([match[label].statistic for match in latents.matches]).mean(dim=0)
        ranks = np.sort(means.argsort().argsort()[features].numpy())
        assert ranks[0] == 0
        assert ranks[-1] == 299
        assert np.diff(ranks).max() <= -(-299 // (room - 1))
        for number, found in enumerate(own["cases"]):
            match = latents.matches[number][label]
            assert found["statistic"] == match.statistic[features].tolist()
            np.testing.assert_array_equal(
                unpacked(found["own"], len(features)), np.sort(match.own[:, features].numpy(), axis=0).T
            )
        curves = unpacked(own["real"], len(features))
        np.testing.assert_array_equal(curves, np.sort(latents.real[label][:, features].numpy(), axis=0).T)


def test_curves_take_no_more_room_than_they_are_given():
    latents = made(2048, classes=10, records=500)
    packed_values = sum(
        len(text) * 3 // 4 // 4
        for own in explorer(latents)["classes"]
        for text in (own["real"], *own["best"].values(), *(found["own"] for found in own["cases"]))
    )
    assert packed_values <= 1.1 * module._VALUES


def test_every_feature_is_in_the_histogram_once(page, latents):
    histogram = page.data["explorer"]["histogram"]
    edges = histogram["edges"]
    assert len(edges) == 41
    assert edges[0] == 0
    for found, shares in zip(latents.matches, histogram["shares"], strict=True):
        statistics = np.concatenate([match.statistic.numpy() for match in found.values()])
        counts, _ = np.histogram(statistics, 40, (0, edges[-1]))
        assert sum(shares) == pytest.approx(1)
        np.testing.assert_allclose(shares, counts / len(statistics), atol=1.01 / len(statistics))
    largest = max(match.statistic.max().item() for found in latents.matches for match in found.values())
    assert edges[-1] == pytest.approx(largest)


def test_a_perfect_match_has_a_histogram_too():
    real = {0: torch.rand(4, 3)}
    zero = cramer_von_mises(real[0], real[0], ties="ecdf")
    found = explorer(Latents("a network", real, [{0: ClassMatch(real[0], zero, 0.0)}]))
    assert found["histogram"]["shares"][0][0] == 1
    assert found["means"] == [0]


def test_extremes_and_means_are_those_of_the_latents(page, latents):
    found = page.data["explorer"]
    assert found["means"] == pytest.approx(latents.means)
    assert found["extremes"] == [[match[label].extremes for label in range(10)] for match in latents.matches]


def test_a_class_that_a_set_has_nothing_of_is_empty_there():
    latents = made(5, sizes=(10, None))
    found = explorer(latents)
    assert found["classes"][0]["cases"][1]["size"] == 4
    assert found["classes"][1]["cases"][1] is None
    assert found["extremes"][1][1] is None
    assert {*found["classes"][1]["best"]} == {10}


def test_numbers_are_packed_as_little_endian_single_precision_row_by_row():
    values = torch.tensor([[1.0, 2.0], [3.5, -0.25]], dtype=torch.float64).T
    assert unpacked(packed(values), 2).tolist() == [[1.0, 3.5], [2.0, -0.25]]
    assert packed(torch.ones(1, 1)) == "AACAPw=="

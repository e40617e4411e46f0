"""The maps of a page hold the coordinates that scikit-learn finds, of a bounded number of records."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

import lqm
from lqm.evaluation.cases import latents_of
from lqm.report.page.maps import maps
from tests.report.making import cases_of, chosen, read_page, tiny_source, unpacked


def points(found):
    return unpacked(found["points"], sum(count for _, count in found["counts"]))


def same_up_to_signs(found, expected):
    signs = np.sign((found * expected).sum(axis=0))
    return found == pytest.approx(signs * expected, abs=1e-5)


def test_the_page_shows_real_and_synthetic_records_along_principal_components(tmp_path):
    source = tiny_source(each=30)
    for seed in range(2):
        chosen(source, tmp_path / str(seed), 4, seed)
    folders = [tmp_path / "0", tmp_path / "1"]
    page = read_page(lqm.write_report(folders, source=source))
    latents = latents_of(cases_of(folders), source)
    for label, found in enumerate(page.data["maps"]["classes"]):
        oracle = PCA(2, svd_solver="full").fit(latents.real[label].double().numpy())
        assert found["explained"] == pytest.approx(oracle.explained_variance_ratio_, abs=1e-6)
        assert found["real"]["counts"] == [[label, 30]]
        assert same_up_to_signs(points(found["real"]), oracle.transform(latents.real[label].double().numpy()))
        for match, own in zip(latents.matches, found["sets"], strict=True):
            assert same_up_to_signs(points(own), oracle.transform(match[label].own.double().numpy()))
    every = page.data["maps"]["all"]
    real = np.concatenate([own.double().numpy() for own in latents.real.values()])
    oracle = PCA(2, svd_solver="full").fit(real)
    assert every["explained"] == pytest.approx(oracle.explained_variance_ratio_, abs=1e-6)
    assert same_up_to_signs(points(every["real"]), oracle.transform(real))
    assert every["sets"][0]["counts"] == [[0, 4], [1, 4], [2, 4]]
    share = f"{100 * every['explained'][0]:.1f}"
    assert f"all classes {share}" in page.words
    assert latents.network in page.words


def test_the_number_of_records_on_maps_is_bounded(tmp_path):
    source = tiny_source(classes=30, each=210)
    chosen(source, tmp_path / "run", 1)
    found = maps(latents_of(cases_of([tmp_path / "run"]), source))
    assert {count for own in found["classes"] for _, count in own["real"]["counts"]} == {200}
    assert sum(count for _, count in found["all"]["real"]["counts"]) == 30 * (2000 // 30)


def test_a_page_without_the_real_data_has_no_map(tmp_path):
    chosen(tiny_source(), tmp_path / "run")
    page = read_page(lqm.write_report(tmp_path / "run"))
    assert page.data["maps"] is None
    assert "map:class" not in [div.get("data-chart") for div in page.of("div")]

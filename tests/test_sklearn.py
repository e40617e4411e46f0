"""The estimators beside scikit-learn's and imbalanced-learn's own checks, in their pipelines and searches."""

import numpy as np
import pandas as pd
import pytest
from imblearn.pipeline import make_pipeline as make_sampling_pipeline
from imblearn.utils.estimator_checks import parametrize_with_checks as parametrize_with_sampler_checks
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lqm
from lqm.sklearn import Condenser, PrototypeDistances
from lqm.tabular import from_arrays

SMALL = {"steps": 2, "settings": {"network": "mlp:width=4:depth=1"}, "random_state": 0}
X, Y = load_wine(return_X_y=True)


@parametrize_with_checks([Condenser(**SMALL), Condenser(method="herding"), PrototypeDistances(**SMALL)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@parametrize_with_sampler_checks(
    [Condenser(**SMALL), Condenser(method="k-centre", per_class=5)],
    expected_failed_checks=lambda estimator: {
        "check_samplers_pandas_sparse": "synthetic rows are dense, so sparse ones are refused with a sentence"
    },
)
def test_imbalanced_learns_checks(estimator, check):
    check(estimator)


def test_it_is_the_same_set_as_lqm_condense():
    rows, labels = Condenser(3, **SMALL).fit_resample(X, Y)
    settings = {"steps": 2, **SMALL["settings"]}
    source = from_arrays(X, Y, test_fraction=0.0)
    condensed = lqm.condense(source, per_class=3, seed=0, settings=settings, show_progress=False)
    np.testing.assert_array_equal(rows, condensed.records()[0])
    assert labels.tolist() == condensed.labels.tolist()


def test_coresets_are_rows_of_x_bit_for_bit():
    condenser = Condenser(4, method="k-means", random_state=1)
    rows, labels = condenser.fit_resample(X, Y)
    np.testing.assert_array_equal(rows, X[condenser.sample_indices_])
    np.testing.assert_array_equal(labels, Y[condenser.sample_indices_])
    assert len(set(condenser.sample_indices_)) == 12


def test_a_class_that_has_fewer_rows_keeps_as_many():
    kept = np.r_[0:59, 59:63, 130:178]
    condenser = Condenser(10, **SMALL)
    _, labels = condenser.fit_resample(X[kept], Y[kept])
    assert np.bincount(labels).tolist() == [10, 4, 10]
    assert condenser.sampling_strategy_ == {0: 10, 1: 4, 2: 10}


def test_pandas_with_text_labels_comes_back_as_pandas():
    frame = pd.DataFrame({"ash": X[:, 2], "count": X[:, 12].astype(int), "old": X[:, 0] > 13})
    kinds = pd.Series(np.array(["red", "white", "rosé"])[Y], name="kind")
    condenser = Condenser(2, **SMALL)
    rows, labels = condenser.fit_resample(frame, kinds)
    assert rows.dtypes.equals(frame.dtypes)
    assert labels.name == "kind"
    assert labels.tolist() == ["red"] * 2 + ["rosé"] * 2 + ["white"] * 2
    assert condenser.feature_names_in_.tolist() == ["ash", "count", "old"]
    assert rows["count"].between(frame["count"].min(), frame["count"].max()).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "mtt"}, "mtt"),
        ({"distance": "nearness"}, "nearness"),
        ({"per_class": 0}, "per_class = 0 can't be used"),
        ({"settings": {"speed": 3}}, "speed"),
        ({"method": "herding", "distance": "lqm"}, "leave the distance out"),
        ({"device": "abacus"}, "device 'abacus' can't be used"),
    ],
)
def test_a_parameter_that_cant_be_used_is_a_value_error(options, message):
    with pytest.raises(ValueError, match=message):
        Condenser(**options).fit_resample(X, Y)


def test_a_search_over_a_pipeline_of_imbalanced_learn_chooses_how_many_rows():
    pipeline = make_sampling_pipeline(StandardScaler(), Condenser(method="herding"), LogisticRegression())
    search = GridSearchCV(pipeline, {"condenser__per_class": [1, 8]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"condenser__per_class": 8}
    assert search.best_score_ > 0.9
    assert search.best_estimator_.fit(X, Y).score(X, Y) > 0.9
    assert clone(search.best_estimator_["condenser"]).per_class == 8


def test_distances_to_prototypes_are_features_of_a_pipeline():
    pipeline = make_pipeline(PrototypeDistances(5, method="k-means", random_state=0), LogisticRegression())
    assert pipeline.fit(X, Y).score(X, Y) > 0.9
    distances = pipeline[0].transform(X)
    scaled = StandardScaler().fit_transform(X)
    prototypes = pipeline[0].condensed_.data.numpy()
    np.testing.assert_allclose(distances[7, 2], np.linalg.norm(scaled[7] - prototypes[2]), rtol=1e-5)
    assert pipeline[0].get_feature_names_out()[0] == "prototypedistances0"

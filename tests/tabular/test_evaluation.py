"""Models on rows, beside scikit-learn's own; coresets and baselines, beside naive loops."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn

import lqm
from lqm.tabular import from_arrays, load_table
from lqm.tabular.baselines import baseline
from lqm.tabular.choosing import chosen_rows
from lqm.tabular.evaluation import PROTOCOLS, ROWS, fresh_network, teach
from lqm.tabular.training import logits_of
from lqm.utils.errors import ConfigError, DataError

CPU = torch.device("cpu")
SMALL = {"steps": 3, "network": "mlp:width=8:depth=1"}


@pytest.fixture(scope="module", params=["wine", "breast-cancer"])
def source(request):
    return load_table(request.param)


def test_logistic_scores_are_those_of_a_loop_of_scikit_learn(source):
    """Of two classes and of three."""
    rules = replace(PROTOCOLS["logistic"], networks=3)
    counts = [4] * len(source.class_names)
    found = ROWS.score(baseline("random", source, counts, 5), source, rules, seed=5, device=CPU)
    test = source.standardised_test
    expected = []
    for j in range(3):
        rows = chosen_rows("random", source, counts, 5, j).double().numpy()
        model = LogisticRegression(max_iter=10_000).fit(rows, np.repeat(np.arange(len(counts)), 4))
        expected.append(model.score(test.features.double().numpy(), test.labels.numpy()))
    assert found.accuracies == pytest.approx(expected)
    assert len(set(found.accuracies)) > 1


def test_probabilities_of_logistic_regression_are_scikit_learns(source):
    network = fresh_network(source, "logistic", 0, 0)
    rows = source.standardised_train
    teach(network, rows, PROTOCOLS["logistic"], seed=0, index=0)
    model = LogisticRegression(max_iter=10_000).fit(rows.features.double().numpy(), rows.labels.numpy())
    found = logits_of(network, source.standardised_test.features).softmax(dim=1)
    expected = model.predict_proba(source.standardised_test.features.double().numpy())
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_networks_learn_the_whole_training_set():
    source = load_table("wine")
    rules = replace(PROTOCOLS["table-mlp-200"], full_networks=1)
    found = ROWS.score(lambda j: source.standardised_train, source, rules, seed=0, device=CPU, full=True)
    assert found.accuracy > 0.9
    assert found.records == 142


def test_the_random_rows_of_networks_differ_and_others_do_not(source):
    counts = [3] * len(source.class_names)
    random, herding = (baseline(name, source, counts, 0) for name in ("random", "herding"))
    assert not random(0).features.equal(random(1).features)
    assert herding(0).features.equal(herding(1).features)


def test_herding_and_k_centre_are_naive_loops_over_standardised_rows(source):
    counts = [5] * len(source.class_names)
    herding, centres = [], []
    for rows in (part.numpy().astype(np.float64) for part in source.by_class):
        mean, own = rows.mean(axis=0), []
        for _ in range(5):
            total, free = rows[own].sum(axis=0), set(range(len(rows))) - set(own)
            lengths = {i: np.linalg.norm(mean - (total + rows[i]) / (len(own) + 1)) for i in free}
            own.append(min(lengths, key=lengths.__getitem__))
        herding.append(rows[own])
        own = [int(np.argmin(np.linalg.norm(rows - mean, axis=1)))]
        while len(own) < 5:
            nearest = [min(np.linalg.norm(row - rows[c]) for c in own) for row in rows]
            own.append(int(np.argmax(nearest)))
        centres.append(rows[own])
    np.testing.assert_allclose(chosen_rows("herding", source, counts, 0), np.concatenate(herding))
    np.testing.assert_allclose(chosen_rows("k-centre", source, counts, 0), np.concatenate(centres))


def test_a_run_is_evaluated_beside_baselines_and_the_scores_are_kept(tmp_path):
    lqm.condense("wine", per_class=3, settings=SMALL, out=tmp_path / "run", show_progress=False)
    options = {"baselines": ("random", "herding", "full"), "protocol": "logistic", "show_progress": False}
    found = lqm.evaluate(tmp_path / "run", **options)
    assert list(found.rows) == ["condensed", "random", "herding", "full"]
    assert "random rows" in found.verdict
    assert lqm.load(tmp_path / "run").manifest["scores"][0]["protocol"]["name"] == "logistic"
    assert "logistic regression by scikit-learn" in str(found)
    both = lqm.evaluate(
        tmp_path / "run", networks=("logistic", "mlp:width=8"), repeats=1, show_progress=False
    )
    assert list(both.by_network) == ["logistic", "mlp:width=8"]


def own_network(features, classes):
    return nn.Sequential(nn.Linear(features, 6), nn.Tanh(), nn.Linear(6, classes))


def test_networks_of_the_users_own_condense_and_evaluate():
    condensed = lqm.condense(
        "wine", per_class=2, settings={"steps": 2}, network=own_network, show_progress=False
    )
    assert condensed.manifest["settings"]["network"].startswith("own:own_network ")
    found = lqm.evaluate(condensed, networks={"mine": own_network}, repeats=1, show_progress=False)
    assert found.rows["condensed"].accuracy > 0.3
    with pytest.raises(ConfigError, match="network has no part in method 'herding'"):
        lqm.condense("wine", method="herding", network=own_network, show_progress=False)


def test_a_set_without_test_rows_is_not_evaluated():
    source = from_arrays(np.eye(8), [0, 1] * 4, test_fraction=0.0)
    condensed = lqm.condense(source, per_class=1, settings=SMALL, show_progress=False)
    with pytest.raises(DataError, match="no test rows to evaluate by"):
        lqm.evaluate(condensed, source=source, show_progress=False)


def test_an_encoder_without_latent_features_is_refused():
    with pytest.raises(ConfigError, match="no latent features to match; use mlp"):
        lqm.condense("wine", network="logistic", show_progress=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 5}, "budget is for graphs, and 'wine' is a table; give per_class instead"),
        ({"size": 8}, "size is for images, and 'wine' is a table"),
        ({"method": "mtt"}, "method 'mtt' is for images, and 'wine' is a table; choose one of dm"),
        ({"label": "y"}, "'wine' has labels already; leave label out"),
        ({"experts": "x"}, "experts is for images"),
    ],
)
def test_options_of_other_kinds_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        lqm.condense("wine", show_progress=False, **options)


def test_the_label_of_a_table_is_refused_for_images():
    with pytest.raises(ConfigError, match="label is for tables, and 'digits' is images"):
        lqm.condense("digits", label="y", show_progress=False)


def test_copies_are_found_by_an_audit():
    condensed = lqm.condense("wine", method="herding", per_class=3, show_progress=False)
    found = lqm.audit(condensed, shadows=0, canaries=0, show_progress=False)
    assert found.own.copies.exact == found.own.copies.records == 9

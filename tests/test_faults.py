"""Warnings about sets that have failed: each is found where it was planted, and nowhere else."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import lqm
from lqm.engine.run import METRICS
from lqm.evaluation.faults import faults_of, loss_that_did_not_fall
from lqm.evaluation.history import read_losses
from lqm.evaluation.latents import LatentMatch
from lqm.evaluation.scores import Score, finding, score_networks
from lqm.graphs.evaluation import NODES
from lqm.graphs.graph import dense
from lqm.graphs.propagation import normalised_adjacency
from tests.graphs.test_evaluation import PROTOCOL, a_set, a_source
from tests.report.making import read_page

MATCH = LatentMatch(0.1, 0.0)
STEPS = 300


@pytest.fixture(scope="module")
def source():
    return a_source()


@pytest.fixture
def healthy(source):
    """Each node is the propagated mean of a class, by a dense product, at the mean length of its nodes."""
    condensed = a_set(source)
    every = torch.from_numpy(normalised_adjacency(source.graph.adjacency).toarray()).float()
    propagated = every @ dense(source.graph.features)
    features = condensed.features.clone()
    for label, nodes in enumerate(source.by_class):
        mean, length = propagated[nodes].mean(dim=0), propagated[nodes].norm(dim=1).mean()
        features[condensed.labels == label] = length * mean / mean.norm()
    return replace(condensed, data=features)


def faults(condensed, source, score=None):
    return faults_of(condensed, NODES, source, score)


def test_a_healthy_set_has_no_faults(healthy, source):
    assert faults(healthy, source) == []
    assert faults(healthy, None) == []


def test_planted_zero_rows_are_dead(healthy, source):
    features = healthy.features.clone()
    features[0] = 0
    for data in (source, None):
        (line,) = faults(replace(healthy, data=features), data)
        assert "1 of the 6 nodes" in line
        assert "all 0 (a)" in line


@pytest.mark.parametrize(("factor", "wrong"), [(10, True), (0.1, True), (1.9, False), (0.55, False)])
def test_lengths_unlike_the_real_ones_are_found(healthy, source, factor, wrong):
    features = healthy.features.clone()
    features[healthy.labels == 1] *= factor
    found = faults(replace(healthy, data=features), source)
    assert len(found) == wrong
    assert all("1 of 3 classes (b)" in line and f"{factor:g} times" in line for line in found)


def test_a_loss_that_is_constant_or_rises_did_not_fall():
    draws = np.random.default_rng(0)
    noise = draws.normal(1.0, 0.2, STEPS)
    trend = np.linspace(0, 1, STEPS)
    assert loss_that_did_not_fall([0.5] * STEPS)
    assert loss_that_did_not_fall((noise + trend).tolist())
    assert not loss_that_did_not_fall((noise - trend).tolist())
    quickly = noise.copy()
    quickly[:6] += 5
    assert not loss_that_did_not_fall(quickly.tolist()), "it fell in the first steps"
    assert not loss_that_did_not_fall([0.5] * 10), "too short to tell"


def test_losses_that_fall_within_their_noise_are_rarely_called_constant():
    draws = np.random.default_rng(1)
    trend = np.linspace(2, 0, STEPS)
    called = [bool(loss_that_did_not_fall((draws.normal(size=STEPS) + trend).tolist())) for _ in range(200)]
    assert sum(called) <= 2
    flat = [bool(loss_that_did_not_fall(draws.normal(size=STEPS).tolist())) for _ in range(200)]
    assert sum(flat) >= 100


def test_losses_of_encoders_that_learn_are_not_compared(tmp_path):
    def write(**more):
        lines = [json.dumps({"step": step, "loss": float(step), **more}) for step in range(3)]
        (tmp_path / METRICS).write_text("\n".join(lines))

    write(network_accuracy=0.5)
    assert read_losses(tmp_path, 3) == []
    write()
    assert read_losses(tmp_path, 2) == [0, 1]
    assert read_losses(tmp_path / "none", 2) == []


def test_the_share_of_predictions_is_that_of_numpy_and_is_not_known_of_older_findings():
    named, labels = torch.tensor([0, 0, 2, 2]), torch.tensor([0, 1, 2, 3])
    found = finding(named, labels, 4, MATCH, MATCH)
    assert found["predicted"] == (np.bincount(named.numpy(), minlength=4) / 4).tolist()
    other = finding(torch.tensor([0, 3, 2, 2]), labels, 4, MATCH, MATCH)
    both = score_networks(2, lambda j: (4, (found, other)[j]), lambda count, metrics: None)
    assert both.predicted == pytest.approx((0.375, 0, 0.5, 0.125))
    del other["predicted"]
    assert score_networks(2, lambda j: (4, (found, other)[j]), lambda count, metrics: None).predicted == ()


def test_a_class_that_is_never_predicted_is_named(healthy, source):
    score = Score(6, (0.5,), MATCH, MATCH, (1.0, 0.0, 0.5), (0.7, 0.0, 0.3))
    (line,) = faults(healthy, source, score)
    assert "1 of 3 classes (b)" in line
    untested = replace(score, by_class=(1.0, None, 0.5))
    assert faults(healthy, source, untested) == [], "it has no test records"
    assert faults(healthy, source, replace(score, predicted=())) == [], "not known of an older score"
    without = replace(
        healthy, data=healthy.data[healthy.labels != 1], labels=healthy.labels[healthy.labels != 1]
    )
    assert "no record of b" in faults(without, source, score)[0]


def test_evaluations_and_pages_warn(healthy, source, tmp_path, monkeypatch):
    monkeypatch.setitem(lqm.graphs.evaluation.PROTOCOLS, PROTOCOL.name, PROTOCOL)
    replace(healthy, data=torch.zeros_like(healthy.data)).save(tmp_path / "dead")
    found = lqm.evaluate(tmp_path / "dead", source=source, show_progress=False, baselines=())
    assert any("all 0" in line for line in found.warnings)
    assert any("never predicted" in line for line in found.warnings)
    assert all(f"warning: {line}" in str(found) for line in found.warnings)
    page = read_page(lqm.write_report(tmp_path / "dead", source=source)).words
    assert all(f"Warning: {line}." in page for line in found.warnings)
    healthy.save(tmp_path / "healthy")
    assert lqm.evaluate(tmp_path / "healthy", source=source, show_progress=False, baselines=()).warnings == ()


def test_a_finished_run_that_is_opened_again_is_checked_too(source, tmp_path, capsys):
    settings = {"steps": 4, "width": 8, "lengths": "free", "learning_rate": 50.0}
    told = []
    for _ in range(2):
        lqm.condense(source, budget=6, settings=settings, out=tmp_path, show_progress=False)
        told.append([line for line in capsys.readouterr().err.splitlines() if "warning: " in line])
    assert len(told[0]) == 1
    assert told[0] == told[1]

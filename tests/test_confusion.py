"""Which classes are confused: as scikit-learn counts it, over networks, and in manifests."""

import numpy as np
import pytest
import torch
from sklearn.metrics import confusion_matrix

import lqm
from lqm.evaluation.confusion import MOST_PAIRS, confusions, from_stored, mean_confusions, to_stored
from lqm.evaluation.latents import LatentMatch
from lqm.evaluation.scores import finding, score_networks
from lqm.evaluation.table import scores_in
from lqm.images.evaluation import PROTOCOLS
from lqm.utils.errors import ArtifactError
from tests.report.making import PROTOCOL, chosen, tiny_source

MATCH = LatentMatch(0.1, 0.0)


def matrix(pairs, classes):
    found = np.zeros((classes, classes))
    for label, named, share in pairs:
        found[label, named] = share
    return found


def drawn(seed, count=200, classes=7):
    draws = torch.Generator().manual_seed(seed)
    return torch.randint(classes, (count,), generator=draws)


def oracle(named, labels, classes=7):
    found = confusion_matrix(labels, named, labels=range(classes), normalize="true")
    return found - np.diag(np.diag(found))


def test_shares_are_those_of_scikit_learn():
    labels, named = drawn(0), drawn(1)
    assert matrix(confusions(named, labels, 7), 7) == pytest.approx(oracle(named, labels))
    assert confusions(labels, labels, 7) == []


def test_a_score_has_the_mean_over_networks_and_the_seconds_of_one():
    labels, networks = drawn(0), [drawn(1), drawn(2), drawn(3)]
    findings = [finding(named, labels, 7, MATCH, MATCH, 1.0 + j) for j, named in enumerate(networks)]
    found = score_networks(3, lambda j: (5, findings[j]), lambda count, metrics: None)
    expected = np.mean([oracle(named, labels) for named in networks], axis=0)
    assert matrix(found.confused, 7) == pytest.approx(expected)
    assert found.training_seconds == pytest.approx(2.0)
    for each in findings:
        del each["confused"], each["training"]
    old = score_networks(3, lambda j: (5, findings[j]), lambda count, metrics: None)
    assert old.confused == ()
    assert not old.knows_confused
    assert old.training_seconds is None
    assert "training_seconds" not in old.stored


def test_networks_that_make_no_mistake_confuse_nothing():
    labels = drawn(0)
    right = finding(labels, labels, 7, MATCH, MATCH)
    found = score_networks(1, lambda j: (5, right), lambda count, metrics: None)
    assert found.confused == ()
    assert found.knows_confused


def test_a_manifest_has_the_most_frequent_pairs_of_many_classes():
    labels, named = drawn(0, 3000, 60), drawn(1, 3000, 60)
    every = confusions(named, labels, 60)
    assert len(every) > MOST_PAIRS
    kept = from_stored(to_stored(every))
    assert len(kept) == MOST_PAIRS
    assert {*kept} < {*every}
    assert min(share for *_, share in kept) >= max(share for *_, share in {*every} - {*kept})


def test_a_pair_that_one_list_left_out_has_no_mean():
    cut = [(0, place + 1, 0.5) for place in range(MOST_PAIRS)]
    whole = [(0, 1, 0.1), (9, 0, 0.3)]
    assert mean_confusions([cut, whole])[0] == (0, 1, 0.3)
    assert (9, 0) not in [pair[:2] for pair in mean_confusions([cut, whole])]
    assert mean_confusions([whole, []]) == ((0, 1, 0.05), (9, 0, 0.15))


def test_evaluations_note_pairs_and_seconds_and_refuse_those_of_other_classes(tmp_path, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "tiny", PROTOCOL)
    source = tiny_source()
    condensed = chosen(source, tmp_path / "run")
    found = lqm.evaluate(condensed, source=source, protocol="tiny", baselines=("full",), show_progress=False)
    manifest = lqm.load(tmp_path / "run").manifest
    own, full = scores_in(manifest)
    assert own.confused == found.score.confused
    assert full.training_seconds == found.baselines["full"].training_seconds > 0
    manifest["scores"][0]["confused"] = {"0": {"3": 0.5}}
    condensed.with_score(manifest["scores"][0])
    with pytest.raises(ArtifactError, match=r"no 'scores.0.confused' of these classes"):
        lqm.write_report(tmp_path / "run", source=source)

"""Real nodes that older versions scored had features of their own; they are not taken for today's."""

from dataclasses import asdict

import pytest

import lqm
from lqm.evaluation.latents import LatentMatch
from lqm.evaluation.scores import Score
from lqm.evaluation.table import read_scores
from lqm.graphs.evaluation import PROTOCOLS
from tests.graphs.test_evaluation import PROTOCOL, a_set, a_source
from tests.report.making import chosen, read_page, tiny_source

MATCH = LatentMatch(0.1, 0.0)
RULES = ("random", "herding", "k-centre")


def stored(accuracy, records=6, *, old=True):
    """A score as a manifest holds it: older versions say nothing of what was predicted."""
    found = Score(records, (accuracy, accuracy + 0.001), MATCH, MATCH).stored
    return {name: value for name, value in found.items() if name != "predicted" or not old}


def entry(accuracy, baselines, *, old=True, **more):
    kept = {"protocol": asdict(PROTOCOL), "seed": 0, "accuracy": accuracy, **stored(accuracy, old=old)}
    return kept | {"baselines": baselines} | more


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """A set that an older version has scored, beside nodes with features of their own and the whole graph."""
    monkeypatch.setitem(PROTOCOLS, "tiny", PROTOCOL)
    baselines = {rule: stored(0.4) for rule in RULES} | {"full": stored(0.8, 100)}
    return a_set(a_source()).save(tmp_path / "run").with_score(entry(0.7, baselines)).path


def by_name(folder):
    return {row.training_set: row.accuracies[0] for row in read_scores([lqm.load(folder)])}


def test_old_nodes_have_the_names_of_nodes_with_their_own_features(saved):
    expected = {"condensed": 0.7, "full": 0.8} | {f"{rule}-raw": 0.4 for rule in RULES}
    assert by_name(saved) == expected
    page = read_page(lqm.write_report(saved, source=a_source())).words
    assert "points over" not in page
    assert "not compared with random nodes" in page
    assert "random-raw" in page


def test_a_new_score_stands_beside_the_old_ones(saved):
    new = {"random": stored(0.6, old=False)}
    lqm.load(saved).with_score(entry(0.7, new, old=False))
    found = by_name(saved)
    assert found["random"] == 0.6
    assert {name: value for name, value in found.items() if name.endswith("-raw")} == {
        f"{rule}-raw": 0.4 for rule in RULES
    }
    assert "points over 6 random nodes" in read_page(lqm.write_report(saved, source=a_source())).words


def test_nodes_scored_anew_with_their_own_features_replace_the_old_score(saved):
    lqm.load(saved).with_score(entry(0.7, {"random-raw": stored(0.5, old=False)}, old=False))
    assert by_name(saved)["random-raw"] == 0.5


def test_an_old_score_that_was_kept_beside_a_new_one_is_told_from_it(saved):
    """As versions between the two have merged them: the set's score is new, that of herding is old."""
    mixed = {"herding": stored(0.4), "random": stored(0.6, old=False)}
    lqm.load(saved).with_score(entry(0.7, mixed, old=False, seed=1))
    rows = [row for row in read_scores([lqm.load(saved)]) if row.evaluation_seed == 1]
    assert {row.training_set for row in rows} == {"condensed", "herding-raw", "random"}


def test_images_keep_their_names(tmp_path):
    condensed = chosen(tiny_source(), tmp_path)
    condensed.with_score(entry(0.7, {"random": stored(0.4)}))
    assert by_name(tmp_path) == {"condensed": 0.7, "random": 0.4}

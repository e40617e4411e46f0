"""The first line of an evaluation: better, level or worse than random real records, by SciPy's test."""

from dataclasses import asdict

import numpy as np
import pytest
from scipy.stats import ttest_ind

import lqm
from lqm.evaluation.latents import LatentMatch
from lqm.evaluation.scores import Score
from lqm.evaluation.verdict import verdict_of
from lqm.images.evaluation import PROTOCOLS
from tests.report.making import read_page

MATCH = LatentMatch(0.1, 0.0)


def score(accuracies, records=100):
    return Score(records, tuple(accuracies), MATCH, MATCH)


def of(condensed, random=None, full=None, records="images", **more):
    scores = {"condensed": condensed, "random": random, "full": full}
    return verdict_of({name: own for name, own in scores.items() if own}, records, "more steps", **more)


def test_a_set_that_is_better_comes_with_the_points():
    found = of(score([0.66, 0.67, 0.68]), score([0.60, 0.61, 0.62]), score([0.85, 0.86], 2000))
    assert found == "+6.0 points over 100 random images, 18.5 below all 2,000"


def test_a_set_that_is_worse_is_not_to_be_used():
    found = of(score([0.22, 0.23, 0.22], 24), score([0.33, 0.34, 0.33], 24), records="nodes")
    assert found.startswith("WORSE than 24 random nodes")
    assert "do not use this set" in found
    assert "more steps" in found


def test_sets_whose_networks_are_all_alike_are_level_without_noise():
    found = of(score([1.0, 1.0], 15), score([1.0, 1.0], 15), score([1.0], 90))
    assert found == "level with 15 random images, network by network, level with all 90: no gain shown"


@pytest.mark.parametrize("seed", range(20))
def test_sets_are_level_where_scipys_test_by_welch_finds_no_difference(seed):
    draws = np.random.default_rng(seed)
    one, other = draws.normal(0.62, 0.02, 4), draws.normal(0.6, 0.01, 4)
    found = of(score(one), score(other))
    clear = ttest_ind(one, other, equal_var=False).pvalue < 0.05
    assert found.startswith("can't be told from") == (not clear)


def test_one_network_makes_no_verdict_and_what_was_not_evaluated_is_left_out():
    found = of(score([0.9]), score([0.2]))
    assert "too few" in found
    assert "WORSE" not in found
    alone = of(score([0.9, 0.9]))
    assert "not compared with random" in alone
    assert "all" not in alone
    assert "10.0 below all 2,000" in of(score([0.9, 0.9]), full=score([1.0, 1.0], 2000))
    assert "level with all 2,000" in of(score([0.9, 0.9]), full=score([0.9, 0.9], 2000))


def test_points_below_all_records_are_named_even_within_the_noise():
    condensed, full = [0.70, 0.72, 0.71, 0.73], [0.80, 0.88]
    apart = ttest_ind(condensed, full, equal_var=False)
    assert apart.pvalue > 0.05, "two networks are too few to tell"
    low, high = apart.confidence_interval(0.95)
    found = of(score(condensed), full=score(full, 1000))
    assert f"12.5 below all 1,000 (within the noise of {50 * (high - low):.1f})" in found
    assert "level" not in found
    assert "12.5 above all 100 (within" in of(score(full, 1000), full=score(condensed))
    assert "noise" not in of(score([0.71, 0.71, 0.72]), full=score([0.84, 0.84], 1000))
    assert "level with all 1,000" in of(score([0.7, 0.8]), full=score([0.7502], 1000))


@pytest.mark.parametrize(
    ("accuracy", "said"),
    [(0.55, "5.0 points below 100"), (0.65, "+5.0 points over 100"), (0.6002, "level with 100")],
)
def test_the_side_of_one_network_is_named(accuracy, said):
    assert of(score([accuracy]), score([0.6])).startswith(f"{said} random images")


def test_mosaics_are_counted_beside_their_cells():
    found = of(score([0.8, 0.8], 400), score([0.5, 0.5]), mosaics=100)
    assert "over 100 random images (100 mosaics = 400 images)" in found


@pytest.fixture
def saved(monkeypatch, tiny_protocol, tiny, tmp_path):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    made = {"student_batch": 16, "student_steps": 1, "queue_interval": 2, "mosaic": 2}
    lqm.condense("digits", method="idm", per_class=2, settings=tiny | made, out=tmp_path, show_progress=False)
    return tmp_path


def test_commands_python_and_the_page_begin_with_the_verdict_and_count_mosaics(saved, type_in):
    found = lqm.evaluate(saved, protocol="tiny", baselines="random", show_progress=False)
    expected = verdict_of(found.rows, "images", lqm.images.evaluation.IMAGES.remedies, mosaics=20)
    assert found.verdict == expected
    assert str(found).startswith(expected)
    assert "| condensed | 20 mosaics = 80 |" in str(found)
    code, out, _ = type_in("evaluate", saved, "--protocol", "tiny", "--baselines", "random")
    assert code == 0
    assert out.splitlines()[0] == expected
    assert "20 mosaics" in out
    page = read_page(lqm.write_report(saved)).words
    assert page.index(expected) < page.index("How good is it?")
    assert "20 mosaics = 80" in page
    assert "2 mosaics = 8 images a class" in page
    assert "2 mosaics" in type_in("compare", saved)[1]


def test_scores_of_older_versions_have_a_verdict_too(saved):
    condensed = lqm.load(saved)
    own, random = score([0.5, 0.5], 80).stored, score([0.9, 0.9], 20).stored
    for stored in (own, random):
        del stored["predicted"], stored["confused"]
    entry = {"protocol": asdict(PROTOCOLS["tiny"]), "seed": 0, "accuracy": 0.5, **own}
    entry["baselines"] = {"random": random}
    condensed.with_score(entry)
    assert "WORSE than 20 random images" in read_page(lqm.write_report(saved)).words


def test_the_command_prints_warnings_as_lines_of_their_own(saved, type_in, monkeypatch):
    monkeypatch.setattr("lqm.api.evaluate.faults_of", lambda *given: ["nodes are dead", "lengths drift"])
    _, out, err = type_in("evaluate", saved, "--protocol", "tiny", "--baselines", "none")
    assert [line for line in err.splitlines() if line.startswith("lqm: warning")] == [
        "lqm: warning: nodes are dead",
        "lqm: warning: lengths drift",
    ]
    assert "not compared with random" in out.splitlines()[0]

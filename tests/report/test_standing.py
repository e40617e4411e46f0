"""What sets scored, side by side: the numbers of `lqm.evaluate`, put together."""

from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean, stdev

import pytest
import torch

from lqm.condensed import CondensedImages
from lqm.evaluation.standing import standings
from tests.report.making import PROTOCOL, case_of, cases_of


@pytest.fixture(scope="module")
def standing(judged):
    cases = cases_of(judged.runs.values())
    assert [case.label for case in cases] == ["dm + mean", "dm + lqm", "random"]
    (found,) = standings(cases)
    return found


def entry(accuracies=(0.5, 0.7), seed=0, protocol=PROTOCOL, records=20, **more):
    """A score as `lqm.evaluate` notes it."""
    match = {"cramer_von_mises": 0.25, "extremes": 0.015}
    return {
        "protocol": asdict(protocol),
        "seed": seed,
        "accuracy": fmean(accuracies),
        "records": records,
        "accuracies": list(accuracies),
        "before": match,
        "after": match,
        **more,
    }


def baseline(accuracy, records=20):
    found = entry((accuracy,), records=records)
    return {name: part for name, part in found.items() if name not in ("protocol", "seed", "accuracy")}


def case(*scores, label="dm + lqm"):
    manifest = {"scores": list(scores)} if scores else {}
    return case_of(label, CondensedImages(None, torch.arange(2), ("a", "b"), manifest), Path("run"))


def bars(*cases):
    (found,) = standings(cases)
    return {(bar.name, bar.case): bar for bar in found.bars}


def test_a_set_scores_what_its_evaluation_found(standing, judged):
    scores = [found.score for found in judged.found["mean"]]
    bar = standing.of_case(0)
    assert (bar.name, bar.records, bar.case) == ("dm + mean", 20, 0)
    assert bar.accuracies == scores[0].accuracies
    assert bar.accuracy == scores[0].accuracy
    assert bar.deviation == scores[0].deviation
    assert bar.by_class == scores[0].by_class
    assert (bar.before, bar.after) == (scores[0].before, scores[0].after)
    assert standing.protocol == PROTOCOL


def test_evaluations_by_two_seeds_are_pooled(judged):
    one, two = (found.score for found in judged.found["lqm"])
    (standing,) = standings(cases_of([judged.runs["lqm"]]))
    assert standing.seeds == (0, 1)
    bar = standing.of_case(0)
    assert bar.accuracies == one.accuracies + two.accuracies
    assert bar.accuracy == pytest.approx(fmean(one.accuracies + two.accuracies))
    assert bar.deviation == pytest.approx(stdev(one.accuracies + two.accuracies))
    assert bar.by_class == pytest.approx([fmean(p) for p in zip(one.by_class, two.by_class, strict=True)])
    assert bar.before.cramer_von_mises == fmean([one.before.cramer_von_mises, two.before.cramer_von_mises])
    assert bar.before.by_network == one.before.by_network + two.before.by_network
    assert len(bar.before.by_network) == 4


def by_network(*statistics):
    return {"cramer_von_mises": fmean(statistics), "extremes": 0.0, "by_network": [*statistics]}


def test_statistics_are_in_the_order_of_their_networks_whatever_was_judged_first():
    scores = [entry(seed=seed, before=by_network(seed, seed + 0.5)) for seed in (0, 1)]
    (found,) = standings([case(*scores), case(*reversed(scores), label="b")])
    assert found.paired
    assert found.of_case(0).before == found.of_case(1).before
    assert found.of_case(0).before.by_network == (0, 0.5, 1, 1.5)


def test_sets_judged_by_no_common_seed_are_not_paired():
    (found,) = standings([case(entry(seed=0)), case(entry(seed=1), label="b")])
    assert not found.paired
    assert found.seeds == (0, 1)


def test_statistics_by_network_are_unknown_where_one_score_has_none():
    (found,) = standings([case(entry(seed=0), entry(seed=1, before=by_network(0.1, 0.2)))])
    assert found.of_case(0).before.by_network == ()


def test_baselines_of_all_cases_stand_there_once(standing, judged):
    real = {bar.name: bar for bar in standing.bars if bar.case is None}
    assert {*real} == {"random, baseline", "herding", "full"}
    mean, lqm = (judged.found[name][0].rows for name in ("mean", "lqm"))
    assert mean["random"] == lqm["random"]
    assert standing.real("random")[0].accuracies == mean["random"].accuracies
    assert real["herding"].accuracies == lqm["herding"].accuracies
    assert real["full"].accuracies == mean["full"].accuracies
    assert real["full"].records == 1442
    assert standing.full is real["full"]
    assert standing.real("k-centre") == []


def test_a_set_by_the_method_random_is_not_taken_for_the_baseline(standing, judged):
    own, (other,) = standing.of_case(2), standing.real("random")
    assert (own.name, own.case) == ("random", 2)
    assert (other.name, other.case) == ("random, baseline", None)
    assert own.accuracies == judged.found["real"][0].score.accuracies
    assert own.accuracies != other.accuracies


def test_bars_rise(standing):
    found = [bar.accuracy for bar in standing.bars]
    assert found == sorted(found)
    assert len(found) == 6


def test_the_way_that_judged_most_sets_comes_first():
    other = replace(PROTOCOL, epochs=9)
    one = case(entry(protocol=other), entry(seed=1, protocol=other), entry(seed=2, protocol=other))
    found = standings([one, case(entry(), label="b"), case(entry(), entry(seed=1), label="c")])
    assert [standing.protocol.epochs for standing in found] == [PROTOCOL.epochs, 9]
    assert [bar.name for bar in found[0].bars] == ["b", "c"]
    assert [bar.name for bar in found[1].bars] == ["dm + lqm"]
    assert found[0].of_case(0) is None
    assert len(found[1].of_case(0).accuracies) == 6


@pytest.mark.parametrize("change", [{"learning_rate": 0.5}, {"network": "mlp"}, {"networks": 7}])
def test_what_was_judged_in_another_way_never_shares_a_standing(change):
    found = standings([case(entry()), case(entry(protocol=replace(PROTOCOL, **change)), label="b")])
    assert len(found) == 2


def test_a_way_with_networks_of_the_users_own_is_read():
    (found,) = standings([case(entry(protocol=replace(PROTOCOL, network="own:linear")))])
    assert found.protocol.kind == "linear"


def test_baselines_of_different_sizes_are_told_apart():
    condensed = case(entry(baselines={"random": baseline(0.3), "full": baseline(0.9, 1442)}))
    large = case(
        entry(records=100, baselines={"random": baseline(0.4, 100), "full": baseline(0.9, 1442)}), label="b"
    )
    found = bars(condensed, large)
    assert found["random, 20", None].accuracy == 0.3
    assert found["random, 100", None].accuracy == 0.4
    assert ("full", None) in found
    (standing,) = standings([condensed, large])
    assert {bar.records: bar.accuracy for bar in standing.real("random")} == {20: 0.3, 100: 0.4}


def test_a_baseline_that_two_seeds_judged_is_pooled_and_one_that_two_cases_share_is_not():
    first = entry(baselines={"random": baseline(0.3)})
    second = entry(seed=1, baselines={"random": baseline(0.5)})
    found = bars(case(first, second), case(first, second, label="b"))
    assert found["random", None].accuracies == (0.3, 0.5)


def test_only_seeds_that_all_cases_were_judged_by_count():
    one = case(entry((0.5,)), entry((0.9,), seed=1, baselines={"random": baseline(0.3)}))
    (standing,) = standings([one, case(entry((0.6,)), label="b")])
    assert standing.seeds == (0,)
    assert [bar.accuracies for bar in standing.bars] == [(0.5,), (0.6,)]
    one = case(entry((0.5,)), entry((0.9,), seed=1, baselines={"full": baseline(0.95, 1442)}))
    (standing,) = standings([one, case(entry((0.6,)), label="b")])
    assert standing.full.accuracy == 0.95, "which is known, and is of no set"
    (apart,) = standings([case(entry((0.5,))), case(entry((0.6,), seed=1), label="b")])
    assert apart.seeds == (0, 1), "all of them where none is shared"


def test_of_ways_that_judged_as_many_sets_the_one_that_they_ask_for_comes_first():
    other, asked = replace(PROTOCOL, epochs=9), {"evaluation": asdict(PROTOCOL)}
    cases = [case(entry(protocol=other), entry(), label=label) for label in "ab"]
    for one in cases:
        one.condensed.manifest.update(asked)
    assert [standing.protocol.epochs for standing in standings(cases)] == [PROTOCOL.epochs, 9]


def test_manifests_of_older_versions_without_classes_and_baselines_are_read():
    found = bars(case(entry()), case(entry(by_class=[0.25, 0.75]), label="b"))
    assert found["dm + lqm", 0].by_class == ()
    assert found["b", 1].by_class == (0.25, 0.75)
    mixed = bars(case(entry(), entry(seed=1, by_class=[0.25, 0.75])))
    assert mixed["dm + lqm", 0].by_class == (0.25, 0.75)


def test_a_class_without_test_records_has_no_share():
    found = bars(case(entry(by_class=[None, 0.5]), entry(seed=1, by_class=[None, 1.0])))
    assert found["dm + lqm", 0].by_class == (None, 0.75)


def test_sets_that_were_never_judged_have_no_standing():
    assert standings([case(), case(label="b")]) == []
    (found,) = standings([case(), case(entry(), label="b")])
    assert found.of_case(0) is None
    assert found.of_case(1).name == "b"

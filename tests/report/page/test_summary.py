"""The first answers: each follows from the scores, or from the latents where there are none."""

from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
import torch
from scipy.stats import ttest_1samp

import lqm
from lqm import write_report
from lqm.condensed import CondensedImages, CondensedNodes
from lqm.evaluation.cases import latents_of
from lqm.evaluation.latents import LatentMatch
from lqm.evaluation.spread import in_points
from lqm.evaluation.standing import Bar, Standing, standings
from lqm.graphs.evaluation import PROTOCOLS as NODE_PROTOCOLS
from lqm.report.page.contest import contest
from lqm.report.page.summary import answers
from tests.report.making import PROTOCOL, case_of, cases_of, chosen, read_page, tiny_source


def case(label, per_class=10, folder="run", method=None, seed=0):
    labels = torch.arange(2).repeat_interleave(per_class)
    manifest = {
        "per_class": per_class,
        "evaluation": asdict(PROTOCOL),
        "method": method or label,
        "seed": seed,
    }
    manifest |= {"distance": None, "steps": 1, "settings": {}}
    condensed = CondensedImages(None, labels, ("cat", "dog"), manifest)
    return case_of(label, condensed, Path(folder))


def bar(name, number, accuracies, records=20, by_class=(), cvm=0.25, after=0.5, by_network=()):
    matches = LatentMatch(fmean(by_network) if by_network else cvm, 0.0, by_network), LatentMatch(after, 0.0)
    rule = "condensed" if number is not None else name.split(",")[0]
    found = records, tuple(accuracies), *matches, tuple(by_class)
    return Bar(*found, name=name, case=number, training_set=rule)


def asked(cases, *bars, latents=None, tested=None, paired=True):
    standing = Standing(PROTOCOL, list(bars), paired=paired) if bars else None
    return {answer.question: answer for answer in answers(cases, standing, latents, tested)}


CASES = [case("a"), case("b")]
GOOD, FAR = "How good is it?", "How far from all real data?"
MATCHED, WORST = "How well is the distribution matched?", "Which class is worst?"
WORST_MATCHED = "Which class is worst matched?"


def test_accuracies_come_with_their_deviation():
    found = asked(CASES, bar("a", 0, [0.5, 0.7]), bar("b", 1, [0.9]), tested=355)[GOOD]
    assert [(line.case, line.value, line.more) for line in found.lines] == [
        (0, "60.0 %", "± 14.1"),
        (1, "90.0 %", ""),
    ]
    judges = "networks trained on it name rightly (tiny)."
    assert found.note.splitlines()[0] == f"The share of the 355 test images that {judges}"
    assert "of the test images" in asked(CASES, bar("a", 0, [0.5]))[GOOD].note


def test_the_way_to_all_real_data_is_in_points():
    full, random = bar("full", None, [0.95], 1442), bar("random", None, [0.4])
    found = asked(CASES, bar("a", 0, [0.6]), bar("b", 1, [0.97]), full, random)[FAR]
    assert [line.value for line in found.lines] == ["\N{MINUS SIGN}35.0", "+2.0"]
    assert {line.more for line in found.lines} == {"points"}
    assert found.note == "All 1,442 real images give 95.0 %; 20 random ones, 40.0 %."
    more = bar("random, 100", None, [0.8], 100)
    note = asked(CASES, bar("a", 0, [0.6]), full, random, more)[FAR].note
    assert note.endswith("; 20 random ones, 40.0 %; 100 random ones, 80.0 %.")
    found = asked(CASES, bar("a", 0, [0.6]), random)[FAR]
    assert [line.value for line in found.lines] == ["not measured", "not evaluated"]
    assert found.note == "Run lqm evaluate run --baselines full to find out."


@pytest.mark.parametrize(
    ("change", "seed", "said"),
    [
        ({"name": "other"}, 0, "--protocol other"),
        ({"network": "mlp"}, 3, "--networks mlp --seed 3"),
        ({"epochs": 9}, 1, "--seed 1"),
    ],
)
def test_the_command_that_measures_all_real_data_names_what_is_not_the_sets_own(change, seed, said):
    standing = Standing(replace(PROTOCOL, **change), [bar("a", 0, [0.6])], (seed, 7))
    note = answers(CASES, standing, None, None)[1].note
    assert note == f"Run lqm evaluate run {said} --baselines full to find out."
    own = Standing(replace(PROTOCOL, network="own:mine"), [bar("a", 0, [0.6])])
    expected = "Call lqm.evaluate with the network mine and baselines=('full',) to find out."
    assert answers(CASES, own, None, None)[1].note == expected
    assert (
        "\nCall lqm.evaluate with the network mine to evaluate the others."
        in answers(CASES, own, None, None)[0].note
    )


EIGHT = [0.5, 0.6, 0.7, 0.8, 0.5, 0.6, 0.7, 0.8]


@pytest.mark.parametrize(
    ("accuracies", "apart", "said"),
    [
        (
            [x + 0.1 for x in EIGHT],
            True,
            "b is 10.0 points ahead of a (ahead under 8 of 8 networks; one cond",
        ),
        ([0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.6, 0.7], False, "(b is ahead under 6 of 8 networks"),
        (EIGHT, False, "is ahead under 0 of 8 networks"),
        ([0.9, 0.9, 0.9, 0.9], False, "(b is ahead under 4 of 4 networks; fewer than 6 are too few"),
    ],
)
def test_the_best_set_is_named_if_the_networks_agree(accuracies, apart, said):
    found = asked(CASES, bar("a", 0, EIGHT[: len(accuracies)]), bar("b", 1, accuracies))[GOOD]
    (line,) = found.note.splitlines()[1:]
    assert said in line
    assert ("can't be told apart" in line) == (not apart)


def test_sets_are_not_compared_if_their_networks_or_sizes_differ():
    for more in ({"paired": False}, {}):
        others = [bar("a", 0, [0.5, 0.6]), bar("b", 1, [0.6, 0.7], records=20 if more else 40)]
        assert asked(CASES, *others, **more)[GOOD].note.count("\n") == 0


def test_methods_are_compared_by_several_condensations_and_not_by_the_networks_of_one():
    cases = [case(f"{name} {seed}", method=name, seed=seed) for name in ("a", "b") for seed in range(6)]
    accuracies = [0.5] * 6 + [0.6, 0.7, 0.8, 0.6, 0.7, 0.8]
    bars = [bar(cases[i].label, i, [accuracies[i]] * 4, by_network=(accuracies[i],) * 4) for i in range(12)]
    found = asked(cases, *bars)
    low, high = ttest_1samp(np.subtract(accuracies[6:], accuracies[:6]), 0).confidence_interval(0.95)
    pairs = f"+20.0 points [{100 * low:+.1f}, {100 * high:+.1f}], 6 pairs, p = .031"
    assert f"b is 20.0 points ahead of a (ahead for 6 of 6 condensation seeds: {pairs})." in found[GOOD].note
    assert "a is 29 % lower than b (lower for 6 of 6 condensation seeds: p = .031)." in found[MATCHED].note
    few = [number for number in range(12) if number % 6 < 3]
    note = asked([cases[i] for i in few], *(replace(bars[i], case=n) for n, i in enumerate(few)))[GOOD].note
    assert "can't be told apart (b is ahead for 3 of 3 condensation seeds" in note
    assert "p = .250 (no less is possible)" in note


def test_methods_without_a_difference_are_rarely_called_different_by_their_seeds():
    draws = np.random.default_rng(0)
    cases = [case(f"{name} {seed}", method=name, seed=seed) for name in ("a", "b") for seed in range(5)]
    called = 0
    for accuracies in draws.normal(0.5, 0.02, (400, 10)).tolist():
        bars = {i: bar(cases[i].label, i, [accuracies[i]]) for i in range(10)}
        found = contest(bars, cases, lambda each: each.accuracy, lambda each: each.accuracies)
        called += found.sentence("clear", "ahead").startswith("clear")
    assert called / 400 < 0.08


@pytest.mark.parametrize(
    ("seeds", "one_of_each"),
    [({"a": [0], "b": [1]}, True), ({"a": [0, 1], "b": [2, 3]}, False), ({"a": [0, 1], "b": [0]}, False)],
)
def test_sets_of_methods_without_common_seeds_are_not_called_the_only_condensations(seeds, one_of_each):
    cases = [case(f"{name} {seed}", method=name, seed=seed) for name, own in seeds.items() for seed in own]
    bars = [
        bar(each.label, number, [x + 0.01 * number for x in EIGHT], by_network=under_six(0.4 - number / 10))
        for number, each in enumerate(cases)
    ]
    found = asked(cases, *bars)
    for note, among in ((found[GOOD].note, "8 of 8 networks"), (found[MATCHED].note, "6 of 6 networks")):
        assert among in note
        assert ("one condensation of each" in note) == one_of_each
        assert ("of more condensations" in note) == (not one_of_each)


def test_sets_that_were_not_judged_come_with_what_to_run():
    found = asked([*CASES, case("c", folder="other run")], bar("a", 0, [0.5]))[GOOD]
    assert [line.value for line in found.lines] == ["50.0 %", "not evaluated", "not evaluated"]
    assert found.note.splitlines()[1] == "Run lqm evaluate run and so on to evaluate the others."


def under_six(low):
    """A statistic under six networks, with the same mean."""
    return tuple(low + step * 1e-3 for step in (-3, -2, -1, 1, 2, 3))


def test_the_best_match_is_named_among_sets_of_one_size_only():
    one, other = bar("a", 0, [0.5], by_network=under_six(0.4)), bar("b", 1, [0.5], by_network=under_six(0.3))
    found = asked(CASES, one, other)[MATCHED]
    assert [line.value for line in found.lines] == ["0.400", "0.300"]
    assert "b is 25 % lower than a (lower under 6 of 6 networks; one condensation of each)" in found.note
    mixed = [case("a", 10), case("b", 20)]
    found = asked(mixed, one, replace(other, records=40))[MATCHED]
    assert "lower than" not in found.note
    assert "Only sets of as many records are to be compared" in found.note


def test_the_match_after_the_training_is_told_by_its_own_networks():
    one, other = bar("a", 0, [0.5], by_network=under_six(0.4)), bar("b", 1, [0.5], by_network=under_six(0.3))
    one, other = replace(one, after=other.before), replace(other, after=one.before)
    assert "After the training, a is 25 % lower than b" in asked(CASES, one, other)[MATCHED].note


@pytest.mark.parametrize("networks", [0, 1, 4])
def test_few_networks_call_no_set_lower(networks):
    one = bar("a", 0, [0.5], cvm=0.4, by_network=(0.3, 0.5, 0.4, 0.4)[:networks])
    other = bar("b", 1, [0.5], cvm=0.2, by_network=(0.1, 0.2, 0.2, 0.2)[:networks])
    for paired in (True, False):
        found = asked(CASES, one, other, paired=paired)[MATCHED]
        assert "lower than" not in found.note
    assert ("can't be told apart" in asked(CASES, one, other)[MATCHED].note) == (networks > 0)


def test_the_statistic_comes_with_its_spread():
    found = asked(CASES, bar("a", 0, [0.5], by_network=(0.3, 0.5, 0.4, 0.4)))[MATCHED]
    assert (found.lines[0].value, found.lines[0].more) == ("0.400", "± 0.082")


def test_sets_of_each_size_are_compared_among_themselves():
    cases = [case("a"), case("b"), case("c", 20), case("d", 20), case("e", 30)]
    statistics = [(20, 0.4), (20, 0.3), (40, 0.2), (40, 0.25), (60, 0.1)]
    judged = [
        bar(label, number, [0.5], records, by_network=under_six(cvm))
        for number, (label, (records, cvm)) in enumerate(zip("abcde", statistics, strict=True))
    ]
    random = [bar(f"random, {records}", None, [0.4], records, cvm=0.5) for records in (20, 60)]
    lines = asked(cases, *judged, *random)[MATCHED].note.splitlines()[1:]
    assert lines[0].startswith("20 random real ones: 0.500. b is 25 % lower than a (")
    assert lines[1].startswith("c is 20 % lower than d (")
    assert lines[2] == "60 random real ones: 0.500."


@pytest.mark.parametrize(("one", "other"), [(0.0, 0.0), (0.3, 0.3), (0.1, 0.0997)])
def test_of_sets_that_match_as_well_none_is_best(one, other):
    first, second = (
        bar(name, i, [0.5], by_network=(x,) * 6) for i, (name, x) in enumerate([("a", one), ("b", other)])
    )
    assert asked(CASES, first, second)[MATCHED].note.endswith("are equal.")


def test_the_worst_class_has_the_smallest_share_and_stands_beside_all_real_data():
    full = bar("full", None, [0.95], 1442, (0.9, 0.99))
    found = asked(
        CASES, bar("a", 0, [0.5], by_class=(0.8, 0.6)), bar("b", 1, [0.5], by_class=(0.95, 0.7)), full
    )[WORST]
    assert [(line.value, line.more) for line in found.lines] == [("dog", "60.0 %"), ("dog", "70.0 %")]
    assert found.note.endswith("; by networks trained on all real data: dog 99.0 %.")
    found = asked(CASES, bar("a", 0, [0.5], by_class=(None, None)), bar("b", 1, [0.5], by_class=(0.1, 0.7)))
    assert [(line.case, line.value) for line in found[WORST].lines] == [(1, "cat")]


def test_classes_that_are_as_bad_are_counted_and_where_all_are_none_is_worst():
    three = [case_of("a", replace(CASES[0].condensed, class_names=("cat", "dog", "fox")), Path("run"))]
    (line,) = asked(three, bar("a", 0, [0.5], by_class=(0.5, 0.1, 0.1)))[WORST].lines
    assert (line.value, line.more) == ("dog and 1 more", "10.0 %")
    assert WORST not in asked(three, bar("a", 0, [0.5], by_class=(0.5, 0.5, 0.5)))


def test_sets_that_another_way_judged_say_so():
    found = asked(CASES, bar("b", 1, [0.5], by_class=(0.1, 0.7)))
    assert len(found) == 4
    for answer in found.values():
        first, second = answer.lines
        assert (first.case, first.value, first.more) == (0, "not evaluated", "by tiny")
        assert second.case == 1


def test_random_real_records_of_as_many_are_what_a_match_is_held_against():
    cvms = bar("random", None, [0.4], 20, cvm=0.5), bar("random, 40", None, [0.4], 40, cvm=0.7)
    note = asked(CASES[:1], bar("a", 0, [0.5], 20), *cvms)[MATCHED].note
    assert "As many random real ones: 0.500." in note
    assert "0.700" not in note


def test_without_scores_and_real_data_there_is_one_answer_with_what_to_run():
    found = asked([case("a", folder="my runs/it's")])
    assert [*found] == [GOOD]
    assert [line.value for line in found[GOOD].lines] == ["not evaluated"]
    assert found[GOOD].note == """Run lqm evaluate 'my runs/it'"'"'s' to find out."""
    assert asked([case("a")])[GOOD].note == "Run lqm evaluate run to find out."


def test_without_scores_latents_answer(tmp_path):
    source = tiny_source()
    for seed in (0, 1):
        chosen(source, tmp_path / str(seed), seed=seed)
    cases = cases_of([tmp_path / "0", tmp_path / "1"])
    latents = latents_of(cases, source)
    found = asked(cases, latents=latents, tested=24)
    assert [*found] == [GOOD, MATCHED, WORST_MATCHED]
    assert [line.value for line in found[GOOD].lines] == ["not evaluated"] * 2
    assert [line.value for line in found[MATCHED].lines] == [f"{mean:.3f}" for mean in latents.means]
    for line, matches in zip(found[WORST_MATCHED].lines, latents.matches, strict=True):
        means = [match.statistic.mean().item() for match in matches.values()]
        assert line.value == f"class {means.index(max(means))}"
        assert line.more == f"{max(means):.3f}"
    assert "not evaluated yet" in found[WORST_MATCHED].note
    assert "lower than" not in found[MATCHED].note, "one network is too few to say"

    page = read_page(write_report([tmp_path / "0", tmp_path / "1"], source=source))
    assert "Run lqm evaluate 0 to find out." in page.words
    assert page.data["standings"] == []
    assert "accuracy" not in {attributes.get("id") for _, attributes in page.elements}


def test_scores_of_older_versions_without_classes_name_no_worst_one(judged, digits):
    cases = cases_of([judged.runs["mean"]])
    latents = latents_of(cases, digits)
    old = Standing(PROTOCOL, [bar("dm + mean", 0, [0.5], cvm=0.125)])
    found = {answer.question: answer for answer in answers(cases, old, latents, None)}
    assert found[MATCHED].lines[0].value == "0.125", "the evaluation's, where there is one"
    assert WORST not in found
    assert WORST_MATCHED not in found


def test_the_page_answers_by_the_evaluation(page):
    score = page.found["mean"][0].score
    words = page.read.words
    assert f"dm + mean {100 * score.accuracy:.1f} % ± {100 * score.deviation:.1f}" in words
    full = page.found["mean"][0].rows["full"]
    assert f"dm + mean {in_points(score.accuracy - full.accuracy)} points" in words
    worst = min(range(10), key=lambda label: score.by_class[label])
    others = sum(share == score.by_class[worst] for share in score.by_class) - 1
    named = f"class {worst} and {others} more" if others else f"class {worst}"
    assert f"dm + mean {named} {100 * score.by_class[worst]:.1f} %" in words
    (standing,) = standings(page.cases)
    assert f"dm + lqm {standing.of_case(1).before.cramer_von_mises:.3f}" in words
    assert f"The share of the {len(lqm.load_source('digits').test.labels)} test images" in words


def test_nodes_are_called_nodes():
    condensed = CondensedNodes(None, torch.tensor([0, 1, -1]), ("a", "b"), {"budget": 2})
    nodes = case_of("cat", condensed, Path("run"))
    standing = Standing(NODE_PROTOCOLS["cat-500"], [bar("cat", 0, [0.5])])
    assert "the 7 test nodes" in answers([nodes], standing, None, 7)[0].note
    assert nodes.records == 2

"""The banner says what sets are worth, in colour and in words, and never more than a test does."""

import pytest

from lqm.evaluation.standing import Standing
from lqm.report.page.banner import verdicts
from tests.report.making import PROTOCOL
from tests.report.page.test_summary import bar, case

GOOD, EVEN, BAD = [0.80, 0.82], [0.51, 0.49], [0.20, 0.22]
RANDOM = [0.50, 0.52]


def banner(cases, *bars):
    return verdicts(cases, Standing(PROTOCOL, list(bars)) if bars else None)


@pytest.mark.parametrize(
    ("accuracies", "tone", "word", "line"),
    [
        (GOOD, "good", "Better", "+30.0 points over 20 random images"),
        (EVEN, "even", "No gain shown", "can't be told from 20 random images"),
        (BAD, "bad", "Worse", "WORSE than 20 random images"),
        ([0.9], "even", "No gain shown", "by one network, which is too few to tell"),
    ],
)
def test_the_tone_is_that_of_the_difference_to_random_records(accuracies, tone, word, line):
    (found,) = banner([case("a")], bar("a", 0, accuracies), bar("random", None, RANDOM))
    assert (found.tone, found.word) == (tone, word)
    assert line in found.line
    assert not found.line.startswith("a: "), "a page of one set needs no name"


def test_what_was_not_compared_is_open():
    (found,) = banner([case("a")], bar("a", 0, GOOD))
    assert (found.tone, found.word) == ("open", "Not compared")
    (found,) = banner([case("a")])
    assert (found.tone, found.line) == ("open", "not evaluated")
    other = bar("random, 200", None, RANDOM, records=200)
    assert banner([case("a")], bar("a", 0, GOOD), other)[0].tone == "open", "random records of another number"


def test_each_of_several_sets_has_a_line_of_its_own():
    found = banner([case("a"), case("b")], bar("a", 0, GOOD), bar("b", 1, BAD), bar("random", None, RANDOM))
    assert [each.tone for each in found] == ["good", "bad"]
    assert [each.line[:3] for each in found] == ["a: ", "b: "]


def test_runs_that_differ_by_their_seed_alone_share_a_line():
    cases = [case("a", method="a", seed=seed) for seed in range(3)]
    bars = [bar(f"a, seed {seed}", seed, own) for seed, own in enumerate((GOOD, [0.90, 0.92], EVEN))]
    (found,) = banner(cases, *bars, bar("random", None, RANDOM))
    assert found.tone == "even", "the worst of them counts"
    assert found.line == (
        "a: \N{MINUS SIGN}1.0 to +40.0 points over as many random images; clearly better in 2 of 3 runs, "
        "not to be told apart in 1 of 3 runs"
    )
    (found,) = banner(cases, *bars)
    assert (found.tone, found.line) == ("open", "a, 3 runs: not compared with random images")

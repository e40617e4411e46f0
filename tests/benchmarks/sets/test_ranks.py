"""Tables of measured lines say what the lines say."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from benchmarks.sets import rehearsed
from benchmarks.sets.configurations import COUNT, configurations
from benchmarks.sets.ranks import Ranking, complete, kendall, means, spearman, table
from benchmarks.sets.replay import MEMORIES, Reservoir
from lqm.images.networks import check_spec
from lqm.utils.errors import ConfigError, DataError
from tools.measured import DOCS, PAGES, filled

MINUS = "\N{MINUS SIGN}"


def lines_of(accuracy, seeds=(0,), count=6):
    return [
        {
            "set": name,
            "seed": seed,
            "configuration": number,
            "validation": accuracy(name, number),
            "test": accuracy(name, number) - 0.05,
            "images": 10,
            "set_seconds": 2.0,
            "processor_seconds": 0.5,
        }
        for name, seed, number in product(("condensed", "random", "full"), seeds, range(count))
    ]


def test_thirty_configurations_are_always_the_same_and_can_be_made():
    found = configurations()
    assert len(found) == COUNT == 30
    assert found == configurations()
    assert len({each.network for each in found}) > 20
    for each in found:
        check_spec(each.network)


def test_regret_is_what_the_pick_lacks():
    ranking = Ranking(np.array([0.3, 0.9, 0.1]), np.array([0.8, 0.7, 0.9]))
    assert ranking.regret == pytest.approx(-0.2)
    assert Ranking(ranking.by_full, ranking.by_full).regret == 0


@pytest.mark.parametrize("ties", [False, True])
def test_correlations_are_those_of_scipy(ties):
    one, other = np.random.default_rng(1).normal(size=(2, 5, 12))
    if ties:
        one, other = one.round(), other.round()
    for row in range(5):
        assert spearman(one, other)[row] == pytest.approx(spearmanr(one[row], other[row]).statistic)
        assert kendall(one, other)[row] == pytest.approx(kendalltau(one[row], other[row]).statistic)
    low, high = Ranking(one[0], other[0]).interval(spearman)
    assert -1 <= low < spearman(one[0], other[0]) < high <= 1


def test_the_better_half_is_that_of_all_images():
    half = Ranking(np.array([4.0, 3, 2, 1]), np.array([1.0, 2, 3, 4])).of_better_half()
    assert half.by_full.tolist() == [4, 3]
    assert half.by_set.tolist() == [1, 2]


def test_a_seed_counts_once_all_its_lines_are_there():
    lines = lines_of(lambda name, number: number / 10, seeds=(0, 1))
    assert complete(lines) == lines
    assert {line["seed"] for line in complete(lines[:-1])} == {0}
    assert means(lines, "full", "validation").tolist() == pytest.approx([n / 10 for n in range(6)])


def test_configurations_count_once_every_set_has_them():
    lines = lines_of(lambda name, number: number / 10)
    assert {line["configuration"] for line in complete(lines[:-1])} == {0, 1, 2, 3, 4}
    with pytest.raises(DataError, match="measure on"):
        complete(lines[:6])


def test_the_table_has_the_correlation_of_each_set():
    ways = {"condensed": 1, "random": -1, "full": 1}
    printed = table(lines_of(lambda name, number: 0.5 + ways[name] * number / 20))
    condensed, random, full = printed.splitlines()[2:5]
    assert "| 1.00 (1.00 to 1.00) |" in condensed
    assert "| -1.00 (-1.00 to -1.00) |" in random
    assert condensed.endswith("| +0.0 |")
    assert random.endswith(f"| {MINUS}25.0 |")
    assert "| full | 10 | 2 | 3 | 57.5 |" in full
    assert "takes no less time than training on all images" in printed
    assert "6 configurations, 1 seed; on all images the best configuration has 70.0 %" in printed


def test_condensing_is_paid_back_by_what_training_saves():
    lines = lines_of(lambda name, number: number / 10)
    for line in lines:
        line["processor_seconds"] = 1.1 if line["set"] == "full" else 0.1
        line["set_seconds"] = 3.5 if line["set"] == "condensed" else 0.0
    assert "saves 1.0 s a configuration, and has paid for itself after 4 of them" in table(lines)


def test_memories_are_compared_in_pairs_of_seeds():
    lines = [
        {"memory": name, "seed": seed, "after": [1.0, value + seed / 100], "memory_seconds": 1.5}
        for name, value in (("none", 0.2), ("reservoir", 0.9), ("random", 0.8), ("condensed", 0.85))
        for seed in range(3)
    ]
    printed = rehearsed.table(lines)
    less = f"{MINUS}5.0 ({MINUS}5.0 to {MINUS}5.0)"
    assert f"| condensed | 86.0 ± 1.0 | 93.0 ± 0.5 | {less} | +5.0 (+5.0 to +5.0) | 1.5 |" in printed
    assert f"| none | 21.0 ± 1.0 | 60.5 ± 0.5 | {MINUS}70.0" in printed
    assert {"none", "random", "condensed"} < set(MEMORIES)


def test_a_reservoir_keeps_every_record_equally_often():
    import torch

    counts, draws = torch.zeros(20), torch.Generator().manual_seed(0)
    for _ in range(2000):
        reservoir = Reservoir(5, draws)
        reservoir.update((torch.zeros(12), torch.arange(12)))
        reservoir.update((torch.zeros(8), torch.arange(12, 20)))
        counts[reservoir.kept()[1]] += 1
    assert counts.sum() == 5 * 2000
    assert (counts / 2000 - 0.25).abs().max() < 0.05


@pytest.mark.parametrize("name", PAGES)
def test_pages_have_the_tables_of_their_lines(name):
    page = (DOCS / name).read_text(encoding="utf-8")
    assert "<!-- measured: " in page
    assert filled(page, DOCS / "results" / "measured") == page


def test_a_table_without_lines_says_how_to_measure_it():
    page = filled("<!-- measured: replay -->\nold\n<!-- end -->", Path("nowhere"))
    said = "Not measured yet; by `python -m benchmarks.sets.replay --out runs/replay`."
    assert page == f"<!-- measured: replay -->\n\n{said}\n\n<!-- end -->"


def test_a_table_that_is_not_known_is_refused():
    with pytest.raises(ConfigError, match="no table 'proxy-mnist'"):
        filled("<!-- measured: proxy-mnist -->\n<!-- end -->", Path("nowhere"))

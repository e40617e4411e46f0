"""Which runs stand against which, and their differences as SciPy finds them from stored accuracies."""

import json
import re
from dataclasses import asdict
from statistics import fmean
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from lqm import write_report
from lqm.evaluation.comparison import comparisons
from lqm.evaluation.contrasts import contrasts
from lqm.evaluation.paired import holm
from lqm.report.comparison import comparison_tables, stream_tables
from tests.report.making import PROTOCOL, chosen, read_page, rewritten, tiny_source
from tests.report.test_comparison import graph_run, run

DISTANCES = {"mean": 0.60, "lqm": 0.63, "wasserstein": 0.60}


def accuracies(distance, seed, networks=4):
    draws = np.random.default_rng([len(distance), seed])
    return tuple(draws.normal(DISTANCES[distance], 0.01, networks).tolist())


def runs(distances=DISTANCES, seeds=5, **options):
    return [
        run(distance=distance, seed=seed, scores=(accuracies(distance, seed),), **options)
        for distance in distances
        for seed in range(seeds)
    ]


def found(*sets):
    return [each for group in comparisons(sets) for each in contrasts([own.side for own in group.repeats])]


def named(*sets):
    return [(each.side, each.against, each.paired.pairs) for each in found(*sets)]


def points(number):
    return f"{100 * number:+.1f}".replace("-", "\N{MINUS SIGN}")


def expected_of(differences):
    """Points, t interval and sign-flip p-value by SciPy."""
    interval = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    flips = stats.permutation_test((np.array(differences),), np.sum, permutation_type="samples")
    low, high = map(points, interval)
    return points(fmean(differences)), f"[{low}, {high}]", flips.pvalue


@pytest.fixture
def seeds(tmp_path):
    """Five condensation seeds of two distances: the folders, and SciPy's statistics of their manifests."""
    source, each = tiny_source(), {}
    for distance in ("mean", "lqm"):
        for seed in range(5):
            folder = tmp_path / f"{distance}-{seed}"
            chosen(source, folder, seed=seed)
            made = run(distance=distance, seed=seed, scores=(accuracies(distance, seed),)).manifest
            made["scores"][0]["protocol"] = asdict(PROTOCOL)
            rewritten(folder, **{name: made[name] for name in ("method", "distance", "steps", "scores")})
            stored = json.loads((folder / "manifest.json").read_text())
            each[distance, seed] = fmean(stored["scores"][0]["accuracies"])
    expected = expected_of([each["lqm", seed] - each["mean", seed] for seed in range(5)])
    return SimpleNamespace(folders=sorted(tmp_path.iterdir()), expected=expected)


def test_the_command_prints_what_scipy_makes_of_the_manifests(seeds, type_in):
    code, printed, errors = type_in("compare", *seeds.folders)
    assert code == 0, errors
    mean, interval, p = seeds.expected
    (line,) = [line for line in printed.splitlines() if line.strip().startswith("dm + lqm")]
    assert " ".join(line.split()).startswith(
        f"dm + lqm mean {mean} {interval} 5 {p:.3f}".replace(" 0.", " .")
    )
    assert "5 pairs give no p below 1/16" in printed
    assert "Student's t" in printed


def test_the_page_has_the_same_statistics(seeds, tmp_path):
    page = read_page(write_report(seeds.folders, tmp_path / "page.html")).words
    mean, interval, p = seeds.expected
    assert f"dm + lqm mean {mean} {interval} [" in page
    assert f"] 5 {p:.3f}".replace(" 0.", " .") in page
    assert f"5 condensation seeds: {mean} points {interval}, 5 pairs, p = " in page
    assert "5 pairs give no p below 1/16" in page
    single = [folder for folder in seeds.folders if folder.name.endswith("-0")]
    assert "Differences" not in read_page(write_report(single, tmp_path / "single.html")).words


def test_every_distance_stands_against_the_mean_and_p_values_are_of_one_family():
    for order in (DISTANCES, reversed(DISTANCES)):
        both = found(*runs(order))
        assert {(each.side, each.against, each.paired.pairs) for each in both} == {
            ("dm + lqm", "mean", 5),
            ("dm + wasserstein", "mean", 5),
        }
        assert [each.holm for each in both] == holm([each.paired.p for each in both])


def test_without_the_mean_the_first_row_is_what_others_stand_against():
    assert named(*runs(("wasserstein", "lqm"))) == [("dm + lqm", "wasserstein", 5)]


def test_methods_stand_against_each_other_where_their_distance_and_common_settings_agree():
    first = runs(("lqm",), method="dm", width=4)
    assert named(*first, *runs(("lqm",), method="idm", width=4, queue=3)) == [("idm + lqm", "dm", 5)]
    assert named(*first, *runs(("lqm",), method="idm", width=8)) == []
    assert named(*first, *runs(("mean",), method="idm", width=4)) == []


@pytest.mark.parametrize("other", [{"steps": 9}, {"width": 8}, {"source": "mnist"}, {"epochs": 9}])
def test_runs_that_differ_in_more_than_the_distance_are_no_pairs(other):
    assert named(*runs(("mean",), width=4), *runs(("lqm",), **{"width": 4, **other})) == []


def test_budgets_are_compared_each_by_itself():
    sets = [
        graph_run(budget, distance=distance, seed=seed, scores=(accuracies(distance, seed),))
        for budget in (40, 80)
        for distance in ("mean", "lqm")
        for seed in range(3)
    ]
    assert named(*sets) == [("cat + lqm, 40 nodes", "mean", 3), ("cat + lqm, 80 nodes", "mean", 3)]


def test_a_pair_has_its_seed_sketch_and_evaluation_seeds_in_common():
    mean, lqm = runs(("mean",)), runs(("lqm",))
    assert named(*mean[:3], *lqm[1:]) == [("dm + lqm", "mean", 2)]
    assert named(*mean[:2], *lqm[1:]) == [], "one pair tells nothing"
    for number, made in enumerate((*mean, *lqm)):
        made.manifest["sketch"] = {"sha256": "other" if number == 0 else "same", "encoders": 3}
    assert named(*mean, *lqm) == [("dm + lqm", "mean", 4)]
    mean[1].manifest["scores"][0]["seed"] = 7
    assert named(*mean, *lqm) == [("dm + lqm", "mean", 3)]


def test_only_evaluation_seeds_that_both_sides_have_count():
    mean = [run(distance="mean", seed=seed, scores=((0.5,), (0.9,))) for seed in range(3)]
    lqm = [run(distance="lqm", seed=seed, scores=((0.6 + seed / 100,),)) for seed in range(3)]
    (only,) = found(*mean, *lqm)
    assert only.paired.differences == pytest.approx((0.1, 0.11, 0.12))


def test_single_runs_and_runs_that_were_not_evaluated_have_no_differences():
    assert named(*runs(seeds=1)) == []
    assert named(*(run(distance=d, seed=s, scores=()) for d in ("mean", "lqm") for s in range(3))) == []


def test_tables_fit_into_a_terminal_of_100_columns():
    sets = [
        run(name, distance, seed, scores=((0.1 + (0.8 - seed / 60) * (distance == "mean") - seed / 50,),))
        for name in ("datadam", "idm")
        for distance in ("mean", "lqm-ad-weighted")
        for seed in range(3)
    ]
    console = Console(width=100, record=True)
    console.print(*comparison_tables(sets))
    text = console.export_text()
    assert "…" not in text
    assert re.search(r"datadam \+ lqm-ad-weighted .* mean .* 3 .* \.250 .* worse", text)


def stream(folder, distance, seed, averages, **config):
    """The result of `lqm continual`, as far as a comparison reads it."""
    folder.mkdir(parents=True)
    result = {
        "config": {
            "source": {"name": "cora"},
            "stream": {"order": "labels", "inter_task_edges": False},
            "method": "cat",
            "distance": {"name": distance},
            "budget": 4,
            "scoring": "class",
            "seed": seed,
            "settings": {"steps": 9},
            **config,
        },
        "tasks": [["a", "b"]],
        "average_accuracy": {"each": averages},
        "backward_transfer": None,
        "matrices": [[[average]] for average in averages],
        "seconds": {"memory": [1.0], "learning": [1.0]},
        "repeats": len(averages),
    }
    (folder / "result.json").write_text(json.dumps(result))
    return folder


def printed_streams(*folders):
    console = Console(width=100, record=True)
    console.print(*stream_tables(folders))
    return " ".join(console.export_text().split())


@pytest.mark.parametrize("repeats", [5, 1])
def test_repeats_of_streams_are_pairs_in_one_folder_or_in_one_each(tmp_path, repeats):
    each = {
        distance: [fmean(accuracies(distance, seed)) for seed in range(5)] for distance in ("mean", "lqm")
    }
    folders = [
        stream(tmp_path / f"{distance}-{seed}", distance, seed, own[seed : seed + repeats])
        for distance, own in each.items()
        for seed in range(0, 5, repeats)
    ]
    mean, interval, p = expected_of(
        [one - other for one, other in zip(each["lqm"], each["mean"], strict=True)]
    )
    page = read_page(write_report(folders, tmp_path / "page.html")).words
    assert f"cat + lqm mean {mean} {interval} [" in page
    text = printed_streams(*folders)
    assert f"cat + lqm mean {mean} {interval} 5 {p:.3f}".replace(" 0.", " .") in text


def test_streams_of_other_seeds_or_settings_have_no_differences(tmp_path):
    mean = stream(tmp_path / "mean", "mean", 0, [0.5, 0.6])
    for name, other in {"seed": {"seed": 7}, "more": {"settings": {"steps": 8}}}.items():
        own = stream(tmp_path / name, "lqm", **{"seed": 0, "averages": [0.7, 0.8], **other})
        assert "no pairs: two runs" in printed_streams(mean, own)
        assert "Student" not in printed_streams(mean, own)

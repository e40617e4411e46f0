"""Tables of a study, against numbers computed by hand, and read again in every format."""

import csv
import random
import re
from dataclasses import replace
from io import StringIO

import pytest
from scipy.stats import t

from lqm.studies.layout import COUNT, SPREAD, Column, Spread, Table
from lqm.studies.lines import CellLine, StudyHead
from lqm.studies.pairs import answers, comparisons
from lqm.studies.tables import all_tables, difference_table, facts, failure_table, render, score_table
from lqm.utils.errors import ConfigError
from tests.studies.making import EVIL, HEAD, line, small_study
from tools.across import table_across


def read_csv(table):
    return [*csv.DictReader(StringIO(render(table, "csv"), newline=""), strict=True)]


def read_markdown(table):
    """The rows of a table, with what was escaped."""
    lines = [each for each in render(table, "md").splitlines() if each.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", each)[1:-1]] for each in lines]
    assert len({*map(len, cells)}) == 1, "every row has as many cells"
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def read_latex(table):
    text = render(table, "tex")
    body = text[text.index(r"\hline") : text.index(r"\end{tabular}")]
    rows = [each.removesuffix(r" \\").split(" & ") for each in body.splitlines() if r"\hline" not in each]
    assert len({*map(len, rows)}) == 1
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def test_scores_are_mean_and_sample_deviation_over_seeds():
    rows = read_markdown(score_table(small_study()))
    found = [(row["per class"], row["distance"], row["accuracy %"]) for row in rows]
    # (50, 52, 54): mean 52, deviation 2; (60, 63, 63): mean 62, deviation sqrt(3).
    assert found == [
        ("1", "mean", "52.0 ± 2.0"),
        ("1", "lqm", "62.0 ± 1.7"),
        ("10", "mean", "80.0 ± 0.0"),
        ("10", "lqm", "80.0 ± 1.0"),
    ]


def test_an_axis_may_stand_in_columns_with_the_mean_over_them_where_all_are_known():
    table = table_across([*small_study(), line("energy", 0, 0.7)], "per_class")
    rows = read_markdown(table)
    assert [(row["distance"], row["seeds"], row["1"], row["10"], row["mean of all"]) for row in rows] == [
        ("mean", "3", "52.0 ± 2.0", "80.0 ± 0.0", "66.0"),
        ("lqm", "3", "62.0 ± 1.7", "80.0 ± 1.0", "71.0"),
        ("energy", "1", "70.0", "-", "-"),
    ]
    assert "source digits, method dm, network convnet" in table.laid_out().caption
    by_distance = read_markdown(table_across(small_study(), "distance"))
    assert [(row["mean"], row["mean of all"]) for row in by_distance] == [
        ("52.0 ± 2.0", "57.0"),
        ("80.0 ± 0.0", "80.0"),
    ]
    assert "mean of all" not in read_markdown(table_across(small_study(), "per_class", with_mean=False))[0]


def test_an_axis_that_no_cell_has_is_an_empty_table():
    failed = line("lqm", 0, 0.0, state="failed", scores={}, sentence="the loss is not finite")
    assert len(table_across(small_study(), "sauce")) == len(table_across([failed], "per_class")) == 0


def test_a_csv_has_plain_numbers_and_every_column():
    rows = read_csv(score_table(small_study()))
    assert rows[1]["source"] == "digits"
    assert float(rows[1]["accuracy %"]) == 62
    assert float(rows[1]["accuracy % deviation"]) == pytest.approx(3**0.5, abs=1e-6)
    assert (rows[1]["seeds"], rows[1]["networks"], rows[1]["paper %"]) == ("3", "1", "")
    assert "±" not in render(score_table(small_study()), "csv")


def test_latex_says_the_same():
    rows = read_latex(score_table(small_study()))
    assert rows[0][r"accuracy \%"] == r"52.0 $\pm$ 2.0"
    assert [row["per class"] for row in rows] == ["1", "1", "10", "10"]


def test_what_all_rows_share_stands_in_the_caption_once():
    table = score_table(small_study())
    caption, header, _, _ = table.laid_out()
    assert "source digits" in caption
    assert "seeds 3" in caption
    assert header == ["per class", "distance", "accuracy %", "seconds"]
    one_row = score_table(small_study()[:3])
    assert "source" in one_row.laid_out().header, "a single row says what it is of"


def test_a_row_waits_for_no_other_and_the_order_of_cells_does_not_matter():
    lines = small_study()
    shuffled = random.Random(0).sample(lines, len(lines))
    one, other = ({tuple(row.items()) for row in read_csv(score_table(own))} for own in (lines, shuffled))
    assert one == other
    (first, *_), (second, *_) = comparisons(lines), comparisons(shuffled)
    assert first.paired == second.paired
    incomplete = lines[:4]
    assert [row["seeds"] for row in read_csv(score_table(incomplete))] == ["3", "1"]


def test_each_kind_of_network_has_a_column_and_a_comparison():
    lines = [
        line(distance, seed, 0, scores={"convnet": (0.5, 0.5 + step), "mlp": (0.3,)})
        for distance, step in (("mean", 0.0), ("lqm", 0.2))
        for seed in range(2)
    ]
    rows = read_csv(score_table(lines))
    assert [float(row["accuracy % by convnet"]) for row in rows] == [50, 60]
    assert [float(row["accuracy % by mlp"]) for row in rows] == [30, 30]
    found = comparisons(lines)
    assert [each.group["network"] for each in found] == ["convnet", "mlp"]
    assert [each.paired.mean for each in found] == pytest.approx([0.1, 0.0])


def test_a_network_that_evaluated_one_side_alone_compares_nothing():
    lines = [line("mean", 0, 0, scores={"mlp": (0.5,)}), line("lqm", 0, 0, scores={"convnet": (0.5,)})]
    assert comparisons(lines) == []


def test_streams_are_compared_by_their_classifier_which_names_their_scores():
    head = StudyHead("biases", "", "cpu", "classifier", "gcn")
    lines = [
        line("lqm", seed, 0.5, head=head, axes={"classifier": spec}, scores={spec: (accuracy,)})
        for spec, accuracies in {"gcn": (0.5, 0.6), "gcn:bias=false": (0.7, 0.9)}.items()
        for seed, accuracy in enumerate(accuracies)
    ]
    (found,) = comparisons(lines)
    assert found.paired.differences == pytest.approx((0.2, 0.3))
    assert (found.side, "network" in found.group) == ("gcn:bias=false", False)
    rows = read_csv(score_table(lines))
    assert [row["classifier"] for row in rows] == ["gcn", "gcn:bias=false"]
    assert "network" not in rows[0]


def test_arms_are_compared_whatever_their_networks_and_settings_are():
    head = StudyHead("streams", "", "cpu", "arm", "theirs")
    lines = [
        CellLine(head, f"{arm}{seed}", {"arm": arm}, seed, scores={spec: (score,)}, settings={"steps": steps})
        for arm, spec, steps, scores in (("theirs", "gcn", 1, (0.5, 0.6)), ("ours", "sgc", 2, (0.7, 0.9)))
        for seed, score in enumerate(scores)
    ]
    (found,) = comparisons(lines)
    assert found.paired.differences == pytest.approx((0.2, 0.3))
    assert (found.side, found.unlike) == ("ours", ())
    assert [row["network"] for row in read_csv(score_table(lines))] == ["gcn", "sgc"]


def test_a_stream_has_average_accuracy_and_backward_transfer():
    lines = [line("lqm", seed, 0.8, transfer=-0.1 - 0.02 * seed) for seed in range(2)]
    (row,) = read_markdown(score_table(lines))
    assert row["AA %"] == "80.0 ± 0.0"
    assert row["BWT"] == "\N{MINUS SIGN}11.0 ± 1.4"
    (raw,) = read_csv(score_table(lines))
    assert float(raw["BWT"]) == -11


def test_the_bank_is_named_apart_and_the_papers_number_stands_beside():
    lines = [
        line("lqm", seed, 0.45, paper=45.9, seconds={"condense": 10.0 + seed, "bank": 600.0})
        for seed in (0, 1)
    ]
    (row,) = read_markdown(score_table(lines))
    assert (row["paper %"], row["seconds"], row["bank seconds"]) == ("45.9", "10", "600")
    assert float(read_csv(score_table(lines))[0]["seconds"]) == 10.5


def test_tuned_settings_are_named_and_the_table_says_where_they_were_chosen():
    lines = [line("lqm", 0, 0.5, tuned={"learning_rate": 10.0, "steps": 100})]
    table = score_table(lines)
    assert read_csv(table)[0]["tuned"] == "learning_rate=10.0, steps=100"
    assert "chosen on validation records, equally for every distance" in render(table, "md")
    assert "validation" not in render(score_table(small_study()), "md")


def test_differences_have_the_interval_of_student():
    first, second = read_csv(difference_table(comparisons(small_study())))
    # (10, 11, 9) points: mean 10, deviation 1.
    low, high = t.interval(0.95, 2, loc=10, scale=1 / 3**0.5)
    assert float(first["difference"]) == 10
    assert float(first["95 % interval (t) low"]) == pytest.approx(low, abs=1e-5)
    assert float(first["95 % interval (t) high"]) == pytest.approx(high, abs=1e-5)
    assert (first["pairs"], first["p"], first["p (Holm)"]) == ("3", "0.25", "0.5")
    assert [row["verdict"] for row in (first, second)] == ["better", "can't be told apart"]
    assert float(first["95 % interval (bootstrap) low"]) >= 9 - 1e-6


def test_the_answer_counts_comparisons_by_side():
    more = [
        *(line("wasserstein", seed, accuracy) for seed, accuracy in enumerate((0.40, 0.42, 0.43))),
    ]
    assert answers(comparisons(small_study() + more)) == [
        "lqm is better than mean in 1 of 2 comparisons, worse in 0, can't be told apart in 1",
        "wasserstein is better than mean in 0 of 1 comparison, worse in 1, can't be told apart in 0",
    ]


def test_failed_cells_are_listed_and_have_no_score():
    lines = [*small_study(), line("lqm", 7, 0, state="failed", scores={}, sentence="the loss is not finite")]
    (row,) = read_csv(failure_table(lines))
    assert (row["seed"], row["sentence"]) == ("7", "the loss is not finite")
    assert render(score_table(lines), "csv") == render(score_table(small_study()), "csv")
    assert [table.title.split()[0] for table in all_tables(lines)] == ["Scores", "Differences", "Cells"]
    assert [len(table) for table in all_tables(lines[-1:])] == [1], "of nothing there is no table"


def test_where_the_numbers_come_from_is_said_once_each():
    lines = [*small_study(), line("lqm", 9, 0.5, commit="fedcba9876543210")]
    assert facts(lines) == {
        "scale": "cpu",
        "protocol": "quick-200",
        "threads": "1",
        "commit": "0123456789ab / fedcba987654",
        "machine": "Linux x86_64",
        "torch": "2.13.0",
    }
    assert "threads 1, commit 0123456789ab / fedcba987654" in render(score_table(lines), "md")


@pytest.mark.parametrize("read", [read_csv, read_markdown, read_latex])
def test_hostile_text_keeps_the_table_whole(read):
    evil = EVIL + r' a & b \\ "c", 5 % of {x}_y^2 # $z$ ~'
    lines = [
        line("lqm", 0, 0.5, source=evil, axes={evil: evil}, protocol=evil, tuned={evil: evil}),
        line("lqm", 1, 0, state="failed", scores={}, sentence=evil),
    ]
    tables = [score_table(lines), failure_table(lines)]
    assert [len(read(table)) for table in tables] == [1, 1]
    for table in tables:
        for kind in ("md", "tex", "csv"):
            assert all(letter.isprintable() for letter in render(table, kind).replace("\n", ""))
        assert "<script>" not in render(table, "md")
        assert not re.search(r"(?<!\\)[%#_]", render(table, "tex"))


def test_a_csv_gives_back_what_stood_in_it():
    words = ('a, "quoted" b', "=1+1", "ünïcode | pipe")
    table = Table("t", (Column("a,b", words), Column("n", (1, None, 3), COUNT)))
    assert [(row["a,b"], row["n"]) for row in read_csv(table)] == [*zip(words, ("1", "", "3"), strict=True)]


def test_markdown_is_escaped_and_latex_too():
    table = Table("t", (Column("a", ("x|y [z](w)",)), Column("b", ("50 % & more",))))
    assert r"x\|y [z]\(w)" in render(table, "md")
    assert r"50 \% \& more" in render(table, "tex")


def test_one_value_has_no_deviation():
    table = Table("t", (Column("s", (Spread((0.5,)),), SPREAD),))
    assert "50.0 |" in render(table, "md")
    assert read_csv(table) == [{"s": "50.0", "s deviation": ""}]


def test_another_format_is_refused():
    with pytest.raises(ConfigError, match="'xls'; use md, tex, csv"):
        render(Table("t", ()), "xls")


def test_another_axis_can_be_compared():
    head = StudyHead("inits", axis="init", against="noise")
    lines = [
        line("lqm", seed, 0.5 + 0.1 * (init == "random") + 0.01 * seed, head=head, axes={"init": init})
        for init in ("random", "noise")
        for seed in range(2)
    ]
    (found,) = comparisons(lines)
    assert (found.side, found.against, found.axis) == ("random", "noise", "init")
    assert found.paired.mean == pytest.approx(0.1)
    assert [row["init"] for row in read_csv(score_table(lines))] == ["noise", "random"]
    assert comparisons([replace(each, study=StudyHead("x", axis="unknown")) for each in lines]) == []


def test_kinds_of_networks_that_never_share_a_row_share_a_column():
    lines = [line("lqm", 0, 0.5), line("lqm", 0, 0, source="cora", scores={"gcn": (0.7,)}, transfer=-0.1)]
    rows = read_csv(score_table(lines))
    assert [(row["network"], float(row["accuracy %"]), row["BWT"]) for row in rows] == [
        ("convnet", 50, ""),
        ("gcn", 70, "-10.0"),
    ]


def test_real_records_stand_beside_condensed_ones():
    lines = [line("lqm", seed, 0.5, baselines={"full": (0.8, 0.8 + 0.2 * seed)}) for seed in range(2)]
    (row,) = read_markdown(score_table(lines))
    # Seeds have (80, 80) and (80, 100): 80 and 90 on average.
    assert row["full %"] == "85.0 ± 7.1"


def test_a_protocol_is_short_in_rows_and_whole_below():
    words = "quick-200: 4 fresh ConvNet-3, 200 epochs each, mean ± sample standard deviation over 4 networks"
    lines = [line("lqm", 0, 0.5, protocol=words), line("lqm", 0, 0.5, source="cora", protocol="one task")]
    table = score_table(lines)
    assert [row["protocol"] for row in read_markdown(table)] == ["quick-200", "one task"]
    assert "Protocol: quick-200: 4 fresh ConvNet-3, 200 epochs each / one task." in render(table, "md")


def test_training_is_part_of_the_cost_where_methods_are_compared():
    head = StudyHead("hard-labels", axis="method", against="random")
    (row,) = read_csv(score_table([line("lqm", 0, 0.5, head=head)]))
    assert float(row["evaluation seconds"]) == 9
    assert "evaluation seconds" not in read_csv(score_table(small_study()))[0]


def test_sides_that_differ_in_more_than_the_compared_axis_are_named():
    lines = [
        line("mean", 0, 0.5, settings={"steps": 5, "rate": 1.0}, tuned={"rate": 1.0}),
        line("lqm", 0, 0.6, settings={"steps": 7, "rate": 9.0}, tuned={"rate": 9.0}),
        line("mean", 0, 0.5, per_class=10, protocol="quick-200"),
        line("lqm", 0, 0.6, per_class=10, protocol="quick-20", settings={"rate": 9.0}, tuned={"rate": 9.0}),
    ]
    assert [each.unlike for each in comparisons(lines)] == [("steps",), ("protocol", "tuning")]
    assert not any(each.unlike for each in comparisons(small_study()))
    assert "steps" in render(difference_table(comparisons(lines)), "md")


def test_a_table_claims_equal_tuning_only_where_every_side_was_tuned():
    tuned = [line(side, 0, 0.5, tuned={"steps": 7}) for side in ("mean", "lqm")]
    others = [line(side, 0, 0.5, per_class=10) for side in ("mean", "lqm")]
    assert "equally for every distance" in " ".join(score_table(tuned + others).notes)
    assert "equally" not in " ".join(score_table([tuned[0], line("lqm", 0, 0.5)]).notes)


def test_memory_is_told_where_methods_are_compared_as_the_median_over_seeds():
    head = StudyHead("mine", axis="method", against="dm")
    lines = [line("mean", seed, 0.5, head=head, memory=bytes_) for seed, bytes_ in enumerate((4e8, 9e8, 5e8))]
    (row,) = read_markdown(score_table(lines))
    assert row["peak MB"] == "500"
    assert "peak MB" not in render(score_table([replace(each, study=HEAD) for each in lines]), "md")
    assert "peak MB" not in render(score_table([replace(each, memory=None) for each in lines]), "md")

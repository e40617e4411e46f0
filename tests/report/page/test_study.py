"""The page of a study: everything on it follows from the lines, and whatever stands in them is text."""

import json
from dataclasses import asdict, replace

import pytest

from lqm import write_report
from lqm.studies.lines import CELLS, StudyHead
from lqm.utils.errors import ArtifactError, ConfigError
from tests.report.making import chosen, read_page, tiny_source
from tests.studies.making import EVIL, HEAD, line, small_study, write_study


@pytest.fixture
def page_of(tmp_path):
    """Reads the page of lines."""
    return lambda lines: read_page(write_report(write_study(tmp_path / "study", lines)))


def test_the_answer_comes_first(page_of):
    words = page_of(small_study()).words
    answer = "lqm is better than mean in 1 of 2 comparisons, worse in 0, can't be told apart in 1."
    assert words.index("Does matching quantiles beat matching means?") < words.index(answer)
    assert words.index(answer) < words.index("How it was measured")


def test_the_forest_has_a_row_for_each_comparison(page_of):
    forest = page_of(small_study()).data["forest"]
    assert [each["group"] for each in forest] == ["digits, dm, 1 a class", "digits, dm, 10 a class"]
    ((first,), (second,)) = (each["rows"] for each in forest)
    # Differences of 10, 11 and 9 points, and t(0.975, 2) = 4.3027.
    assert first["mean"] == pytest.approx(10)
    assert first["interval"] == pytest.approx([10 - 4.3027 / 3**0.5, 10 + 4.3027 / 3**0.5], abs=1e-3)
    assert 9 <= first["bootstrap"][0] < first["mean"] < first["bootstrap"][1] <= 11
    assert (first["verdict"], second["verdict"]) == ("better", "can't be told apart")


def test_charts_are_of_cells_that_share_all_but_side_and_size(page_of):
    data = page_of([*small_study(), line("lqm", 0, 0.3, source="mnist")]).data
    digits, mnist = data["panels"]
    assert (digits["title"], mnist["title"]) == ("digits, dm", "mnist, dm")
    assert {point["budget"] for point in digits["points"]} == {1, 10}
    assert [digits["budgets"], mnist["budgets"]] == [True, False]
    first = digits["points"][0]
    assert data["labels"][first["case"]] == "mean"
    assert (first["accuracy"], first["deviation"], first["seconds"]) == pytest.approx((52, 2, 2))


def test_shares_of_nodes_and_numbers_of_nodes_are_not_on_one_axis(page_of):
    lines = [line("lqm", 0, 0.5, axes={"budget": budget, "per_class": "-"}) for budget in ("1%", "2%", 40)]
    units = {
        panel["unit"]: [point["budget"] for point in panel["points"]]
        for panel in page_of(lines).data["panels"]
    }
    assert units == {"% of the nodes": [1, 2], "nodes": [40]}


def test_cost_is_compared_where_all_else_is_alike(page_of):
    lines = [
        line("mean", 0, 0.5, seconds={"condense": 2.0}),
        line("lqm", 0, 0.5, seconds={"condense": 6.0}),
        line("lqm", 0, 0.5, source="mnist", seconds={"condense": 600.0}),
    ]
    assert "What does it cost? lqm 3.00 times" in page_of(lines).words


def test_scores_differences_and_commands_stand_in_tables(page_of):
    words = page_of(small_study()).words
    assert "1 mean 52.0 ± 2.0" in words
    assert "1 lqm +10.0" in words
    assert "lqm condense digits --distance lqm --seed 2" in words
    assert "Failed cells" not in words


def test_failed_cells_have_their_sentences_and_a_study_of_nothing_else_has_a_page(page_of):
    page = page_of([line("lqm", 0, 0, state="failed", scores={}, sentence="the loss is not finite")])
    assert "1 cell has failed" in page.words
    assert "the loss is not finite" in page.words
    assert "Nothing can be compared yet" in page.words
    assert page.data["forest"] == page.data["panels"] == []


def test_a_single_seed_has_differences_without_intervals(page_of):
    page = page_of([line("mean", 0, 0.5), line("lqm", 0, 0.6)])
    ((row,),) = (each["rows"] for each in page.data["forest"])
    assert (row["interval"], row["bootstrap"], row["verdict"]) == (None, None, "can't be told apart")


def test_hostile_text_is_shown_and_never_run(page_of):
    evil = replace(HEAD, name=EVIL, title=EVIL, against=EVIL)
    lines = [
        line(
            side, 0, 0.5, head=evil, source=EVIL, protocol=EVIL, commit=EVIL, command=EVIL, axes={EVIL: EVIL}
        )
        for side in (EVIL, "lqm")
    ]
    lines.append(line("lqm", 1, 0, head=evil, state="failed", scores={}, sentence=EVIL))
    page = page_of(lines)
    assert not any(
        "alert" in script for place, script in zip(page.of("script"), page.scripts, strict=True) if not place
    )
    shown = r"<script>alert(1)</script>\x1b[31m|`x`\n"
    assert page.words.count(shown) > 10
    assert page.data["labels"][0] == shown
    assert not [letter for letter in page.words if not letter.isprintable()]


def test_numbers_that_are_none_are_not_drawn(page_of):
    page = page_of([line("lqm", 0, 0.5, per_class=float("inf"), paper=float("nan"), seconds={})])
    assert page.data["panels"] == []


def test_the_file_of_the_lines_has_the_same_page(tmp_path):
    folder = write_study(tmp_path / "study", small_study())
    (tmp_path / "images.jsonl").write_bytes((folder / CELLS).read_bytes())
    pages = [
        write_report(path, out=tmp_path / f"{n}.html")
        for n, path in enumerate((folder, tmp_path / "images.jsonl"))
    ]
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert write_report(tmp_path / "images.jsonl") == tmp_path / "report.html"
    assert write_report(folder) == folder / "report.html"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "has no cell of a study; `lqm study` writes"),
        (b"\x00\xff{{\n", "has no cell of a study"),
        (b'{"step": 1, "loss": 0.5}\n', r"line 1 of .* is not one of a study \(study: "),
        (
            b'{"study": {"name": "x"}, "cell": "\\u001b[31m", "axes": [], "seed": 0}\n',
            r"is not one of a study \(axes",
        ),
    ],
)
def test_an_empty_damaged_or_foreign_file_is_one_sentence(type_in, tmp_path, content, said):
    (tmp_path / CELLS).write_bytes(content)
    with pytest.raises(ArtifactError, match=said):
        write_report(tmp_path)
    code, printed, error = type_in("report", tmp_path)
    assert (code, printed) == (1, "")
    assert "Traceback" not in error
    assert "\x1b" not in error
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    "scores", [{"convnet": []}, {"convnet": [1.5]}, {"convnet": [float("nan")]}, {"convnet": "x"}]
)
def test_scores_that_are_none_are_refused(tmp_path, scores):
    record = asdict(line("lqm", 0, 0.5)) | {"scores": scores}
    (tmp_path / CELLS).write_text(json.dumps(record) + "\n")
    with pytest.raises(ArtifactError, match=r"line 1 .* is not one of a study \(scores\.convnet"):
        write_report(tmp_path)


def test_a_study_shares_its_page_with_nothing(tmp_path):
    study = write_study(tmp_path / "study", small_study())
    chosen(tiny_source(), tmp_path / "run")
    with pytest.raises(
        ConfigError, match=r"study is a study, which has a page of its own; give another to .*run"
    ):
        write_report([tmp_path / "run", study], tmp_path / "page.html")


def test_the_command_says_where_the_page_is(type_in, tmp_path):
    study = write_study(tmp_path / "study", small_study())
    code, printed, error = type_in("report", study)
    assert (code, error) == (0, "")
    assert f"wrote {study / 'report.html'}" in " ".join(printed.split())


def test_what_is_compared_need_not_be_the_distance(page_of):
    head = StudyHead("inits", axis="init", against="noise")
    lines = [line("lqm", 0, 0.5, head=head, axes={"init": init}) for init in ("random", "noise")]
    page = page_of(lines)
    assert page.data["labels"] == ["noise", "random"]
    assert "random is better than noise in 0 of 1 comparison" in page.words


def test_training_is_drawn_as_cost_where_methods_are_compared(page_of):
    head = StudyHead("hard-labels", axis="method", against="random")
    page = page_of([line("lqm", 0, 0.5, head=head, axes={"method": method}) for method in ("random", "dm")])
    (panel,) = page.data["panels"]
    assert [point["seconds"] for point in panel["points"]] == [11, 11]
    assert "against the seconds of condensing and evaluating" in page.words


def test_cells_without_the_compared_axis_stand_in_the_table_alone(page_of):
    joint = line("x", 0, 0.9)
    del joint.axes["distance"]
    page = page_of([*small_study(), joint])
    assert page.data["labels"] == ["mean", "lqm"]
    assert "90.0" in page.words
    assert sum(len(panel["points"]) for panel in page.data["panels"]) == 4


def test_folders_of_one_study_share_a_page(tmp_path):
    lines = small_study()
    whole = write_study(tmp_path / "whole", lines)
    for number in range(3):
        write_study(tmp_path / str(number), [each for each in lines if each.seed == number])
    parts = [tmp_path / str(number) for number in range(3)]
    together = read_page(write_report([*parts, whole], tmp_path / "page.html"))
    assert together.data == read_page(write_report(whole)).data, "a cell that is there twice counts once"
    assert len(read_page(write_report(parts[:2], tmp_path / "two.html")).data["forest"]) > 0


def test_folders_of_other_studies_are_refused(tmp_path):
    one = write_study(tmp_path / "one", small_study())
    head = replace(small_study()[0].study, name="other")
    two = write_study(tmp_path / "two", [replace(each, study=head) for each in small_study()])
    with pytest.raises(ConfigError, match=r"two and .*one are not of the same study \('other', not '"):
        write_report([one, two], tmp_path / "page.html")


def test_the_protocol_is_said_once(page_of):
    words = page_of(small_study()).words
    assert words.count("quick-200") == 1
    assert "Measured with" not in words

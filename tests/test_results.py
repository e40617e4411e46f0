"""`docs/results.md`: every number follows from a line, and none is typed by hand."""

import re

import pytest

from lqm.utils.errors import ConfigError
from tests.studies.making import line, small_study, write_study
from tools.results import DOCS, HEAD, PAGE, TEMPLATE, build, main, typed_numbers


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The lines of two studies, by name."""
    folder = tmp_path_factory.mktemp("docs") / "results"
    more = [
        line("mean", 7, 0, state="failed", scores={}, sentence="the loss is not finite"),
        line("lqm", 0, 0.45, source="cifar10", paper=45.9, transfer=-0.05, baselines={"full": (0.8, 0.9)}),
    ]
    write_study(folder, small_study() + more)
    (folder / "cells.jsonl").rename(folder / "images.jsonl")
    return folder


@pytest.fixture
def filled(folder):
    """What stands in the place of an expression."""
    return lambda expression: build("{{ " + expression + " }}", folder)[0].removeprefix(HEAD)


def test_the_committed_page_is_what_its_template_and_lines_make():
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    template = DOCS / TEMPLATE
    assert page.startswith(HEAD) == template.is_file()
    if template.is_file():
        built, forests = build(template.read_text(encoding="utf-8"), DOCS / "results")
        assert page == built, "run `make results`"
        assert not [stem for stem in forests if not (DOCS / "images" / f"{stem}.svg").is_file()]


def test_no_number_of_the_committed_template_is_typed_by_hand():
    template = DOCS / TEMPLATE
    assert typed_numbers(template.read_text(encoding="utf-8") if template.is_file() else "") == []


def test_an_empty_template_without_lines_is_a_page(tmp_path):
    assert build("", tmp_path / "results") == (HEAD, {})
    assert build("# Results\n", tmp_path / "results")[0] == HEAD + "# Results\n"


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        # (60, 63, 63): mean 62, deviation 1.73.
        ('accuracy("images", source="digits", distance="lqm", per_class=1)', "62.0 ± 1.7"),
        ('accuracy("images", source="digits", distance="lqm", per_class=1, seed=1)', "63.0"),
        (
            'accuracy("images", source="digits", distance="lqm", per_class="1", network="convnet")',
            "62.0 ± 1.7",
        ),
        # (10, 11, 9): mean 10, and 4.3027 / sqrt(3) = 2.48 on both sides.
        (
            'difference("images", side="lqm", per_class=1)',
            "+10.0 points (95 % interval [+7.5, +12.5], 3 pairs)",
        ),
        ('verdict("images", side="lqm", per_class=10)', "can't be told apart"),
        ('count("better", "images", side="lqm")', "1 of 2"),
        # Ten a class: 1, 0 and -1.
        ('above("lqm", "mean", "images", axis="distance")', "4 of 6"),
        ('above("mean", "lqm", "images", axis="distance", per_class=10)', "1 of 3"),
        (
            'answer("images", per_class=1)',
            "lqm is better than mean in 1 of 1 comparison, worse in 0, can't be told apart in 0",
        ),
        ('seconds("images", source="digits", distance="lqm", per_class=1)', "2.0"),
        ('seconds("images", source="digits", distance="lqm", per_class=1, part="evaluate")', "9.0"),
        ('paper("images", source="cifar10")', "45.9"),
        ('transfer("images", source="cifar10")', "\N{MINUS SIGN}5.0"),
        ('baseline("full", "images", source="cifar10")', "85.0"),
        (
            'command("images", source="digits", distance="lqm", seed=2)',
            "lqm condense digits --distance lqm --seed 2",
        ),
        ("published(45.3)", "45.3"),
        ('given("1 %")', "1 %"),
    ],
)
def test_an_expression_is_a_number_of_the_lines(filled, expression, shown):
    assert filled(expression) == shown


def test_tables_hold_what_fits(filled):
    assert "| lqm | 62.0 ± 1.7 | 80.0 ± 1.0 | 71.0 |" in filled(
        'across("per_class", "images", source="digits")'
    )
    table = filled('scores("images", source="digits", per_class=[1])')
    assert "| mean | 52.0 ± 2.0 |" in table
    assert "80.0" not in table
    assert "45.0" not in table
    # Holm's rule is over both comparisons of the study, whatever is shown: 2 * 0.25.
    assert "| .250 | .500 | better |" in filled('differences("images", per_class=[1, 10])')
    assert "the loss is not finite" in filled('failures("images")')
    assert filled('failures("images", source="cifar10")') == "No cell failed."


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        (
            'accuracy("images", source="digits", distance="lqm")',
            r"\(\"images\", source='digits', distance='lqm'\) fits 2 rows of scores, where one",
        ),
        ('accuracy("images", source="mnist")', r"\(\"images\", source='mnist'\) fits nothing"),
        ('scores("images", sauce="digits")', r"sauce='digits'\): nothing in the study has a 'sauce'"),
        ('scores("images", seed=7)', r"seed=7\): the lines do not have it"),
        ('across("per_class", "images", seed=7)', r"axis='per_class'\): the lines do not have it"),
        ('across("sauce", "images")', r"axis='sauce'\): the lines do not have it"),
        ('accuracy("images", source="cifar10", network="mlp")', r"network='mlp'\): the lines do not have it"),
        ('difference("images", side="lqm")', r"side='lqm'\) fits 2 comparisons, where one is meant"),
        ('difference("images", side="wasserstein")', r"side='wasserstein'\) fits nothing"),
        ('paper("images", source="digits", distance="lqm", per_class=1)', "the lines do not have it"),
        ('seconds("images", source="cifar10", part="bank")', r"part='bank'\): the lines do not have it"),
        ('baseline("random", "images")', r"baseline='random'\): the lines do not have it"),
        ('scores("graphs")', "no lines of a study 'graphs'; there are those of: images"),
        ("nonsense", r"results\.in\.md can't be filled in: 'nonsense' is undefined"),
        ("scores(", r"results\.in\.md can't be filled in: "),
    ],
)
def test_what_fits_nothing_or_too_much_is_named(filled, expression, said):
    with pytest.raises(ConfigError, match=said):
        filled(expression)


@pytest.mark.parametrize(
    "typed",
    [
        "12.3 %",
        "12 %",
        "12%",
        "± 0.4",
        "by 2 points",
        "45.3",
        "in 12 s",
        "14 minutes",
        '{{ "45.3" }}',
        "{{ 45.3 }}",
        "{% set x = 45.3 %}",
    ],
)
def test_a_number_that_was_typed_is_found(typed):
    (found,) = typed_numbers(f"# Results\n\nIt reaches {typed} here.\n")
    assert found.startswith("line 3: ")


@pytest.mark.parametrize(
    "prose",
    [
        "{{ published(45.3) }} % in the paper, {{ given('1 %') }} of the nodes",
        'reaches {{ accuracy("images", learning_rate=0.1) }} % with 10 images a class and 5 seeds',
        "the 95 % interval leaves out 0",
        "`--budget 1%` and\n\n```\nlqm condense --set rate=0.1\n```\n",
        "    lqm condense --set rate=0.1\n",
        "{% for size in (1, 10) %}{{ size }}{% endfor %}{# 12.3 % #}",
        "on 17 November 2026, 3 seeds, 12 comparisons",
    ],
)
def test_what_is_no_result_may_be_typed(prose):
    assert typed_numbers(prose) == []


def test_the_page_and_its_figures_are_written(folder, capsys):
    docs = folder.parent
    (docs / TEMPLATE).write_text('# Results\n\n{{ forest("images", side="lqm") }}\n')
    main(docs)
    page = (docs / PAGE).read_text()
    (figure,) = re.findall(r"!\[Differences .* in 1 of 2 comparisons.*\]\((images/.*\.svg)\)", page)
    assert (docs / figure).read_text().count("digits, dm") == 2
    assert "1 figure" in capsys.readouterr().out
    first = (docs / figure).read_bytes()
    main(docs)
    assert (docs / figure).read_bytes() == first


def test_without_a_template_one_sentence_says_so(tmp_path):
    with pytest.raises(ConfigError, match=r"there is no results\.in\.md"):
        main(tmp_path)

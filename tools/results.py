"""Build `docs/results.md` from its template and the lines of studies: `make results`.

Every number of the page comes from a line in `docs/results/NAME.jsonl`, by an expression of the template:

    {{ scores("images", source="digits") }}        a table; also differences(...) and failures(...)
    {{ across("source", "images", method="dm") }}  accuracies alone, a column for each value of an axis
    {{ accuracy("images", source="digits", method="dm", distance="lqm", per_class=10) }}
    {{ difference("images", side="lqm", source="digits", method="dm", per_class=10) }}
    {{ seconds(...) }} {{ paper(...) }} {{ transfer(...) }} {{ baseline("full", "images", ...) }}
    {{ command("images", ..., seed=0) }} {{ answer("images", ...) }}
    {{ verdict("images", side="lqm", ...) }} {{ count("better", "images", side="lqm", ...) }}
    {{ above("lqm", "mean", "images", axis="distance") }}    pairs, along any axis
    {{ forest("images", ...) }}                    a figure, drawn into docs/images
    {{ published(45.3) }} {{ given("1 %") }}       a number of a paper, or of a setting

Filters name axes; cells also have `seed` and `scale`, comparisons `side`, `against`, `verdict` and, where
several kinds of networks evaluate, `network`. `against` may name a side other than that of the study. A list
of values stands for any of them. A filter that fits nothing, or several where one is meant, is an error.
"""

import re
from pathlib import Path

from jinja2 import Environment, StrictUndefined, TemplateError

from lqm.report.figures.forest import write_forest
from lqm.studies.pairs import Comparison
from lqm.utils.errors import ConfigError, LqmError
from lqm.utils.sentences import counted, reason
from tools.result_lines import Results

DOCS = Path(__file__).parents[1] / "docs"
TEMPLATE, PAGE = "results.in.md", "results.md"
HEAD = "<!-- Made by `make results` from results.in.md and results/*.jsonl: edit these. -->\n\n"

# Numbers that look like a result: decimals, percents, points, deviations and times.
_NUMBER = re.compile(r"\d+\.\d+|± ?\d|\d+ ?%|\d+ (?:points?|s|seconds?|minutes?|hours?)\b")
# Calls, comments and code; a literal in braces is prose.
_NOT_PROSE = re.compile(
    r"\{\{ *[a-z].*?\}\}|\{#.*?#\}|\{%|%\}|^```.*?^```|^ {4}.*?$|`[^`\n]*`", re.DOTALL | re.MULTILINE
)
# The name of a thing, and no result.
_ALLOWED = re.compile(r"95 % interval")


def typed_numbers(template: str) -> list[str]:
    """Numbers in a template's own prose that look like results, each with its line."""
    prose = _NOT_PROSE.sub(lambda found: "\n" * found[0].count("\n"), template)
    return [
        f"line {number}: {found[0]}"
        for number, line in enumerate(_ALLOWED.sub("", prose).splitlines(), start=1)
        for found in _NUMBER.finditer(line)
    ]


def published(value: float) -> str:
    """A number that a paper reports and no line has."""
    return str(value)


def given(words: str) -> str:
    """A number that is a setting and no result."""
    return words


def build(template: str, folder: Path) -> tuple[str, dict[str, list[Comparison]]]:
    """The page of a template and of the lines in a folder, and the figures that it shows.

    Raises:
        ConfigError: when an expression fits no line, or several where one is meant.
    """
    results = Results(folder)
    templates = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    names = [name for name in dir(Results) if not name.startswith("_")]
    try:
        page = templates.from_string(template).render(
            {name: getattr(results, name) for name in names}, published=published, given=given
        )
    except TemplateError as error:
        raise ConfigError(f"{TEMPLATE} can't be filled in: {reason(error)}") from None
    return HEAD + page, results.forests


def main(docs: Path = DOCS) -> None:
    """Write the page, and draw its figures beside it."""
    if not (docs / TEMPLATE).is_file():
        raise ConfigError(f"there is no {TEMPLATE} in the folder {docs.name}; the page is made of it")
    page, forests = build((docs / TEMPLATE).read_text(encoding="utf-8"), docs / "results")
    for stem, found in forests.items():
        write_forest(found, docs / "images" / stem, ["svg"])
    (docs / PAGE).write_text(page, encoding="utf-8")
    print(f"wrote {docs / PAGE}, {counted(len(forests), 'figure', 'figures')}")


if __name__ == "__main__":
    try:
        main()
    except LqmError as error:
        raise SystemExit(f"tools.results: {error}") from None

"""The settings that are known by name."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from lqm.cli.output import USUAL, Printed

if TYPE_CHECKING:
    from rich.table import Table

    from lqm.cli.documents.listings import RecipeEntry
    from lqm.recipes import Recipe

_COLUMNS = ("recipe", "steps", "network", "paper says", "cost")
# The file of recipes for images that have none of their own.
_OWN = "own"


def recipes(
    source: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="SOURCE")] = None,
    /,
    *,
    output: Printed = USUAL,
) -> None:
    """List the papers' settings, their scores and their costs.

    Example: lqm recipes cifar10

    Args:
        source: Only those for this source: a name, or the path of your own data.
        output: How it is printed.
    """
    from rich.console import Console

    from lqm.utils.terminal import visible_lines

    if output.json:
        from lqm.cli.documents import RecipesDocument

        output.document(RecipesDocument(recipes=[*_entries(source)]))
        return
    for command, table in recipe_tables(source):
        print(visible_lines(command))
        Console().print(table)


def recipe_tables(source: str | None = None) -> "Iterator[tuple[str, Table]]":
    """Recipes of one source or of all, each table with the command that takes one of them."""
    from lqm.recipes import GRAPHS, TABLES
    from lqm.report.tables import plain_table

    for name in _files(source):
        rows = []
        for recipe, settings in _complete(name):
            network = getattr(settings, "network", None) or f"width {settings.width}"
            paper = ", ".join(f"{distance} {accuracy}" for distance, accuracy in recipe.paper.items())
            rows.append((recipe.name, f"{settings.steps:,}", network, paper, recipe.cost))
        example = source or {_OWN: "FOLDER", GRAPHS: "GRAPH", TABLES: "TABLE"}.get(name, name)
        yield f"lqm condense {example} --recipe ...", plain_table(_COLUMNS, rows)


def _entries(source: str | None) -> "Iterator[RecipeEntry]":
    from dataclasses import asdict

    from lqm.cli.documents.listings import RecipeEntry

    for name in _files(source):
        for recipe, settings in _complete(name):
            yield RecipeEntry(
                source=source or name,
                recipe=recipe.name,
                method=recipe.method,
                per_class=recipe.per_class or None,
                settings=asdict(settings),
                protocol=recipe.protocol,
                paper={distance: float(accuracy) for distance, accuracy in recipe.paper.items()},
                cost=recipe.cost,
            )


def _files(source: str | None) -> list[str]:
    """The files of recipes that a source has: its own, or those for data of its kind."""
    from lqm.api.domains import domain_of
    from lqm.api.requests import SourceRequest
    from lqm.images.sources.idx_sets import IDX_SETS, MNIST
    from lqm.recipes import recipe_sources
    from lqm.utils.names import choose

    known = recipe_sources()
    if source is None:
        return known
    if source not in known:
        domain = domain_of(SourceRequest(source=source))
        images = MNIST.name if source in IDX_SETS else _OWN
        source = images if domain.name == "images" else domain.name
    choose(source, dict.fromkeys(known), "source with recipes")
    return [source]


def _complete(name: str) -> "Iterator[tuple[Recipe, Any]]":
    """The recipes of a file, each with all settings of its method."""
    from lqm.api.domains import DOMAINS
    from lqm.recipes import load_recipes
    from lqm.utils.settings import make_settings

    methods = next((domain for domain in DOMAINS if domain.name == name), DOMAINS[-1]).methods
    for recipe in load_recipes(name).values():
        yield recipe, make_settings(methods[recipe.method].settings, recipe.settings)

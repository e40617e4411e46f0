"""The settings that are known by name."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from rich.table import Table

_COLUMNS = ("recipe", "steps", "network", "paper says", "cost")


def recipes(
    source: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="SOURCE")] = None, /
) -> None:
    """List the papers' settings, their scores and their costs.

    Example: lqm recipes cifar10

    Args:
        source: Only those for this source.
    """
    from rich.console import Console

    for table in recipe_tables(source):
        Console().print(table)


def recipe_tables(source: str | None = None) -> "Iterator[Table]":
    """Recipes of one source or of all."""
    from lqm.graphs.methods import METHODS as GRAPH_METHODS
    from lqm.images.methods import METHODS as IMAGE_METHODS
    from lqm.recipes import GRAPHS, load_recipes, recipe_sources
    from lqm.report.tables import plain_table
    from lqm.utils.names import choose
    from lqm.utils.settings import make_settings

    known = dict.fromkeys(recipe_sources())
    if source:
        choose(source, known, "source with recipes")
    for name in [source] if source else known:
        rows = []
        methods = GRAPH_METHODS if name == GRAPHS else IMAGE_METHODS
        for recipe in load_recipes(name).values():
            settings = make_settings(methods[recipe.method].settings, recipe.settings)
            network = getattr(settings, "network", None) or f"width {settings.width}"
            paper = ", ".join(f"{distance} {accuracy}" for distance, accuracy in recipe.paper.items())
            rows.append((recipe.name, f"{settings.steps:,}", network, paper, recipe.cost))
        example = {"own": "FOLDER", GRAPHS: "GRAPH"}.get(name, name)
        yield plain_table(_COLUMNS, rows, title=f"lqm condense {example} --recipe ...")

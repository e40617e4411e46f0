"""The settings that are known by name."""

from typing import Annotated

import tyro


def recipes(
    source: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="SOURCE")] = None, /
) -> None:
    """List the papers' settings, their scores and their costs.

    Example: lqm recipes cifar10

    Args:
        source: Only those for this source.
    """
    from rich.console import Console

    from lqm.report.recipes import recipe_tables

    for table in recipe_tables(source):
        Console().print(table)

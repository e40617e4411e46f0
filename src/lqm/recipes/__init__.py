"""Settings that suit a source, as data: one TOML file a source, one entry a method and budget.

An entry's `settings` are those of the paper where they differ from the method's defaults. Two variants of it
are recipes of their own: `cpu` says what differs where two cores are to finish in minutes (the name ends in
`-cpu`), `exact` what differs where the original is to be restored in every detail (`-paper`). What the file
says of a method as a whole holds for all of its entries. A name that ends in `-best` is of what was chosen on
validation records, of this source or of one like it, beyond what a paper has.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from lqm.utils.errors import ConfigError
from lqm.utils.names import choose

# The recipes for graphs and for tables.
GRAPHS, TABLES = "graphs", "tables"
# Names that stand for a recipe of the method and budget: as in the original, or better than it.
CALLED = PAPER, BEST = "paper", "best"


@dataclass(frozen=True)
class Recipe:
    """How to condense one source by one method into one budget.

    Attributes:
        per_class: images of each class; 0 where the recipe is for every budget.
        settings: what differs from the method's defaults.
        protocol: how the result is to be evaluated.
        paper: the accuracy in percent that the papers report, by distance.
        cost: what it takes on two cores, about.
        graph: the name of the one graph that it is for; for all others if there is none.
        stream: of a graph in a stream of tasks, how its classifier differs from the defaults.
    """

    name: str
    method: str
    per_class: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    protocol: str = "field-1000"
    paper: dict[str, float] = field(default_factory=dict)
    cost: str = ""
    graph: str = ""
    stream: dict[str, Any] = field(default_factory=dict)

    @property
    def stream_settings(self) -> dict[str, Any]:
        """All settings of a graph in a stream of tasks."""
        return self.settings | self.stream

    @property
    def cpu(self) -> bool:
        """Whether this is the scale for two cores."""
        return self.name.endswith("-cpu")

    @property
    def exact(self) -> bool:
        """Whether this restores the original in every detail."""
        return self.called(PAPER)

    def called(self, word: str) -> bool:
        """Whether this is one of the recipes that a word such as `paper` stands for."""
        return self.name.endswith(f"-{word}")


@cache
def load_recipes(source: str) -> dict[str, Recipe]:
    """All recipes for a source, by name."""
    content = tomllib.loads((files(__name__) / f"{source}.toml").read_text(encoding="utf-8"))
    return {recipe.name: recipe for entry in content["recipes"] for recipe in _scales(entry, content)}


def _scales(entry: dict[str, Any], content: dict[str, Any]) -> Iterator[Recipe]:
    """The recipe of an entry, and its variants for two cores and as in the original."""
    cpu, cpu_cost, exact = entry.pop("cpu", None), entry.pop("cpu_cost", ""), entry.pop("exact", {})
    cpu_protocol = entry.pop("cpu_protocol", content.get("cpu_protocol"))
    recipe = Recipe(**{"protocol": content["protocol"], **entry})
    yield recipe
    if cpu is not None:
        of_method = content.get("cpu", {}).get(recipe.method, {})
        yield replace(
            recipe,
            name=f"{recipe.name}-cpu",
            settings=recipe.settings | of_method | cpu,
            protocol=cpu_protocol,
            paper={},
            cost=cpu_cost,
        )
    original = content.get("exact", {}).get(recipe.method)
    if original and not recipe.called(BEST):
        yield replace(
            recipe,
            name=f"{recipe.name}-{PAPER}",
            settings=recipe.settings | original["settings"] | exact,
            protocol=original["protocol"],
        )


def recipe_sources() -> list[str]:
    """The sources that have recipes."""
    return sorted(
        path.name.removesuffix(".toml") for path in files(__name__).iterdir() if path.name.endswith(".toml")
    )


def chosen_recipe(
    source: str, name: str | None, method: str | None, per_class: int | None, *, cpu: bool
) -> Recipe:
    """The recipe of that name, or the one that suits method and budget: dm and 10 unless they are given.

    Without a method, a source that has recipes called `best` has that of the budget.

    Raises:
        ConfigError: if there is none of that name, or it is for another method or budget.
    """
    if name is not None and name not in CALLED:
        return named_recipe(source, name, method, per_class)
    wanted = 10 if per_class is None else per_class
    best = _all_called(source, BEST) if method is None and name in (None, BEST) else []
    method = method or "dm"
    if best:
        fitting = _nearest(best, wanted)
    elif name is None:
        fitting = fitting_recipe(source, method, wanted, cpu=cpu)
    else:
        fitting = called_recipe(source, name, method, wanted)
    return replace(fitting, per_class=wanted)


def named_recipe(source: str, name: str, method: str | None = None, per_class: int | None = None) -> Recipe:
    """The recipe of a source by its name.

    Raises:
        ConfigError: if there is none, or it is for another method or budget than those that are given.
    """
    found = choose(name, load_recipes(source), f"recipe for {_in_words(source)}")
    pairs = (("method", found.method, method), ("per_class", found.per_class, per_class))
    for what, own, given in pairs:
        if given not in (None, own):
            raise ConfigError(
                f"recipe '{name}' is for {what} = {own!r}, not {given!r}; leave one of them out"
            )
    return found


def fitting_recipe(source: str, method: str, per_class: int, *, cpu: bool) -> Recipe:
    """The recipe of the largest budget that is not above `per_class`, or else of the smallest.

    On a CPU it is the `cpu` scale where there is one. A method without a recipe has its defaults.
    """
    known = [recipe for recipe in load_recipes(source).values() if not any(map(recipe.called, CALLED))]
    own = [recipe for recipe in known if recipe.method == method]
    fitting = [recipe for recipe in own if recipe.cpu == cpu] or own
    if not fitting:
        protocols = {recipe.cpu: recipe.protocol for recipe in reversed(known)}
        return Recipe("", method, per_class, protocol=protocols.get(cpu, protocols[False]))
    return _nearest(fitting, per_class)


def called_recipe(source: str, called: str, method: str, per_class: int = 0, graph: str = "") -> Recipe:
    """The recipe `paper` or `best` of a method, chosen among the budgets as by `fitting_recipe`.

    Args:
        source: the file of recipes.
        called: which of the two.
        method: its name.
        per_class: images of each class, for images.
        graph: the name of the graph, for graphs: some need settings of their own.

    Raises:
        ConfigError: if there is none, with what there is.
    """
    known = _all_called(source, called)
    own = [recipe for recipe in known if recipe.method == method and recipe.graph in ("", graph)]
    fitting = [recipe for recipe in own if recipe.graph == graph] or own
    if fitting:
        return _nearest(fitting, per_class)
    if known:
        able = f"it has one for {', '.join(dict.fromkeys(recipe.method for recipe in known))}"
    else:
        others = [_in_words(other) for other in recipe_sources() if _all_called(other, called)]
        able = f"there are some for {', '.join(others)}"
    raise ConfigError(
        f"{_in_words(source)} has no recipe '{called}' for method '{method}'; {able}, or leave the recipe out"
    )


def _all_called(source: str, called: str) -> list[Recipe]:
    return [recipe for recipe in load_recipes(source).values() if recipe.called(called)]


def _nearest(recipes: list[Recipe], per_class: int) -> Recipe:
    """The recipe of the largest budget that is not above, or else of the smallest."""
    ordered = sorted(recipes, key=lambda recipe: recipe.per_class)
    return ([recipe for recipe in ordered if recipe.per_class <= per_class] or ordered[:1])[-1]


def _in_words(source: str) -> str:
    return {"own": "images of your own", GRAPHS: "a graph", TABLES: "a table"}.get(source, source)

"""Settings that suit a source, as data: one TOML file a source, one entry a method and budget.

An entry's `settings` are those of the paper where they differ from the method's defaults. `cpu` says what
differs at a scale that two cores finish in minutes: a recipe of its own, whose name ends in `-cpu`.
"""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from lqm.utils.names import choose


@dataclass(frozen=True)
class Recipe:
    """How to condense one source by one method into one budget.

    Attributes:
        settings: what differs from the method's defaults.
        protocol: how the result is to be evaluated.
        paper: the accuracy in percent that the papers report, by distance.
        cost: what it takes on two cores, about.
    """

    name: str
    method: str
    per_class: int
    settings: dict[str, Any] = field(default_factory=dict)
    protocol: str = "field-1000"
    paper: dict[str, float] = field(default_factory=dict)
    cost: str = ""

    @property
    def cpu(self) -> bool:
        """Whether this is the scale for two cores."""
        return self.name.endswith("-cpu")


@cache
def load_recipes(source: str) -> dict[str, Recipe]:
    """All recipes for a source, by name."""
    content = tomllib.loads((files(__name__) / f"{source}.toml").read_text(encoding="utf-8"))
    recipes = {}
    for entry in content["recipes"]:
        cpu, cpu_cost = entry.pop("cpu", None), entry.pop("cpu_cost", "")
        recipe = Recipe(protocol=content["protocol"], **entry)
        recipes[recipe.name] = recipe
        if cpu is not None:
            recipes[f"{recipe.name}-cpu"] = Recipe(
                f"{recipe.name}-cpu",
                recipe.method,
                recipe.per_class,
                recipe.settings | content.get("cpu", {}).get(recipe.method, {}) | cpu,
                content["cpu_protocol"],
                cost=cpu_cost,
            )
    return recipes


def recipe_sources() -> list[str]:
    """The sources that have recipes."""
    return sorted(
        path.name.removesuffix(".toml") for path in files(__name__).iterdir() if path.name.endswith(".toml")
    )


def named_recipe(source: str, name: str) -> Recipe:
    """The recipe of a source by its name."""
    return choose(
        name, load_recipes(source), f"recipe for {'images of your own' if source == 'own' else source}"
    )


def fitting_recipe(source: str, method: str, per_class: int, *, cpu: bool) -> Recipe:
    """The recipe of the largest budget that is not above `per_class`, or else of the smallest.

    On a CPU it is the `cpu` scale where there is one. A method without a recipe has its defaults.
    """
    known = load_recipes(source)
    own = sorted((r for r in known.values() if r.method == method), key=lambda r: r.per_class)
    scaled = [r for r in own if r.cpu] if cpu else [r for r in own if not r.cpu]
    fitting = scaled or own
    if not fitting:
        protocols = {r.cpu: r.protocol for r in known.values()}
        return Recipe("", method, per_class, protocol=protocols.get(cpu, protocols[False]))
    return ([r for r in fitting if r.per_class <= per_class] or fitting[:1])[-1]

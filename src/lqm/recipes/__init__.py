"""Settings that suit a source, as data: one TOML file a source."""

import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Recipe:
    """The evaluation protocol of a source, and its settings for each method, by budget."""

    protocol: str = "field-1000"
    methods: dict[str, dict[str, Any]] = field(default_factory=dict)

    def settings(self, method: str, per_class: int) -> dict[str, Any]:
        """The method's settings, with those of the largest named budget that is not above `per_class`."""
        table = self.methods.get(method, {})
        budgets = sorted(budget for budget in map(int, table.get("per_class", {})) if budget <= per_class)
        own = table["per_class"][str(budgets[-1])] if budgets else {}
        return {name: value for name, value in table.items() if name != "per_class"} | own


def load_recipe(name: str) -> Recipe:
    """The recipe called `name`."""
    content = tomllib.loads((files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))
    return Recipe(content.pop("protocol"), content)

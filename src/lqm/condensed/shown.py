"""A condensed set as people see it: in a line, and in a notebook."""

from collections.abc import Iterator, Mapping
from typing import Any

from lqm.utils.html import heading, paragraph, table
from lqm.utils.spread import Spread

_MOST_CLASSES = 20


def made_by(manifest: Mapping[str, Any]) -> str:
    """The method and the distance of a set, as far as the manifest names them."""
    distance = manifest.get("distance")
    named = distance.get("name") if isinstance(distance, Mapping) else None
    return " + ".join(str(name) for name in (manifest.get("method"), named) if name)


def score_rows(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """What was trained on, how many records, the accuracy in percent, and how that was found, by score."""
    for entry in manifest.get("scores", ()):
        protocol = entry["protocol"]
        how = f"{protocol.get('network', '')}, {protocol['name']}"
        for name, score in {"condensed": entry, **entry.get("baselines", {})}.items():
            yield name, f"{score.get('records', 0):,}", Spread(tuple(score["accuracies"])).percent(), how


def set_html(title: str, drawing: str, manifest: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    """A set in a notebook: what it is, its images or its classes, and what it scored."""
    source = manifest.get("source", {}).get("name")
    parts = [heading(title)]
    if source:
        steps, seconds = manifest.get("steps"), manifest.get("seconds")
        spent = f", {steps:,} steps in {seconds:,.0f} s" if steps and seconds is not None else ""
        parts.append(paragraph(f"condensed from {source}{spent}", small=True))
    parts.append(drawing or _classes(counts))
    rows = [*score_rows(manifest)]
    if rows:
        parts.append(table(("trained on", "records", "accuracy %", "by"), rows))
    return "".join(parts)


def _classes(counts: Mapping[str, int]) -> str:
    shown = [(name, f"{count:,}") for name, count in counts.items()]
    more = len(shown) - _MOST_CLASSES
    left_out = paragraph(f"and {more:,} classes more", small=True) if more > 0 else ""
    return table(("class", "records"), shown[:_MOST_CLASSES]) + left_out

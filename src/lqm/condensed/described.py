"""What a report, a table or an evaluation needs to know of a set besides its records."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lqm.utils.errors import ArtifactError

# The method of sets that other software made.
IMPORTED = "imported"
_MADE = ("source", "method", "distance", "seed", "settings", "steps", "seconds")
_PROTOCOL = ("name", "epochs", "networks", "network", "full_networks", "learning_rate", "weight_decay")
_SCORE = ("accuracies", "before", "after")


def records_of(manifest: Mapping[str, Any]) -> str:
    """What a set holds, in one word.

    Example:
        >>> records_of({"per_class": 5}), records_of({"per_class": 5, "feature_names": ["age"]})
        ('images', 'rows')
        >>> records_of({"budget": 40})
        'nodes'
    """
    if "feature_names" in manifest:
        return "rows"
    return "images" if "per_class" in manifest else "nodes"


def require_described(manifest: Mapping[str, Any], path: Path | None) -> None:
    """Refuse a set that does not say how it was made, or has scores that are not whole.

    The memory of a task says less, and is refused for what it is where it does not belong.

    Raises:
        ArtifactError: naming what is missing.
    """
    if "task" not in manifest and (missing := next(_missing(manifest), None)):
        where = f"{path / 'manifest.json'} says" if path else "the manifest of this set has"
        raise ArtifactError(
            f"{where} no '{missing}', without which a set can be loaded and trained on, but not evaluated or "
            "shown; name a set that `lqm condense` made"
        )


def _missing(manifest: Mapping[str, Any]) -> Iterator[str]:
    classes = len(manifest["class_names"]) if "class_names" in manifest else None
    yield from (name for name in _MADE if name not in manifest)
    yield from (f"evaluation.{name}" for name in _PROTOCOL if name not in manifest.get("evaluation", {}))
    if not isinstance(manifest.get("per_class", manifest.get("budget")), int):
        yield "per_class' or 'budget"
    if records_of(manifest) == "images" and "preprocessing" not in manifest:
        yield "preprocessing"
    for number, entry in enumerate(manifest.get("scores", ())):
        yield from (f"scores.{number}.protocol.{name}" for name in _PROTOCOL if name not in entry["protocol"])
        for score in (entry, *entry.get("baselines", {}).values()):
            yield from (f"scores.{number}.{name}" for name in _SCORE if name not in score)
            if not {"records", "images", "pictures"} & score.keys():
                yield f"scores.{number}.records"
            for name in ("by_class", "predicted"):
                if classes and len(score.get(name, ())) not in (0, classes):
                    yield f"scores.{number}.{name}' of each class, and so no 'scores"
            confused = score.get("confused", {})
            if classes and any(int(label) >= classes for label in {*confused}.union(*confused.values())):
                yield f"scores.{number}.confused' of these classes, and so no 'scores"

"""Scores in the manifests of earlier versions, by the names that they have now."""

from typing import Any

# Real nodes that networks were trained on with features of their own; theirs are propagated now.
_RAW = {rule: f"{rule}-raw" for rule in ("random", "herding", "k-centre")}


def current_scores(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest whose scores of real nodes are named after the features that the nodes had.

    Scores of the versions that gave nodes their own features say nothing of what was `predicted`.

    Example:
        >>> entry = {"seed": 0, "baselines": {"random": {"accuracies": [0.4]}, "full": {"accuracies": [0.8]}}}
        >>> current_scores({"budget": 10, "scores": [entry]})["scores"][0]["baselines"]
        {'random-raw': {'accuracies': [0.4]}, 'full': {'accuracies': [0.8]}}
    """
    if "budget" not in manifest or "scores" not in manifest:
        return manifest
    return manifest | {"scores": [_renamed(entry) for entry in manifest["scores"]]}


def _renamed(entry: dict[str, Any]) -> dict[str, Any]:
    baselines = entry.get("baselines", {})
    old = {name for name in _RAW if name in baselines and "predicted" not in baselines[name]}
    if not old:
        return entry
    renamed = {_RAW[name] if name in old else name: score for name, score in baselines.items()}
    new = {name: score for name, score in baselines.items() if name not in old}
    return entry | {"baselines": renamed | new}

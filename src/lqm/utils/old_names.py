"""Names that settings had in earlier versions, in files and on command lines."""

from collections.abc import Collection, Mapping
from typing import Any

from lqm.utils.errors import ConfigError

_NAMES = {"start": "init", "start_steps": "init_steps", "stepping": "update"}
_VALUES = {"one-by-one": "per-class"}
# Settings that were added later: what held before, and the settings of the methods that have them.
_ADDED = {
    "clip": ("each-update", "momentum"),
    "mosaic_init": ("cells", "queue_limit"),
    "meter_reset": (0, "queue_limit"),
    "labels": ("hard", "pairs"),
    "expert_cutmix": (0.5, "pairs"),
    "operations_at_once": ("several", "pairs", "synthetic_batch"),
    "lengths": ("free", "updates"),
    "pseudo_among": ("task", "pseudo_labels"),
}
# The classifier of a stream with a memory, as it was by default in earlier versions.
_CLASSIFIER = {
    "classifier": ("gcn:width=256:depth=2", "gcn:width=64:depth=2:bias=false"),
    "classifier_rate": (0.005,),
    "retrain": (False,),
}
# Defaults that have changed since these settings were added.
_CHANGED = {
    "cat": ("steps", "learning_rate", *_CLASSIFIER),
    "puma": ("classifier",),
    "dm": ("learning_rate",),
    "dance": ("learning_rate",),
    **dict.fromkeys(("random", "er-gnn", "ssm"), (*_CLASSIFIER,)),
}
# Methods that keep real nodes; the nodes had features of their own once.
_REAL_NODES = ("random", "herding", "k-centre", "k-means", "er-gnn", "ssm")


def current_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the names that they have now.

    Raises:
        ConfigError: when a setting is given by its old and by its new name.

    Example:
        >>> current_settings({"steps": 5, "start": "noise", "stepping": "one-by-one"})
        {'steps': 5, 'init': 'noise', 'update': 'per-class'}
    """
    for old, name in _NAMES.items():
        if old in settings and name in settings:
            raise ConfigError(f"{old} is the old name of {name}, and both are given; leave {old} out")
    return {
        _NAMES.get(name, name): _VALUES.get(value, value) if isinstance(value, str) else value
        for name, value in settings.items()
    }


def current_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of a run, or a manifest, as this version would have written it.

    Runs on images once had the settings `reuse` and `window`; where both were 1, nothing has changed. What
    runs did not have is as it was.
    """
    if "settings" not in config:
        return dict(config)
    settings = current_settings(config["settings"])
    if "per_class" in config:
        settings = {
            name: value for name, value in settings.items() if name not in ("reuse", "window") or value != 1
        }
    added = {
        name: value for name, (value, *beside) in _ADDED.items() if not settings.keys().isdisjoint(beside)
    }
    if "budget" in config and config.get("method") in _REAL_NODES:
        added["features"] = "own"
    return {**config, "settings": added | settings}


def begun_with(run: Mapping[str, Any], method: str, known: Collection[str]) -> dict[str, Any]:
    """What held in a run that an earlier version began, where defaults have changed since.

    Args:
        run: what is recorded about it; its `config` is empty if there is no run.
        method: the one that is asked for.
        known: names of the settings of that method now.
    """
    config = run["config"]
    stored = current_settings(config.get("settings", {}))
    if config.get("method") != method:
        return {}
    changed = {*_CHANGED.get(method, ())} & {*known}
    if set(known) <= {*stored, "steps"}:  # all settings are recorded, and may be of this version
        return {
            name: stored[name]
            for name, values in _CLASSIFIER.items()
            if name in changed and stored[name] in values
        }
    whole = {"steps": run.get("steps")} | current_config(config)["settings"]
    changed |= {*_ADDED, "features"} & {*known}
    return {name: value for name, value in whole.items() if name in changed and value is not None}

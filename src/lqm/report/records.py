"""Records of runs, compared."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def key_of(record: Any) -> str:
    """A record as text: the same for equal ones."""
    return json.dumps(record, sort_keys=True)


def scores_by_judging(copies: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What copies of one set scored, by the key of the protocol; of each evaluation seed once.

    Example:
        >>> one, other = ({"protocol": {"name": "a"}, "seed": seed} for seed in (0, 1))
        >>> scores_by_judging([{"scores": [one]}, {"scores": [one, other]}, {}]).values()
        dict_values([[{'protocol': {'name': 'a'}, 'seed': 0}, {'protocol': {'name': 'a'}, 'seed': 1}]])
    """
    found: defaultdict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for manifest in copies:
        for score in manifest.get("scores", []):
            found[key_of(score["protocol"])][score["seed"]] = score
    return {judging: [*by_seed.values()] for judging, by_seed in found.items()}


def apart(config: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The settings in which a run differs from others by the same method.

    Example:
        >>> near = {"method": "cat", "settings": {"start": "random", "hops": 1}}
        >>> far = {"method": "cat", "settings": {"start": "noise", "hops": 1}}
        >>> apart(far, [near, far])
        {'start': 'noise'}
    """
    alike = [other.get("settings", {}) for other in others if other["method"] == config["method"]]
    return {
        name: value
        for name, value in config.get("settings", {}).items()
        if any(key_of(other.get(name)) != key_of(value) for other in alike)
    }

"""Records of runs, compared."""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def key_of(record: Any) -> str:
    """A record as text: the same for equal ones."""
    return json.dumps(record, sort_keys=True)


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

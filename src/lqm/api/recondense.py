"""Condense again: the same method and settings as a set's, on other training records."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from lqm.api.planning import plan_condensation
from lqm.api.requests import CondenseRequest
from lqm.condensed import CondensedSet, class_of
from lqm.condensed.described import IMPORTED
from lqm.methods.plan import Following, Plan, learn, recorded_distance
from lqm.utils.cache import Packed, content_key, kept
from lqm.utils.errors import ConfigError

_INSTEAD = "leave them out with --shadows 0, and the references by noise"


def plan_again(
    manifest: Mapping[str, Any],
    source: Any,
    *,
    steps: int,
    seed: int,
    device: torch.device,
    **settings: Any,
) -> Plan:
    """The condensation that a manifest tells of, for another source, number of steps and seed.

    Raises:
        ConfigError: when the manifest does not tell all that it needs.
    """
    distance, name = manifest.get("distance"), None
    if manifest["method"] == IMPORTED:
        raise ConfigError(f"a set that was made elsewhere can't be condensed again; {_INSTEAD}")
    if distance is not None:
        name = distance["name"]
        if recorded_distance(distance) is None:
            raise ConfigError(
                f"sets can't be condensed again by the distance '{name}', one of your own; {_INSTEAD}"
            )
    if "experts" in manifest:
        raise ConfigError(
            f"'{manifest['method']}' learns from experts, and other training records have none; {_INSTEAD}"
        )
    size = {key: manifest[key] for key in ("per_class", "budget") if key in manifest}
    request = CondenseRequest(
        source=source,
        method=manifest["method"],
        distance=name,
        settings={**manifest["settings"], "steps": steps, **settings},
        seed=seed,
        device=str(device),
        show_progress=False,
        **size,
    )
    try:
        return plan_condensation(request, device)
    except ConfigError as error:
        raise ConfigError(f"this set can't be condensed again ({error}); {_INSTEAD}") from error


def condense_again(manifest: Mapping[str, Any], source: Any, **options: Any) -> CondensedSet:
    """See `plan_again`; the set is kept in the cache, so that it is made once."""
    plan = plan_again(manifest, source, **options)
    made = {"config": plan.config, "steps": plan.steps, "environment": plan.record["environment"]}
    return kept(
        "condensed-again",
        content_key(json.dumps(made, sort_keys=True)),
        lambda: learn(plan, None, Following(show_progress=False)),
        pack=lambda found: Packed(
            found.tensors(), {"manifest": found.manifest | {"class_names": list(found.class_names)}}
        ),
        unpack=_unpacked,
    )


def _unpacked(packed: Packed) -> CondensedSet:
    kind = class_of(packed.tensors)
    return replace(kind.of_tensors(packed.tensors, packed.notes["manifest"], Path()), path=None)

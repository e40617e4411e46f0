"""What an audit refuses before any long work."""

from collections.abc import Sequence
from typing import Any

import torch

from lqm.api.recondense import plan_again
from lqm.condensed import CondensedSet
from lqm.evaluation.audit.attacks import Places, halves
from lqm.evaluation.audit.auditor import Auditor
from lqm.utils.errors import ConfigError, DataError


def require_usable(condensed: CondensedSet) -> None:
    """Refuse a set of which nothing can be measured."""
    if not condensed.data.isfinite().all():
        raise DataError("this set holds NaN or infinity, so nothing can be compared with it; condense again")
    if len(condensed.class_names) < 2:
        raise DataError("this set has one class, and the attacks of an audit need two or more")


def require_held_out(labels: Places, name: str) -> None:
    """Refuse a source that leaves nothing to compare training records with."""
    if not len(labels.held_out):
        raise DataError(
            f"'{name}' has no held-out (test) records, and an audit compares with these; "
            "name a source that has some"
        )
    if not torch.isin(labels.held_out, labels.train).any():
        raise DataError(f"no class of '{name}' has training and held-out records; an audit compares these")


def require_references(auditor: Auditor, condensed: CondensedSet, references: Sequence[str]) -> None:
    """Refuse references that can't stand beside this set."""
    if "noise" in references and "init" not in condensed.manifest["settings"]:
        raise ConfigError(
            f"method '{condensed.manifest['method']}' learns nothing and so has no init by noise; "
            "leave the reference noise out"
        )
    if "dp" in references and auditor.private is None:
        raise ConfigError(
            "DP-SGD clips the gradient of each record, and message passing mixes those of many nodes; "
            "the reference dp is for images"
        )


def require_private(network: Any, protocol: str) -> None:
    """Refuse a network that DP-SGD can't train, and DP-SGD where opacus is missing."""
    from lqm.images.networks import uses_batch_statistics
    from lqm.images.private import require_opacus

    require_opacus()
    if uses_batch_statistics(network.train()):
        raise ConfigError(
            f"DP-SGD clips the gradient of each image, and the network of {protocol} mixes those of a batch "
            "by its norm; leave the reference dp out, or choose another protocol"
        )


def require_again(
    condensed: CondensedSet,
    source: Any,
    auditor: Auditor,
    places: Places,
    shadows: int,
    canaries: int,
    references: Sequence[str],
    steps: int,
    seed: int,
    device: torch.device,
) -> None:
    """Refuse what could not be condensed again, before any network is trained."""
    options: dict[str, Any] = {"steps": steps, "seed": seed, "device": device}
    labels = auditor.labels(source)
    if canaries > len(labels.held_out):
        raise ConfigError(
            f"canaries = {canaries} can't be used: there are {len(labels.held_out)} held-out records"
        )
    if shadows:
        for chosen in halves(places.of(labels), shadows, seed)[:2]:
            try:
                plan_again(condensed.manifest, auditor.made_of(source, places.only(chosen)), **options)
            except DataError as error:
                raise ConfigError(
                    f"half of the records is too little for a shadow set ({error}); give --shadows 0"
                ) from error
    elif canaries:
        plan_again(condensed.manifest, source, **options)
    if "noise" in references:
        plan_again(condensed.manifest, source, **options, init="noise")

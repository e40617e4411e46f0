"""Audit: what a condensed set gives away of the records that it was made of."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from lqm.api.audit_work import Subject, Work, subject_of
from lqm.api.checking import check_options
from lqm.api.domains import domain_of_set
from lqm.api.recondense import plan_again
from lqm.api.requests import SourceLike
from lqm.condensed import CondensedSet, load
from lqm.engine import resolve_device
from lqm.engine.compute import Compute
from lqm.engine.progress import Progress
from lqm.evaluation.audit.attacks import Places, alike, halves
from lqm.evaluation.audit.auditor import Auditor
from lqm.evaluation.audit.result import OWN, Audit, Measured
from lqm.evaluation.evaluator import refuse_memory
from lqm.evaluation.origins import source_of
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.log import warn
from lqm.utils.names import choose
from lqm.utils.sentences import counted
from lqm.utils.settings import Count, Positive, check

REFERENCES = ("random", "noise", "dp")
# Steps of sets that are condensed again, unless the set had fewer; records of either side that are attacked.
_STEPS, _ATTACKED = 100, 10_000
# Of fewer canaries or shadows nothing can be said, and more take days.
_FEWEST, _MOST = 4, 1000


def audit(
    condensed: str | Path | CondensedSet,
    *,
    shadows: int = 8,
    canaries: int = 0,
    steps: int | None = None,
    references: str | Sequence[str] = ("random",),
    epsilon: float = 8.0,
    protocol: str | None = None,
    source: SourceLike | None = None,
    data_dir: str | Path | None = None,
    seed: int = 0,
    device: str = "auto",
    show_progress: bool = True,
) -> Audit:
    """Measure what a condensed set gives away of its training records, and store it in the manifest.

    Members are the training records, others the held-out (test) ones. The networks and the sets that are
    condensed again are cached: an audit that was stopped resumes after the last one.

    Args:
        condensed: a set of images or of nodes, or the folder of one.
        shadows: sets that are condensed from random halves of all real records, an even number, for the
            likelihood-ratio attack; 0 leaves it out.
        canaries: mislabelled held-out records, an even number, that are planted in two sets; 0 for none.
        steps: of each set that is condensed again; by default those of the set itself, at most 100.
        references: sets to measure beside it: `random` real records, one condensed from `noise`, and `dp`, a
            network trained on the real images by DP-SGD (needs opacus: `pip install 'lqm[dp]'`).
        epsilon: of DP-SGD.
        protocol: how networks are trained, by name; by default as the manifest asks.
        source: where the real data come from; by default the place that was condensed.
        data_dir: where named sources are, if they have moved.
        seed: of everything that is drawn.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
        show_progress: whether to show the work and the time left.

    Raises:
        LqmError: when something can't be used, before any long work.
    """
    for name, value in (("shadows", shadows), ("canaries", canaries)):
        check(name, value, Count if value else int)
        if value and (value % 2 or not _FEWEST <= value <= _MOST):
            raise ConfigError(
                f"{name} = {value} can't be used: it should be 0, or even and from {_FEWEST} to {_MOST}"
            )
    check("steps", steps, Count | None)
    check("epsilon", epsilon, Positive)
    check_options(
        references=references,
        protocol=protocol,
        source=source,
        data_dir=data_dir,
        seed=seed,
        device=device,
        show_progress=show_progress,
    )
    names = [name for name in references.split(",") if name] if isinstance(references, str) else references
    for name in names:
        choose(name, dict.fromkeys(REFERENCES), "reference")
    where = resolve_device(device)
    condensed = condensed if isinstance(condensed, CondensedSet) else load(condensed)
    refuse_memory(condensed.manifest)
    _require_usable(condensed)
    domain = domain_of_set(condensed)
    evaluator, auditor = domain.evaluator, domain.auditor
    rules = (
        choose(protocol, evaluator.protocols, "protocol") if protocol else evaluator.protocol_of(condensed)
    )
    _require_references(auditor, condensed, names)
    data = source_of(evaluator, condensed.manifest, source, data_dir)
    labels = auditor.labels(data)
    _require_held_out(labels, data.name)
    own_steps = condensed.manifest["steps"]
    again = steps or min(own_steps, _STEPS)
    made_again = shadows or canaries or "noise" in names
    places = alike(*labels, _ATTACKED, seed)
    _require_again(condensed, data, auditor, places, shadows, canaries, names, again, seed, where)
    how, _ = evaluator.decide(data, rules, condensed, where)
    total = rules.networks * (1 + sum(name != "dp" for name in names)) + shadows
    total += sum(name in ("noise", "dp") for name in names) + 2 * bool(canaries)
    if show_progress and (shadows or canaries):
        sets = counted(shadows + 2 * bool(canaries), "set", "sets")
        warn(f"{sets} of {again:,} steps will be condensed again; --shadows 0 leaves the shadows out")
    with Progress("audit", total, shown=show_progress) as bar:
        finished = iter(range(1, total + 1))
        work = Work(
            condensed,
            data,
            evaluator,
            auditor,
            rules,
            how or Compute(),
            where,
            seed,
            places,
            again,
            lambda: bar.update(next(finished), {}),
        )
        measured = _measure(work, subject_of(condensed, evaluator, auditor), shadows, names, epsilon)
        planted = work.canaries(canaries) if canaries else None
    found = Audit(
        records=auditor.records,
        bound=auditor.bounds.words,
        sets=measured,
        canaries=planted,
        shadows=shadows,
        steps=again,
        seed=seed,
        protocol=rules.name,
        notes=tuple(_notes(len(places.held_out), again if made_again else own_steps, own_steps)),
    )
    condensed.with_audit(found.entry())
    return found


def _measure(
    work: Work, subject: Subject, shadows: int, references: Sequence[str], epsilon: float
) -> dict[str, Measured]:
    found, confidences = work.measure(subject)
    if shadows:
        found.attacks.update(work.ratio(confidences, shadows))
    sets = {OWN: found}
    for name in references:
        title = f"DP-SGD, epsilon {epsilon:g}" if name == "dp" else name
        sets[title] = work.private(epsilon) if name == "dp" else work.reference(name)[0]
    return sets


def _require_usable(condensed: CondensedSet) -> None:
    if not condensed.data.isfinite().all():
        raise DataError("this set holds NaN or infinity, so nothing can be compared with it; condense again")
    if len(condensed.class_names) < 2:
        raise DataError("this set has one class, and the attacks of an audit need two or more")


def _require_held_out(labels: Places, name: str) -> None:
    if not len(labels.held_out):
        raise DataError(
            f"'{name}' has no held-out (test) records, and an audit compares with these; "
            "name a source that has some"
        )
    if not torch.isin(labels.held_out, labels.train).any():
        raise DataError(f"no class of '{name}' has training and held-out records; an audit compares these")


def _require_references(auditor: Auditor, condensed: CondensedSet, references: Sequence[str]) -> None:
    if "noise" in references and "init" not in condensed.manifest["settings"]:
        raise ConfigError(
            f"method '{condensed.manifest['method']}' chooses real records and has no init by noise; "
            "leave the reference noise out"
        )
    if "dp" in references and auditor.private is None:
        raise ConfigError(
            "DP-SGD clips the gradient of each record, and message passing mixes those of many nodes; "
            "the reference dp is for images"
        )
    if "dp" in references:
        from lqm.images.private import require_opacus

        require_opacus()


def _require_again(
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
    if canaries > len(auditor.labels(source).held_out):
        held_out = len(auditor.labels(source).held_out)
        raise ConfigError(f"canaries = {canaries} can't be used: there are {held_out} held-out records")
    if shadows:
        labels = auditor.labels(source)
        pool = torch.cat([own[chosen] for own, chosen in zip(labels, places, strict=True)])
        for chosen in halves(pool, shadows, seed)[:2]:
            members = chosen[: len(places.train)], chosen[len(places.train) :]
            half = Places(*(own[some] for own, some in zip(places, members, strict=True)))
            try:
                plan_again(condensed.manifest, auditor.made_of(source, half), **options)
            except DataError as error:
                raise ConfigError(
                    f"half of the records is too little for a shadow set ({error}); give --shadows 0"
                ) from error
    elif canaries:
        plan_again(condensed.manifest, source, **options)
    if "noise" in references:
        plan_again(condensed.manifest, source, **options, init="noise")


def _notes(others: int, steps: int, own_steps: int) -> list[str]:
    notes = []
    if others < 1000:
        rate, enough = ("1 %", 100) if others < 100 else ("0.1 %", 1000)
        notes.append(
            f"{others:,} held-out records are too few for a false positive rate of {rate}, which takes "
            f"{enough:,}."
        )
    if steps < own_steps:
        notes.append(
            f"Sets that were condensed again (shadows, canaries, noise) had {steps:,} steps and this set "
            f"{own_steps:,}: an attacker with more time may find more."
        )
    return notes

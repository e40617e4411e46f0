"""Audit: what a condensed set gives away of the records that it was made of."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lqm.api.audit_checks import (
    require_again,
    require_held_out,
    require_private,
    require_references,
    require_usable,
)
from lqm.api.audit_work import Subject, Work, subject_of
from lqm.api.checking import check_options
from lqm.api.domains import domain_of_set
from lqm.api.given import real_data
from lqm.api.types import SourceLike
from lqm.condensed import CondensedSet, load_described
from lqm.engine import resolve_device
from lqm.engine.compute import Compute
from lqm.engine.progress import Progress
from lqm.evaluation.audit.attacks import alike
from lqm.evaluation.audit.result import OWN, Audit, Measured
from lqm.evaluation.evaluator import refuse_memory
from lqm.evaluation.origins import real_data_of
from lqm.utils.errors import ArtifactError, ConfigError
from lqm.utils.log import warn
from lqm.utils.memory import memory_for
from lqm.utils.names import choose
from lqm.utils.sentences import counted
from lqm.utils.settings import Count, check

REFERENCES = ("random", "noise", "dp")
# Steps of sets that are condensed again, unless the set had fewer; records of either side that are attacked.
_STEPS, _ATTACKED = 100, 10_000
# Of fewer canaries or shadows nothing can be said, and more take days.
_FEWEST, _MOST = 4, 1000
# Below opacus finds no scale of the noise, and far above it looks for one without end.
_Epsilon = Annotated[float, Field(ge=0.1, le=1000, description="a number from 0.1 to 1,000")]


@memory_for("auditing", "give a protocol with a smaller network, or leave shadows and references out")
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
    max_memory: str | int | None = None,
    show_progress: bool = True,
) -> Audit:
    """Measure what a condensed set gives away of its training records, and store it in the manifest.

    Members are the training records, others the held-out (test) ones. The networks and the sets that are
    condensed again are cached: an audit that was stopped resumes after the last one.

    Args:
        condensed: a set of images or of nodes, or the folder of one.
        shadows: sets that are condensed from random halves of the attacked records, an even number, for the
            likelihood-ratio attack; 0 leaves it out.
        canaries: mislabelled held-out records, an even number, that are planted in two sets; 0 for none.
        steps: of each set that is condensed again; by default those of the set itself, at most 100.
        references: sets to measure beside it: `random` real records, one condensed from `noise`, and `dp`, a
            network trained on the real images by DP-SGD (needs opacus: `pip install 'lqm[dp]'`).
        epsilon: of DP-SGD, from 0.1 to 1,000.
        protocol: how networks are trained, by name; by default as the manifest asks.
        source: where the real data come from; by default the place that was condensed.
        data_dir: where named sources are, if they have moved.
        seed: of everything that is drawn.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
        max_memory: the most that the content of a file may take, such as `4GB`.
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
    check("epsilon", epsilon, _Epsilon)
    check_options(
        references=references,
        protocol=protocol,
        source=source,
        data_dir=data_dir,
        seed=seed,
        device=device,
        show_progress=show_progress,
    )
    names = _distinct(references)
    where = resolve_device(device)
    condensed = condensed if isinstance(condensed, CondensedSet) else load_described(condensed)
    refuse_memory(condensed.manifest)
    require_usable(condensed)
    domain = domain_of_set(condensed)
    evaluator, auditor = domain.evaluator, domain.auditor
    rules = (
        choose(protocol, evaluator.protocols, "protocol") if protocol else evaluator.protocol_of(condensed)
    )
    require_references(auditor, condensed, names)
    data = real_data_of(
        evaluator, condensed, real_data(condensed, source, show_progress=show_progress), data_dir, max_memory
    )
    if "dp" in names:
        require_private(evaluator.fresh_network(data, rules.network, seed, 0), rules.name)
    labels = auditor.labels(data)
    require_held_out(labels, data.name)
    own_steps = condensed.manifest["steps"]
    # What is chosen among real records is chosen in one step.
    learned = "init" in condensed.manifest["settings"]
    again = steps if steps and learned else min(own_steps, _STEPS)
    made_again = shadows + 2 * bool(canaries) + ("noise" in names)
    places = alike(*labels, _ATTACKED, seed)
    require_again(condensed, data, auditor, places, shadows, canaries, names, again, seed, where)
    how, _ = evaluator.decide(data, rules, condensed, where)
    total = rules.networks * (1 + sum(name != "dp" for name in names)) + shadows
    total += sum(name in ("noise", "dp") for name in names) + 2 * bool(canaries)
    if show_progress and made_again:
        sets = counted(made_again, "set", "sets")
        instead = "; --shadows 0 leaves the shadows out" if shadows else ""
        warn(f"{sets} of {again:,} steps will be condensed again{instead}")
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
    try:
        condensed.with_audit(found.entry())
    except ArtifactError as error:
        return replace(found, not_kept=str(error))
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


def _distinct(references: str | Sequence[str]) -> list[str]:
    """The names of references, each once."""
    given = references.split(",") if isinstance(references, str) else references
    names = [*dict.fromkeys(name for name in given if name)]
    for name in names:
        choose(name, dict.fromkeys(REFERENCES), "reference")
    return names


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

"""An audit as a manifest has it, which may come from a stranger: read, or left out with a warning."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

from pydantic import TypeAdapter

from lqm.evaluation.audit.attacks import FALSE_RATES, Attack
from lqm.evaluation.audit.nearest import Copies
from lqm.evaluation.audit.result import OWN, Audit
from lqm.utils.log import warn

_AUDIT = TypeAdapter(Audit)
# No share, area or count of an audit is larger.
_LARGEST = 10**12


def audit_in(manifest: Mapping[str, Any]) -> Audit | None:
    """The audit in a manifest, if there is one that this version can read."""
    entry = manifest.get("audit")
    if entry is None:
        return None
    try:
        found = _AUDIT.validate_python(entry)
        _require_whole(found)
        return found
    except ValueError:
        warn("the audit in the manifest was written by another version and is not shown; run it again")
        return None


def _require_whole(audit: Audit) -> None:
    """Refuse what no audit finds, and what its table could not show.

    Raises:
        ValueError: when there is such a thing.
    """
    if OWN not in audit.sets or audit.own.copies is None:
        raise ValueError("there is nothing about the set itself")
    for part in _parts(audit):
        if isinstance(part, Copies):
            numbers = (part.exact, part.near, part.traceable)
            if part.records < 1 or not all(0 <= number <= part.records for number in numbers):
                raise ValueError("it counts more copies than records")
        if isinstance(part, Attack) and len(part.rates) != len(FALSE_RATES):
            raise ValueError("an attack has other rates")
        if isinstance(part, float | int) and not (isfinite(part) and abs(part) < _LARGEST):
            raise ValueError("a number is beyond any reason")


def _parts(whole: Any) -> Iterator[Any]:
    """Everything in an audit but its seed, which may be any number."""
    yield whole
    if is_dataclass(whole):
        inner = [getattr(whole, field.name) for field in fields(whole) if field.name != "seed"]
    elif isinstance(whole, Mapping):
        inner = [*whole.values()]
    else:
        inner = [*whole] if isinstance(whole, tuple) else []
    for part in inner:
        yield from _parts(part)

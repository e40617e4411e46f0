"""Export: a condensed set for other software, with a card that says what it is and how to use it."""

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from lqm import __version__
from lqm.api.domains import domain_of_set
from lqm.condensed import CondensedSet, load
from lqm.condensed.export import export, exported_path
from lqm.report.card import UNKNOWN, dataset_card
from lqm.utils.places import without_places
from lqm.utils.settings import Switch, check

_Licence = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\n\r]+$", description="a name")]
# What a set says of its own files and of the machine that made it.
_KEPT_BACK = ("data", "seal", "format", "peak_memory")
_VERSIONS = ("lqm", "python", "torch", "numpy")


def export_set(
    condensed: str | Path | CondensedSet,
    to: str,
    out: str | Path,
    *,
    license: str | None = None,
    force: bool = False,
) -> Path:
    """Write a condensed set in a form that other software reads, with a dataset card and `lqm.json`.

    In a folder these are `README.md` and `lqm.json`; of a file `set.npz` they are `set.npz.README.md` and
    `set.npz.lqm.json`.

    Args:
        condensed: a set, or the folder of one.
        to: `folder`, `npz`, `parquet`, `png` or `torch`; of nodes `npz` or `torch`.
        out: the folder or file; a file's suffix is added if it is not there.
        license: the licence that the card names, such as `cc-by-4.0`; `unknown` if none is given.
        force: whether to write over an earlier export.

    Returns:
        The path written.

    Raises:
        LqmError: when there is no such form, or something is there already.
    """
    check("license", license, _Licence | None)
    check("force", force, Switch)
    condensed = condensed if isinstance(condensed, CondensedSet) else load(condensed)
    evaluator = domain_of_set(condensed).evaluator
    path, licence = exported_path(condensed, to, out), license or UNKNOWN
    card = dataset_card(
        condensed, to, path.name, licence, lambda stored: evaluator.stored_protocol(stored).in_words()
    )
    facts = json.dumps(_facts(condensed, to, licence), indent=2) + "\n"
    beside = {"README.md": card.encode(errors="backslashreplace"), "lqm.json": facts.encode()}
    return export(condensed, to, out, beside=beside, force=force)


def _facts(condensed: CondensedSet, to: str, licence: str) -> dict[str, Any]:
    """What a manifest says that may be given away, and what the export is."""
    manifest = condensed.manifest
    told = {name: value for name, value in manifest.items() if name not in _KEPT_BACK}
    if "origin" in told:
        told["origin"] = without_places(told["origin"])
    if "environment" in told:
        told["environment"] = {name: told["environment"].get(name) for name in _VERSIONS}
    about = {"written_by": f"lqm {__version__}", "form": to, "license": licence}
    return about | {"records": len(condensed.labels), "class_names": list(condensed.class_names)} | told

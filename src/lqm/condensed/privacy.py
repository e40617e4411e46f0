"""What a manifest tells about copies of training records, for whoever is about to give a set away."""

from lqm.condensed.artefact import Manifest
from lqm.condensed.described import IMPORTED

# Methods whose result is real records.
_CHOOSING = ("random", "herding", "k-centre", "k-means", "er-gnn", "ssm")


def copies_warning(manifest: Manifest, run: str) -> str | None:
    """One line about near copies in a set: as its audit found, else as it was made; None if there is none.

    `run` is what the set is called in a command.
    """
    method, init = manifest.get("method"), manifest.get("settings", {}).get("init")
    if method in _CHOOSING:
        return f"warning: these are real training records, chosen by '{method}': whoever gets this gets them"
    try:
        found = manifest["audit"]["sets"]["condensed"]["copies"]
        near, traceable, records = (int(found[name]) for name in ("near", "traceable", "records"))
    except (KeyError, TypeError, ValueError, OverflowError):
        if method == IMPORTED:
            audit = f"`lqm audit {run} --shadows 0`"
            return f"warning: this set was made elsewhere; {audit} finds out how near it is to real records"
        if init in (None, "noise"):
            return None
        return f"warning: this set began as real records; `lqm audit {run}` finds out how near it still is"
    if near:
        return f"warning: {near:,} of {records:,} records are near copies of training records (lqm audit)"
    if traceable:
        return (
            f"warning: {traceable:,} of {records:,} records can be traced to one training record (lqm audit)"
        )
    return None

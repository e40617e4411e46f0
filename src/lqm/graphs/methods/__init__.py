"""Methods that condense graphs: one file each, any distance with any of those that match."""

from lqm.graphs.methods.cat import CAT, PUMA
from lqm.graphs.methods.coresets import CORESETS
from lqm.methods.spec import MethodSpec

METHODS: dict[str, MethodSpec] = {"cat": CAT, "puma": PUMA, **CORESETS}

__all__ = ["METHODS"]

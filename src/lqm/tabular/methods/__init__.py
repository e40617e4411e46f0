"""Methods that condense tables: one file each, any distance with any of those that match features."""

from lqm.methods.spec import MethodSpec
from lqm.tabular.methods.coresets import CORESETS
from lqm.tabular.methods.dm import DM

METHODS: dict[str, MethodSpec] = {"dm": DM, **CORESETS}

__all__ = ["METHODS"]

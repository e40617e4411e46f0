"""Methods that condense images: one file each, any distance with any of those that match features."""

from lqm.images.methods.coresets import CORESETS
from lqm.images.methods.dance import DANCE
from lqm.images.methods.datadam import DATADAM
from lqm.images.methods.dc import DC, DSA
from lqm.images.methods.dm import DM
from lqm.images.methods.idm import IDM
from lqm.methods.spec import MethodSpec

METHODS: dict[str, MethodSpec] = {
    "dm": DM,
    "datadam": DATADAM,
    "idm": IDM,
    "dc": DC,
    "dsa": DSA,
    "dance": DANCE,
    **CORESETS,
}

__all__ = ["METHODS"]

"""Methods that condense images: one file each, any distance with any of those that match features."""

from lqm.images.methods.cafe import CAFE, CAFE_DSA
from lqm.images.methods.coresets import CORESETS
from lqm.images.methods.dance import DANCE
from lqm.images.methods.datadam import DATADAM
from lqm.images.methods.dm import DM
from lqm.images.methods.gradients import DC, DCC, DSA, DSAC
from lqm.images.methods.idc import IDC
from lqm.images.methods.idm import IDM
from lqm.images.methods.m3d import M3D
from lqm.images.methods.ncfm import NCFM
from lqm.images.methods.trajectories import DATM, FTD, MTT, TESLA
from lqm.methods.spec import MethodSpec

METHODS: dict[str, MethodSpec] = {
    "dm": DM,
    "datadam": DATADAM,
    "idm": IDM,
    "dc": DC,
    "dsa": DSA,
    "dcc": DCC,
    "dsac": DSAC,
    "idc": IDC,
    "cafe": CAFE,
    "cafe-dsa": CAFE_DSA,
    "dance": DANCE,
    "m3d": M3D,
    "ncfm": NCFM,
    "mtt": MTT,
    "ftd": FTD,
    "tesla": TESLA,
    "datm": DATM,
    **CORESETS,
}

__all__ = ["METHODS"]

"""Methods that condense pictures: one file each, any distance with any of them."""

from lqm.images.methods.dm import DM

METHODS = {"dm": DM}

__all__ = ["METHODS"]

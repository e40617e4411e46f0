"""Words for what was done to a graph while it was read."""

from lqm.utils.sentences import counted

__all__ = ["counted"]

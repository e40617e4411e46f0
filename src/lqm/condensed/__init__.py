"""S in S* = argmin D(phi(T), phi(S)): the synthetic set, in memory and as files."""

from lqm.condensed.condensed_set import CondensedSet, load

__all__ = ["CondensedSet", "load"]

"""Sets of images that other software made: files become a condensed set that lqm evaluates and shows."""

from lqm.images.imports.files import read_given
from lqm.images.imports.fitting import ImportSettings, fitted
from lqm.images.imports.layouts import Given

__all__ = ["Given", "ImportSettings", "fitted", "read_given"]

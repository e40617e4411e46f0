"""D in S* = argmin D(phi(T), phi(S)): tensors in, one number a class out; knows no images and no graphs.

A new distance is one file beside this one and one line in the table below.
"""

from lqm.distances.amplitude import AmplitudePhase
from lqm.distances.characteristic import Characteristic
from lqm.distances.classes import class_losses, class_targets
from lqm.distances.distance import Distance, Target
from lqm.distances.energy import Energy
from lqm.distances.kernel import Kernel
from lqm.distances.mean import Mean
from lqm.distances.moments import Moments
from lqm.distances.quantile import Quantile
from lqm.distances.shape import Shape
from lqm.distances.wasserstein import SlicedWasserstein, Wasserstein

DISTANCES: dict[str, Distance] = {
    "mean": Mean(),
    "moments": Moments(),
    "lqm": Quantile("lqm"),
    "lqm-linear": Quantile("lqm-linear", interpolation="linear"),
    "lqm-ad": Quantile("lqm-ad", statistic="anderson-darling"),
    "lqm-ad-weighted": Quantile("lqm-ad-weighted", statistic="anderson-darling", weighted=True),
    "shape": Shape(),
    "wasserstein": Wasserstein(),
    "sliced-wasserstein": SlicedWasserstein(),
    "energy": Energy(),
    "kernel": Kernel(),
    "characteristic": Characteristic(),
    "ncfm": AmplitudePhase(),
}
# What the condensation papers call MMD is the matching of means.
ALIASES = {"mmd": "mean"}

__all__ = ["ALIASES", "DISTANCES", "Distance", "Target", "class_losses", "class_targets"]

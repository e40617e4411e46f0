"""A whole step of DM with LQM against the same step with mean matching."""

import itertools
from collections.abc import Callable

import torch

from benchmarks.timing import Comparison, interleaved
from lqm.distances import DISTANCES
from lqm.images.methods.dm import DM, DMSettings
from lqm.images.sources import ImageSource, Pictures, load_source


def measure_at_cifar_shapes() -> Comparison:
    labels = torch.arange(10).repeat_interleave(256)
    pictures = Pictures(torch.rand(2560, 3, 32, 32), labels)
    source = ImageSource("noise", pictures, pictures, tuple(map(str, range(10))))
    return _measure(source, DMSettings(), "DM step, 10 classes x 256 real 32x32, width 128", rounds=7)


def measure_on_digits() -> Comparison:
    settings = DMSettings(network="convnet:width=64:depth=2")
    return _measure(load_source("digits"), settings, "DM step, digits, width 64", rounds=61)


def _measure(source: ImageSource, settings: DMSettings, work: str, rounds: int) -> Comparison:
    plain, ours = interleaved(_steps(source, "mean", settings), _steps(source, "lqm", settings), rounds)
    return Comparison(f"{work}: lqm", "mean", plain, ours, at_most=1.1)


def _steps(source: ImageSource, distance: str, settings: DMSettings) -> Callable[[], object]:
    method = DM(source, DISTANCES[distance], 10, 0, settings, torch.device("cpu"))
    count = itertools.count()
    return lambda: method.step(next(count))

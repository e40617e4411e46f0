"""Steps at CIFAR-10's shapes, compiled, against the field's loops; and LQM's step against the mean's."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from benchmarks.noise import noise
from benchmarks.ratios.plain import PlainDataDAM, PlainDM, PlainIDM, plain_train
from benchmarks.ratios.timing import Work
from lqm.distances import DISTANCES
from lqm.engine.compute import Compute
from lqm.engine.randomness import generator
from lqm.images.evaluation import PROTOCOLS
from lqm.images.methods import METHODS
from lqm.images.networks import make_network
from lqm.images.problem import ImageProblem
from lqm.images.sources import Images, ImageSource, load_source
from lqm.images.training import train

_PLAIN = {"dm": PlainDM, "datadam": PlainDataDAM, "idm": PlainIDM}
_PER_CLASS = 10
_CPU = torch.device("cpu")
_COMPILED = Compute(compile=True)
# The first step compiles, and the second what only it meets, such as the class term of IDM.
_WARM_UP = 2
# Of one training; long enough that to set it up does not count.
_EPOCHS = 10


def _plain_steps(name: str) -> Callable[[], object]:
    return _counted(_PLAIN[name](noise(), "lqm", _PER_CLASS, 0, METHODS[name].settings()))


def _steps(name: str, distance: str = "lqm") -> Callable[[], object]:
    return _method(noise(), name, distance, METHODS[name].settings(), _COMPILED)


def _steps_on_digits(distance: str) -> Callable[[], object]:
    settings = METHODS["dm"].settings(network="convnet:width=64:depth=2")
    return _method(load_source("digits"), "dm", distance, settings, Compute())


def _method(
    source: ImageSource, name: str, distance: str, settings: Any, compute: Compute
) -> Callable[[], object]:
    problem = ImageProblem(
        class_names=source.class_names,
        counts=(_PER_CLASS,) * len(source.class_names),
        distance=DISTANCES[distance],
        seed=0,
        device=_CPU,
        source=source,
        compute=compute,
    )
    return _counted(METHODS[name].build(problem, settings))


def _counted(method: Any) -> Callable[[], object]:
    count = itertools.count()
    return lambda: method.step(next(count))


def _training(way: Callable[..., None], **options: Any) -> Callable[[], object]:
    """A training of some epochs on 10 images of each class, always of the same network."""
    source, rules = noise(), PROTOCOLS["field-1000"]
    labels = torch.arange(10).repeat_interleave(_PER_CLASS)
    images = Images(torch.rand(len(labels), *source.shape), labels)
    network = make_network(rules.network, source.shape, 10)
    return lambda: way(
        network,
        images,
        source,
        epochs=_EPOCHS - 1,  # both count from 0 up to and with this one
        learning_rate=rules.learning_rate,
        momentum=rules.momentum,
        weight_decay=rules.weight_decay,
        batch=rules.batch,
        draws=generator(0, "batches"),
        **options,
    )


def _against_the_field(name: str, title: str, rounds: int, at_least: float) -> Work:
    return Work(
        title,
        "the field's loop",
        partial(_plain_steps, name),
        partial(_steps, name),
        rounds,
        _WARM_UP,
        at_least=at_least,
    )


DM_STEP = _against_the_field("dm", "DM + LQM step, 10 classes x 256 real 32x32", rounds=7, at_least=2)
IDM_STEP = _against_the_field(
    "idm", "IDM + LQM step, 10 classes x 256 real 32x32, with training", rounds=3, at_least=1.7
)
DATADAM_STEP = _against_the_field(
    "datadam", "DataDAM + LQM step, 10 classes x 64 real 32x32", rounds=11, at_least=1.5
)
EVALUATION = Work(
    f"{_EPOCHS} epochs of evaluation, 100 images 32x32",
    "the field's loop",
    partial(_training, plain_train),
    partial(_training, train, compute=_COMPILED),
    rounds=11,
    warm_up=_WARM_UP,
    at_least=1.5,
)
LQM_AT_CIFAR_SHAPES = Work(
    "DM step, 10 classes x 256 real 32x32: LQM",
    "the mean",
    partial(_steps, "dm", "mean"),
    partial(_steps, "dm", "lqm"),
    rounds=7,
    warm_up=_WARM_UP,
    at_most=1.1,
    plain_is_ours=True,
)
LQM_ON_DIGITS = Work(
    "DM step, digits, width 64: LQM",
    "the mean",
    partial(_steps_on_digits, "mean"),
    partial(_steps_on_digits, "lqm"),
    rounds=61,
    warm_up=_WARM_UP,
    at_most=1.1,
    plain_is_ours=True,
)

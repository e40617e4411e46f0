"""Steps at CIFAR-10's shapes, compiled, against the field's loops; and LQM's step against the mean's."""

import itertools
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from benchmarks.noise import noise
from benchmarks.ratios.plain import PlainDataDAM, PlainDM, PlainIDM, plain_train
from benchmarks.ratios.timing import Work, Worker, command
from lqm.distances import DISTANCES
from lqm.engine.compute import Compute
from lqm.engine.probes import try_bf16
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
_IN_BF16 = Compute(compile=True, precision="bf16")
# The first step compiles, and the second what only it meets, such as the class term of IDM.
_WARM_UP = 2
# Of one training; long enough that to set it up does not count.
_EPOCHS = 10


def _plain_steps(name: str) -> Callable[[], object]:
    return _counted(_PLAIN[name](noise(), "lqm", _PER_CLASS, 0, METHODS[name].settings()))


def _steps(name: str, distance: str = "lqm", compute: Compute = _COMPILED) -> Callable[[], object]:
    return _method(noise(), name, distance, METHODS[name].settings(), compute)


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


def _one_after_another() -> Callable[[], object]:
    """As many trainings as there are cores, each with all of them."""
    train_once = _training(plain_train)
    return lambda: [train_once() for _ in range(torch.get_num_threads())]


def _side_by_side() -> Callable[[], object]:
    """The same as `lqm evaluate` does it: each with one core, in a process of its own."""
    cores, opened = torch.get_num_threads(), ExitStack()
    if cores == 1:
        return _training(train, compute=_COMPILED)
    workers = [
        opened.enter_context(Worker(command("evaluation", "ours", True), threads=1)) for _ in range(cores)
    ]

    def step() -> None:
        for worker in workers:
            worker.begin()
        for worker in workers:
            worker.end()

    return step


def _slow_bf16() -> str | None:
    """Why bf16 is no faster here."""
    trial = try_bf16("cpu")
    return trial.problem or trial.slower


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
DM_STEP_IN_BF16 = replace(
    DM_STEP,
    title="DM + LQM step in bf16, 10 classes x 256 real 32x32",
    ours=partial(_steps, "dm", compute=_IN_BF16),
    at_least=4,
    problem=_slow_bf16,
)
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
EVALUATION_IN_BF16 = replace(
    EVALUATION,
    title=f"{EVALUATION.title}, in bf16",
    ours=partial(_training, train, compute=_IN_BF16),
    at_least=2.5,
    problem=_slow_bf16,
)
EVALUATIONS = replace(
    EVALUATION,
    title=f"{EVALUATION.title}, of a network for each core",
    plain=_one_after_another,
    ours=_side_by_side,
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

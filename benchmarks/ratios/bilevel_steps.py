"""Steps of the methods whose networks learn from S, at CIFAR-10's shapes, against the field's loops."""

import itertools
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch

from benchmarks.noise import noise
from benchmarks.ratios.plain_cafe import PlainCAFE
from benchmarks.ratios.plain_gradients import PlainGradients, PlainIDC
from benchmarks.ratios.plain_trajectories import PlainTrajectories
from benchmarks.ratios.timing import Work
from lqm.distances import DISTANCES
from lqm.engine.compute import Compute
from lqm.engine.randomness import seeded
from lqm.images.methods import METHODS
from lqm.images.networks import make_network
from lqm.images.problem import ImageProblem
from lqm.images.sources import ImageSource

_CLASSES, _PER_CLASS, _SEED = 10, 10, 0
_NETWORK = "convnet:width=128"
# Loops as long as those of the papers would take minutes: one or two updates have the same parts.
_MATCHING = {"network": _NETWORK, "real_batch": 64, "init": "random"}
SETTINGS: dict[str, dict[str, Any]] = {
    "dsa": {**_MATCHING, "outer": 2, "inner": 2},
    "dsac": {**_MATCHING, "outer": 2, "inner": 2, "warm_up": 0},
    "idc": {**_MATCHING, "outer": 2, "train_images": 256},
    "cafe": {**_MATCHING, "outer": 2, "inner": 2, "query_batch": 16},
    "mtt": {"network": _NETWORK, "student_steps": 3},
    "tesla": {"network": _NETWORK, "student_steps": 3},
    "datm": {"network": _NETWORK, "student_steps": 3, "classified": False, "threshold": None},
}
_PLAIN: dict[str, Any] = {
    "dsa": PlainGradients,
    "dsac": PlainGradients,
    "idc": PlainIDC,
    "cafe": PlainCAFE,
    "mtt": PlainTrajectories,
    "tesla": PlainTrajectories,
    "datm": PlainTrajectories,
}


class RandomExperts:
    """One expert of random weights, which come nearer to others epoch by epoch.

    Args:
        network: its spec.
        shape: of the images.
    """

    networks, epochs = 1, 100

    def __init__(self, network: str, shape: tuple[int, int, int]) -> None:
        self._network, self._shape = network, shape

    def snapshot(self, number: int, epoch: int) -> Any:
        """The weights after an epoch, as a bank gives them."""
        first, last = (self._made(place) for place in range(2))
        share = epoch / self.epochs
        weights = {name: part.lerp(last[name], share).detach() for name, part in first.items()}
        return SimpleNamespace(below=lambda prefix: weights, in_use=nullcontext)

    def _made(self, place: int) -> dict[str, torch.Tensor]:
        with seeded(_SEED, "expert", place):
            return dict(make_network(self._network, self._shape, _CLASSES).named_parameters())


def ours(
    name: str, source: ImageSource, settings: Any, per_class: int = _PER_CLASS, *, compiled: bool = True
) -> Any:
    """Our method, compiled if it can be."""
    spec = METHODS[name]
    problem = ImageProblem(
        class_names=source.class_names,
        counts=(per_class,) * _CLASSES,
        distance=DISTANCES["mean"],
        seed=_SEED,
        device=torch.device("cpu"),
        source=source,
        experts=partial(RandomExperts, settings.network, source.shape),  # type: ignore[arg-type]
        compute=Compute(compile=compiled and spec.compiles),
    )
    return spec.build(problem, settings)


def plain(name: str, source: ImageSource, settings: Any, per_class: int = _PER_CLASS) -> Any:
    """The field's loop."""
    if _PLAIN[name] is not PlainTrajectories:
        return _PLAIN[name](source, per_class, _SEED, settings)
    bank = RandomExperts(settings.network, source.shape)
    # Soft labels begin with the answers of the expert, which our method knows how to ask for.
    logits = ours(name, source, settings, per_class).state().get("logits")
    return PlainTrajectories(source, per_class, _SEED, settings, bank, logits)


def _steps(make: Callable[..., Any], name: str) -> Callable[[], object]:
    method, count = make(name, noise(), METHODS[name].settings(**SETTINGS[name])), itertools.count()
    return lambda: method.step(next(count))


def _work(name: str, title: str) -> Work:
    return Work(
        title,
        "the field's loop",
        partial(_steps, plain, name),
        partial(_steps, ours, name),
        rounds=3,
        at_least=1.5,
    )


# All but IDC are above the limit (docs/speed.md).
STEPS = {
    "dsa": _work("dsa", "DSA, 2 updates, 10 classes x 64 real 32x32, with training on S"),
    "dsac": _work("dsac", "DSAC, 2 updates, 10 classes x 64 real 32x32, with training on S"),
    "idc": _work("idc", "IDC, 2 updates, 10 classes x 64 real 32x32, with training"),
    "cafe": _work("cafe", "CAFE, 2 updates, 10 classes x 64 real 32x32, with training on S"),
    "mtt": _work("mtt", "MTT, 3 student steps on 100 images 32x32"),
    "tesla": _work("tesla", "TESLA, 3 student steps on 100 images 32x32, in two passes"),
    "datm": _work("datm", "DATM, 3 student steps on 100 images 32x32, with soft labels"),
}

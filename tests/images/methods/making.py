"""Methods on the digits, for tests against what their papers say."""

import torch

from lqm.distances import DISTANCES
from lqm.images.methods import METHODS
from lqm.images.problem import ImageProblem

CPU = torch.device("cpu")


def problem_of(source, per_class=3, distance="lqm", seed=0):
    return ImageProblem(
        class_names=source.class_names,
        counts=(per_class,) * len(source.class_names),
        distance=DISTANCES[distance] if isinstance(distance, str) else distance,
        seed=seed,
        device=CPU,
        source=source,
    )


def built(method, problem, **settings):
    """A method with some settings, ready for its first step."""
    spec = METHODS[method]
    return spec.build(problem, spec.settings(**settings))

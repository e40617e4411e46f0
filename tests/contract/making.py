"""Every method of every kind of data, with settings that take a second."""

from dataclasses import asdict, fields

import pytest
import torch

import lqm
from lqm.api.domains import DOMAINS
from lqm.distances import DISTANCES
from lqm.graphs.population import population
from lqm.graphs.problem import GraphProblem
from lqm.images.problem import ImageProblem
from lqm.tabular.problem import TableProblem

CPU = torch.device("cpu")
# By the first word of the default.
SMALL_NETWORKS = {"convnet": "convnet:width=8:depth=2", "mlp": "mlp:width=16:depth=1:activation=tanh"}
# By the names of settings: taken wherever a method has such a setting and a larger default.
SMALL = {
    "steps": 2,
    "real_batch": 32,
    "batch": 32,
    "init_steps": 2,
    "student_batch": 16,
    "student_steps": 2,
    "queue_interval": 2,
    "queue_limit": 4,
    "pairs": 2,
    "expert_epochs": 1,
    "experts": 2,
    "max_start": 2,
    "first_max_start": 1,
    "train_images": 32,
    "outer": 2,
    "inner": 1,
    "width": 16,
    "updates": 2,
}
SPECS = {(domain.name, method): spec for domain in DOMAINS for method, spec in domain.methods.items()}


def names_of(settings):
    return {field.name for field in fields(settings)}


EVERY = list(SPECS)
LEARNING = [key for key, spec in SPECS.items() if "learning_rate" in names_of(spec.settings)]
CHOOSING = [key for key in EVERY if key not in LEARNING]
MATCHING = [key for key in LEARNING if SPECS[key].matches]
SKETCHING = [key for key in EVERY if SPECS[key].sketch_settings]
PAIRS = [
    (*key, distance)
    for key in LEARNING
    for distance in (DISTANCES if SPECS[key].matches else ["none of features"])
]

# Methods that are others' with other settings: what takes seconds is tried with them by `make slow`.
KIN = ("dsa", "dcc", "dsac", "cafe-dsa", "ftd", "tesla", "ncfm", "k-centre", "k-means")


def without_kin(cases):
    """Cases of (domain, method): those of kin are slow."""
    return [_slow_unless(case[1] not in KIN, case) for case in cases]


def of_usual_distances(cases):
    """Cases of (domain, method, distance): all distances of plain methods, and of others the usual ones."""
    usual = ("mean", "lqm", "none of features")
    return [
        _slow_unless(case[1] in ("dm", "cat") or (case[1] not in KIN and case[2] in usual), case)
        for case in cases
    ]


def _slow_unless(fast, case):
    return pytest.param(*case, marks=[] if fast else pytest.mark.slow)


def small_settings(kind, **given):
    """Small values of the settings that a method has, and what is given of those."""
    small = {}
    for field in fields(kind):
        value, default = SMALL.get(field.name), field.default
        if field.name == "network":
            value = SMALL_NETWORKS[default.partition(":")[0]]
        if isinstance(value, str) or (value and (default is None or default > value)):
            small[field.name] = value
    return small | {name: value for name, value in given.items() if name in names_of(kind)}


class Images:
    """Methods on images."""

    counts = (3,) * 10

    def __init__(self, folder):
        self._folder, self._banks = folder, {}
        self.source = lqm.load_source("digits")
        self.records = self.source.by_class

    def problem(self, spec, settings, source=None, counts=None, **given):
        source = source or self.source
        classes = len(source.class_names)
        return ImageProblem(
            class_names=source.class_names,
            counts=counts or self.counts[:classes],
            source=source,
            device=CPU,
            experts=self._experts(spec, settings, source) if spec.experts else None,
            **given,
        )

    def _experts(self, spec, settings, source):
        """A bank of experts, trained once for all tests of a process."""
        needed = spec.experts(settings)
        key = repr((source.name, needed))
        if key not in self._banks:
            self._banks[key] = lqm.experts(
                source,
                out=self._folder / str(len(self._banks)),
                networks=needed.networks,
                epochs=needed.epochs,
                settings=asdict(needed.settings),
                show_progress=False,
            )
        return lambda: self._banks[key]

    def budget(self, per_class):
        return {"per_class": per_class}

    def require_legal(self, condensed):
        assert condensed.images.shape[1:] == (1, 8, 8)
        assert condensed.images.min() >= 0
        assert condensed.images.max() <= 1


class Graphs:
    """Methods on graphs."""

    counts = (3, 1, 2, 2, 4, 2, 2, 1, 2, 2)

    def __init__(self, folder):
        self.source = lqm.load_graph("digits-knn")
        graph, by_class = self.source.graph, self.source.by_class
        self.real = population(graph, by_class, self.source.class_names, 1)
        self.records = self.real.propagated

    def problem(self, spec, settings, counts=None, **given):
        return GraphProblem(
            class_names=self.real.class_names,
            counts=counts or self.counts,
            real=self.real,
            device=CPU,
            **given,
        )

    def budget(self, per_class):
        return {"budget": 10 * per_class}

    def require_legal(self, condensed):
        assert condensed.features.shape[1:] == (64,)
        assert condensed.features.isfinite().all()
        assert condensed.edges.shape == (2, 0)


class Tables:
    """Methods on tables; standardised features are compared, whose constant pixels stay 0."""

    counts = (3,) * 10

    def __init__(self, folder):
        self.source = lqm.load_table("digits-table")
        self.records = self.source.by_class

    def problem(self, spec, settings, counts=None, **given):
        return TableProblem(
            class_names=self.source.class_names,
            counts=counts or self.counts,
            source=self.source,
            device=CPU,
            **given,
        )

    def budget(self, per_class):
        return {"per_class": per_class}

    def require_legal(self, condensed):
        real = self.source.train.features
        found, _ = condensed.records()
        assert found.shape[1:] == (64,)
        assert (found >= real.amin(dim=0) - 1e-5).all()
        assert (found <= real.amax(dim=0) + 1e-5).all()
        constant = real.amin(dim=0) == real.amax(dim=0)
        assert constant.any()
        assert (found[:, constant] == real[0, constant]).all()


class Methods:
    """Builds any method of any kind of data."""

    def __init__(self, folder):
        self._kinds = {"images": Images(folder), "graphs": Graphs(folder), "tables": Tables(folder)}

    def __getitem__(self, domain):
        return self._kinds[domain]

    def build(self, domain, method, distance="lqm", seed=0, problem=None, **settings):
        """A method ready for its first step; settings that it does not have are left out."""
        spec = SPECS[domain, method]
        chosen = spec.settings(**small_settings(spec.settings, **settings))
        found = DISTANCES.get(distance, DISTANCES["lqm"]) if isinstance(distance, str) else distance
        given = {"distance": found, "seed": seed, **(problem or {})}
        return spec.build(self[domain].problem(spec, chosen, **given), chosen)


def copied(state):
    return {name: tensor.clone() for name, tensor in state.items()}


def assert_same(first, second):
    """Two states, bit for bit."""
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        assert tensor.equal(second[name]), name


def steps(learner, first, end):
    for i in range(first, end):
        learner.step(i)

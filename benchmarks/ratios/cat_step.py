"""A step of CaT with LQM against the loop as the field writes it, on Cora's stream of three tasks.

Cora itself is taken from LQM_DATA, if that names a folder with it; else a graph of its shape.
"""

import itertools
import os
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from scipy.sparse import csr_array

from benchmarks.ratios.plain_cat import PlainCaT
from benchmarks.ratios.timing import Work
from lqm.distances import DISTANCES
from lqm.graphs.graph import Graph, dense, undirected
from lqm.graphs.methods import METHODS
from lqm.graphs.methods.cat import CaTSettings
from lqm.graphs.population import Population, joined, population
from lqm.graphs.problem import GraphProblem
from lqm.graphs.sources import load_graph
from lqm.graphs.stream import make_stream
from lqm.methods.condensation import Condensation

# Of each of Cora's three tasks: training nodes of its two classes, and edges between them.
_TASKS = (((211, 130), 585), ((251, 491), 1_233), ((256, 179), 658))
_WORDS, _WORDS_OF_A_NODE = 1_433, 18
# Steps at a time: a single one takes milliseconds, in which a process that has waited is not yet awake.
_STEPS = 20


def _condensation(tasks: list[Population]) -> Condensation:
    real = joined(tasks)
    problem = GraphProblem(
        class_names=real.class_names,
        counts=(2,) * len(real.class_names),
        distance=DISTANCES["lqm"],
        seed=0,
        device=torch.device("cpu"),
        real=real,
    )
    method = METHODS["cat"].build(problem, CaTSettings(steps=10_000, lengths="free"))
    assert isinstance(method, Condensation)
    return method


def _plain(tasks: int) -> Callable[[], object]:
    """One step of each of the first tasks, in turn."""
    populations, counts = _tasks()[:tasks], [2, 2]
    inits = _condensation(populations).synthetic.learnables[0].tensor.detach().split(sum(counts))
    learners = [
        PlainCaT(
            torch.cat([dense(part) for part in task.propagated]),
            torch.arange(2).repeat_interleave(torch.tensor(task.sizes)),
            init,
            counts,
        )
        for task, init in zip(populations, inits, strict=True)
    ]
    return lambda: [learner.step(0) for _ in range(_STEPS) for learner in learners]


def _together(tasks: int) -> Callable[[], object]:
    """One step of the first tasks under one encoder."""
    method, steps = _condensation(_tasks()[:tasks]), itertools.count()
    return lambda: [method.step(next(steps)) for _ in range(_STEPS)]


def _alone() -> Callable[[], object]:
    """One step of each task under an encoder of its own."""
    methods, steps = [_condensation([task]) for task in _tasks()], itertools.count()

    def step() -> None:
        for i in itertools.islice(steps, _STEPS):
            for method in methods:
                method.step(i)

    return step


def _graph() -> str:
    return "Cora" if os.environ.get("LQM_DATA") else "Cora's shape"


def _tasks() -> list[Population]:
    if not os.environ.get("LQM_DATA"):
        return [_task(k) for k in range(3)]
    stream = make_stream(load_graph("cora"), remainder="drop")
    return [population(task.graph, task.by_class, stream.names(task), hops=1) for task in stream.tasks]


def _task(number: int) -> Population:
    """A graph of the task's size, whose nodes have words that are as unequally frequent as words are."""
    sizes, edges = _TASKS[number]
    nodes = sum(sizes)
    draws = np.random.default_rng(number)
    frequency = 1 / (np.arange(_WORDS) + 10.0)
    words = draws.choice(_WORDS, nodes * _WORDS_OF_A_NODE, p=frequency / frequency.sum())
    rows = np.repeat(np.arange(nodes), _WORDS_OF_A_NODE)
    features = csr_array((np.ones(len(words), np.float32), (rows, words)), shape=(nodes, _WORDS))
    features.sum_duplicates()
    adjacency = undirected(*draws.integers(0, nodes, (2, edges)), nodes)
    labels = torch.arange(2).repeat_interleave(torch.tensor(sizes))
    by_class = [torch.where(labels == label)[0] for label in range(2)]
    return population(Graph(features, adjacency, labels), by_class, (f"{number}a", f"{number}b"), hops=1)


def _against_the_field(tasks: int, title: str, at_least: float) -> Work:
    return Work(
        f"{_STEPS} CaT + LQM steps, {title} of {_graph()}",
        "dense, torch.quantile",
        partial(_plain, tasks),
        partial(_together, tasks),
        rounds=15,
        warm_up=3,
        at_least=at_least,
    )


# For one task the aim was 4; see docs/speed.md for what was tried.
TASK = _against_the_field(1, "one task", at_least=2.5)
STREAM = _against_the_field(3, "three tasks", at_least=4)
SHARING = Work(
    f"{_STEPS} CaT + LQM steps, three tasks with one encoder",
    "an encoder each",
    _alone,
    partial(_together, 3),
    rounds=15,
    warm_up=3,
    at_most=1,
    plain_is_ours=True,
)

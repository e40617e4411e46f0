"""A step of CaT with LQM against the loop as the field writes it, on Cora's stream of three tasks.

Cora itself is taken from LQM_DATA, if that names a folder with it; else a graph of its shape.
"""

import itertools
import os

import numpy as np
import torch
from scipy.sparse import csr_array

from benchmarks.plain_cat import PlainCaT
from benchmarks.timing import Comparison, interleaved
from lqm.distances import DISTANCES
from lqm.graphs.graph import Graph, dense, undirected
from lqm.graphs.methods.cat import CaT, CaTSettings
from lqm.graphs.population import Population, joined, population
from lqm.graphs.sources import load_graph
from lqm.graphs.stream import make_stream

# Of each of Cora's three tasks: training nodes of its two classes, and edges between them.
_TASKS = (((211, 130), 585), ((251, 491), 1_233), ((256, 179), 658))
_WORDS, _WORDS_OF_A_NODE = 1_433, 18


def measure_task() -> Comparison:
    return _measure(_tasks()[:1], f"CaT + LQM step, one task of {_graph()}", at_least=2.5)


def measure_stream() -> Comparison:
    return _measure(_tasks(), f"CaT + LQM step, three tasks of {_graph()}", at_least=4)


def measure_sharing() -> Comparison:
    """A step of all tasks under one encoder against one of each under its own."""
    tasks = _tasks()
    together, *alone = (_learner(part) for part in (tasks, *([task] for task in tasks)))
    steps = itertools.count(), itertools.count()
    plain, ours = interleaved(
        lambda: [learner.step(next(steps[0])) for learner in alone],
        lambda: together.step(next(steps[1])),
        rounds=61,
    )
    return Comparison(
        "CaT + LQM step, three tasks with one encoder", "an encoder each", plain, ours, at_most=1
    )


def _learner(tasks: list[Population]) -> CaT:
    counts = [2, 2] * len(tasks)
    return CaT(joined(tasks), DISTANCES["lqm"], counts, 0, CaTSettings(), torch.device("cpu"))


def _measure(tasks: list[Population], work: str, at_least: float) -> Comparison:
    """One step of all tasks together against one step of each, in turn."""
    counts = [2, 2]
    learner = _learner(tasks)
    starts = learner.features.detach().split(sum(counts))
    plain_learners = [
        PlainCaT(
            torch.cat([dense(part) for part in task.heard]),
            torch.arange(2).repeat_interleave(torch.tensor(task.sizes)),
            start,
            counts,
        )
        for task, start in zip(tasks, starts, strict=True)
    ]
    steps = itertools.count()
    plain, ours = interleaved(
        lambda: [learner.step(0) for learner in plain_learners], lambda: learner.step(next(steps)), rounds=61
    )
    return Comparison(work, "dense, torch.quantile", plain, ours, at_least=at_least)


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

"""Learn a stream of tasks of a graph."""

from pathlib import Path

import tyro

from lqm.commands.arguments import Assignments, Budget, Name, Source


def continual(
    source: Source,
    /,
    *,
    out: Path,
    method: str = "cat",
    distance: Name = None,
    budget: Budget = None,
    classes_per_task: int = 2,
    order: str = "labels",
    order_seed: int = 0,
    remainder: str = "last",
    inter_task_edges: tyro.conf.FlagCreatePairsOff[bool] = False,
    scoring: str = "class",
    repeats: int = 5,
    set_: Assignments = (),
    seed: int = 0,
    features: Name = None,
    device: str = "auto",
) -> None:
    """Learn a graph's classes task after task; see what is forgotten.

    Example: lqm continual digits-knn --budget 4 --out runs/stream

    Args:
        source: digits-knn, synthetic:nodes=10000,..., .npz, a folder of Planetoid, Reddit or OGB.
        out: Folder for the memories, the matrices and the heat map.
        method: cat, puma; real nodes: random, er-gnn, ssm; without memory: finetuning, joint.
        distance: What cat and puma match: lqm (default), mean, lqm-ad, ...; any other word lists them.
        budget: Nodes to keep of each task, or their share of its nodes.
        classes_per_task: Classes that come together.
        order: Of the classes: labels, shuffled.
        order_seed: Of shuffled classes.
        remainder: Classes that are too few for a task: a smaller last one (last), or left out (drop).
        inter_task_edges: Keep the edges to nodes of earlier tasks.
        scoring: Choose among all classes seen so far (class), or among those of the task (task).
        repeats: How often to learn it all, with seeds from --seed on; the split stays the same.
        set_: A setting, such as steps=500 or epochs=200; repeat it for more. docs/methods.md lists them.
        seed: Everything random follows from it.
        features: Of a graph that has none: degree, spectral, one-hot.
        device: Where to compute: auto, cpu, cuda, ...
    """
    from rich.console import Console

    import lqm
    from lqm.report.continual import continual_table
    from lqm.settings import parse_assignments

    found = lqm.continual(
        source,
        method=method,
        distance=distance,
        budget=budget,
        classes_per_task=classes_per_task,
        order=order,
        order_seed=order_seed,
        remainder=remainder,
        inter_task_edges=inter_task_edges,
        scoring=scoring,
        repeats=repeats,
        settings=parse_assignments(set_),
        seed=seed,
        features=features,
        out=out,
        device=device,
    )
    Console().print(continual_table(found))
    print(f"memories, matrices and a heat map are in {out}")

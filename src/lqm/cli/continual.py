"""Learn a stream of tasks of a graph."""

from shlex import quote

import tyro

from lqm.cli.arguments import Assignments, Budget, Folder, Name, Number, Source, run_folder, settings_of


def continual(
    source: Source,
    /,
    *,
    out: Folder = None,
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
    start: Name = None,
    real_batch: Number = None,
    set_: Assignments = (),
    seed: int = 0,
    split_seed: int = 0,
    features: Name = None,
    data_dir: Folder = None,
    device: str = "auto",
) -> None:
    """Learn a graph's classes by tasks; see what is forgotten.

    Example: lqm continual digits-knn --budget 4

    Args:
        source: digits-knn, synthetic:nodes=10000,..., .npz, a folder of Planetoid, Reddit or OGB.
        out: Folder for the memories, the matrices and the heat map, else one in runs/.
        method: cat, puma; real nodes: random, er-gnn, ssm; nothing or all: finetuning, joint.
        distance: What cat and puma match: lqm (default), mean, lqm-ad, ...; any other word lists them.
        budget: Nodes to keep of each task, or their share of its nodes; not for finetuning and joint.
        classes_per_task: Classes that come together.
        order: Of the classes: labels, shuffled.
        order_seed: Of shuffled classes.
        remainder: Classes that are too few for a task: a smaller last one (last), or left out (drop).
        inter_task_edges: Keep the edges to nodes of earlier tasks.
        scoring: Choose among all classes seen so far (class), or among those of the task (task).
        repeats: How often to learn it all, with seeds from --seed on; the split stays the same.
        start: What the synthetic nodes are at first: random, noise, herding, k-centre, k-means.
        real_batch: Real nodes of each class in a step; all of them if not given.
        set_: A setting, such as steps=500 or epochs=200; repeat it for more. docs/graphs.md lists them.
        seed: Everything random follows from it.
        split_seed: Of every task's training, validation and test nodes.
        features: Of a graph that has none: degree, one-hot.
        data_dir: Where the named graphs are, else LQM_DATA.
        device: Where to compute: auto, cpu, cuda, ...
    """
    from rich.console import Console

    import lqm
    from lqm.report.continual import continual_table

    folder = out or run_folder(source, "stream", method, distance)
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
        settings=settings_of(set_, start=start, real_batch=real_batch),
        seed=seed,
        split_seed=split_seed,
        features=features,
        data_dir=data_dir,
        out=folder,
        device=device,
    )
    Console().print(continual_table(found))
    kept = ", a heat map and what was kept" if any(found.memories) else " and a heat map"
    print(f"all matrices{kept} are in {folder}; next: lqm report {quote(str(folder))}")

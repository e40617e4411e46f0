"""Learn a small set."""

from typing import Annotated

import tyro

from lqm.commands.arguments import (
    Assignments,
    Budget,
    Folder,
    Name,
    Names,
    Number,
    Source,
    run_folder,
    settings_of,
)


def condense(
    source: Source,
    /,
    *,
    out: Folder = None,
    method: Name = None,
    distance: Name = None,
    per_class: Number = None,
    budget: Budget = None,
    recipe: Name = None,
    start: Name = None,
    real_batch: Number = None,
    set_: Assignments = (),
    seed: int = 0,
    data_dir: Folder = None,
    size: Number = None,
    test_fraction: Annotated[float | None, tyro.conf.arg(metavar="SHARE", help_behavior_hint="")] = None,
    augmentation: Names = None,
    features: Name = None,
    split: Name = None,
    device: str = "auto",
) -> None:
    """Learn a small synthetic set of pictures or of a graph's nodes; a stopped run goes on where it was.

    Example: lqm condense digits --method dm --distance lqm --per-class 10 --out runs/digits

    Args:
        source: digits, mnist, cifar10, cifar100, tinyimagenet, a folder of class folders, .npz, .parquet; or
            a graph: digits-knn, synthetic:nodes=10000,..., .npz, a folder of Planetoid, Reddit or OGB.
        out: Folder for the run and its result, else one in runs/.
        method: dm (default), datadam, idm; of graphs: cat (default), puma; or real records: random, herding,
            k-centre, k-means.
        distance: What is matched: lqm (default), mean, wasserstein, ...; any other word lists them.
        per_class: Synthetic pictures of each class (default 10).
        budget: Synthetic nodes of a graph, or their share of its nodes (default 1%).
        recipe: Settings by name, such as idm-10; `lqm recipes` lists them.
        start: What the synthetic set is at first: random, noise, herding, k-centre, k-means.
        real_batch: Real records of each class in a step; for graphs all of them if not given.
        set_: A setting of the method, such as steps=500; repeat it for more. docs/methods.md and
            docs/graphs.md list them.
        seed: Everything random follows from it.
        data_dir: Where the named sources are, else LQM_DATA.
        size: Scale and cut every picture to this many pixels square.
        test_fraction: Held out to judge by, if the source has no test set (default 0.2).
        augmentation: What leaves a label right: color,crop,cutout,flip,scale,rotate.
        features: Of a graph that has none: degree, spectral, one-hot.
        split: Of a graph's nodes: published (default where there is one), random.
        device: Where to compute: auto, cpu, cuda, ...
    """
    import lqm
    from lqm.condensed.sheet import contact_sheet

    folder = out or run_folder(source, method, distance)
    small = lqm.condense(
        source,
        method=method,
        distance=distance,
        per_class=per_class,
        budget=budget,
        recipe=recipe,
        seed=seed,
        settings=settings_of(set_, start=start, real_batch=real_batch),
        data_dir=data_dir,
        size=size,
        test_fraction=test_fraction,
        augmentation=augmentation.split(",") if augmentation else None,
        features=features,
        split=split,
        out=folder,
        device=device,
    )
    classes = len(small.class_names)
    if isinstance(small, lqm.CondensedPictures):
        sheet = folder / "pictures.png"
        contact_sheet(small, sheet)
        print(f"{len(small.labels)} pictures of {classes} classes in {folder}; they look like {sheet}")
    else:
        print(f"{len(small.labels)} nodes of {classes} classes in {folder}")
    print(f"next: lqm evaluate {folder}")

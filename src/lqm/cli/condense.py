"""Learn a small set, or several of them one after another."""

from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import tyro

from lqm.cli.arguments import (
    Assignments,
    Budgets,
    Folder,
    Name,
    Names,
    Number,
    Numbers,
    Share,
    Source,
    run_folder,
    settings_of,
)
from lqm.cli.lists import Run, runs_of
from lqm.utils.errors import ArtifactError, ConfigError

if TYPE_CHECKING:
    from lqm.condensed import CondensedSet


def condense(
    source: Source,
    /,
    *,
    out: Folder = None,
    method: Name = None,
    distance: Name = None,
    per_class: Numbers = None,
    budget: Budgets = None,
    recipe: Name = None,
    sketch: Folder = None,
    start: Name = None,
    real_batch: Number = None,
    set_: Assignments = (),
    seed: Annotated[str, tyro.conf.arg(metavar="N,...")] = "0",
    data_dir: Folder = None,
    size: Number = None,
    test_fraction: Share = None,
    augmentation: Names = None,
    features: Name = None,
    split: Name = None,
    compile: Name = None,
    precision: Name = None,
    device: str = "auto",
    evaluate_every: Number = None,
    tensorboard: tyro.conf.FlagCreatePairsOff[bool] = False,
) -> None:
    """Learn a small synthetic set of images or nodes; a stopped run goes on.

    Example: lqm condense digits --per-class 10 --out runs/digits

    Args:
        source: digits, mnist, cifar10, cifar100, tinyimagenet, a folder of class folders, .npz, .parquet; or
            a graph: digits-knn, synthetic:nodes=10000,..., .npz, a folder of Planetoid, Reddit or OGB.
        out: Folder for the run and its result, else one in runs/.
        method: dm (default), datadam, idm; of graphs: cat (default), puma; or real records: random, herding,
            k-centre, k-means.
        distance: What is matched: lqm (default), mean, wasserstein, ...; any other word lists them.
        per_class: Synthetic images of each class (default 10); 1,10,50 makes three runs.
        budget: Synthetic nodes of a graph, or their share of its nodes (default 1%); 1%,5% makes two runs.
        recipe: Settings by name, such as idm-10; `lqm recipes` lists them.
        sketch: What `lqm sketch` made of the source, in place of passes over it.
        start: What the synthetic set is at first: random, noise, herding, k-centre, k-means.
        real_batch: Real records of each class in a step; for graphs all of them if not given.
        set_: A setting of the method, such as steps=500; repeat it for more. docs/methods.md and
            docs/graphs.md list them.
        seed: Everything random follows from it; 0..4 makes five runs.
        data_dir: Where the named sources are, else LQM_DATA.
        size: Scale and cut every image to this many pixels square.
        test_fraction: Held out to judge by, if the source has no test set (default 0.2).
        augmentation: What leaves a label right: color,crop,cutout,flip,scale,rotate.
        features: Of a graph that has none: degree, spectral, one-hot.
        split: Of a graph's nodes: published (default where there is one), random.
        compile: Whether networks are compiled: auto (default: if the run is long), on, off.
        precision: fp32 (default), bf16, auto (the faster one that works).
        device: Where to compute: auto, cpu, cuda, ...
        evaluate_every: Score the set after every N steps and the last.
        tensorboard: Write event files for TensorBoard.
    """
    import lqm

    runs = runs_of(per_class, budget, seed)
    if recipe and len({run.per_class for run in runs}) > 1:
        raise ConfigError(
            f"recipe '{recipe}' is for one per_class, not for {per_class}; leave one of them out"
        )
    folder = out or run_folder(source, method, distance, "by-sketch" if sketch else None)
    settings = settings_of(set_, start=start, real_batch=real_batch)

    def make(run: Run, folder: Path) -> "CondensedSet":
        condensed: CondensedSet = lqm.condense(
            source,
            method=method,
            distance=distance,
            per_class=run.per_class,
            budget=run.budget,
            recipe=recipe,
            seed=run.seed,
            settings=settings,
            data_dir=data_dir,
            size=size,
            test_fraction=test_fraction,
            augmentation=augmentation.split(",") if augmentation else None,
            compile=compile,
            precision=precision,
            sketch=sketch,
            features=features,
            split=split,
            out=folder,
            device=device,
            evaluate_every=evaluate_every,
            tensorboard=tensorboard,
        )
        _describe(condensed, folder)
        return condensed

    if len(runs) == 1:
        make(runs[0], folder)
        print(f"next: lqm evaluate {quote(str(folder))}")
    else:
        _make_several(runs, folder, make)


def _make_several(runs: list[Run], out: Path, make: Callable[[Run, Path], "CondensedSet"]) -> None:
    """Make each run in a folder of its own below `out`, and list them.

    Those that have begun come first and then the largest, so that a folder with other settings, or a budget
    that the source or the sketch is too small for, is refused before the long work.
    """
    from rich.console import Console

    from lqm.engine.progress import warn
    from lqm.report.tables import plain_table

    if (out / "run.json").exists():
        raise ArtifactError(f"{out} holds a single run or a sketch; choose another folder for several")
    largest = sorted(runs, key=lambda run: run.size, reverse=True)
    ordered = sorted(largest, key=lambda run: not (out / run.name / "run.json").exists())
    made = {}
    for number, run in enumerate(ordered, start=1):
        warn(f"run {number} of {len(runs)}: {out / run.name}")
        made[run] = make(run, out / run.name).manifest
    size = "per_class" if "per_class" in made[runs[0]] else "budget"
    rows = [(run.name, str(made[run][size]), str(run.seed), f"{made[run]['seconds']:,.0f}") for run in runs]
    Console().print(plain_table(("folder", size.replace("_", " "), "seed", "seconds"), rows))
    print(f"{len(runs)} runs in {out}")
    first = quote(str(out / runs[0].name))
    print(f"next: lqm evaluate {first} and so on, then lqm compare {quote(str(out))}/*")


def _describe(condensed: "CondensedSet", folder: Path) -> None:
    """Say what was made, and draw it if it is images."""
    from lqm.condensed import CondensedImages
    from lqm.condensed.sheet import contact_sheet

    classes = len(condensed.class_names)
    if isinstance(condensed, CondensedImages):
        sheet = folder / "images.png"
        contact_sheet(condensed, sheet)
        print(f"{len(condensed.labels)} images of {classes} classes in {folder}; they look like {sheet}")
    else:
        print(f"{len(condensed.labels)} nodes of {classes} classes in {folder}")

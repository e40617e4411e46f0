"""The commands: one thin function each. Torch is imported when a command needs it, so that help is quick."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import tyro

_Source = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="SOURCE")]
_SourceOrNone = Annotated[
    tyro.conf.Positional[str | None], tyro.conf.arg(metavar="SOURCE", help_behavior_hint="")
]
_Run = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
_Name = Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="")]
_Folder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER", help_behavior_hint="")]
_Names = Annotated[str | None, tyro.conf.arg(metavar="NAME,...", help_behavior_hint="")]
_Number = Annotated[int | None, tyro.conf.arg(metavar="N", help_behavior_hint="")]
_Assignments = Annotated[
    tyro.conf.UseAppendAction[tuple[str, ...]],
    tyro.conf.arg(name="set", metavar="NAME=VALUE", help_behavior_hint=""),
]


def condense(
    source: _Source,
    /,
    *,
    out: Path,
    method: _Name = None,
    distance: _Name = None,
    per_class: _Number = None,
    recipe: _Name = None,
    start: _Name = None,
    set_: _Assignments = (),
    seed: int = 0,
    data_dir: _Folder = None,
    size: _Number = None,
    test_fraction: Annotated[float | None, tyro.conf.arg(metavar="SHARE", help_behavior_hint="")] = None,
    augmentation: _Names = None,
    device: str = "auto",
) -> None:
    """Learn a small synthetic set from a large one; a stopped run goes on where it was.

    Example: lqm condense digits --method dm --distance lqm --per-class 10 --out runs/digits

    Args:
        source: digits, mnist, cifar10, cifar100, tinyimagenet; or a folder of class folders, .npz, .parquet.
        out: Folder for the run and its result.
        method: dm (default), datadam, idm; or real pictures: random, herding, k-centre, k-means.
        distance: What is matched: lqm (default), mean, wasserstein, ...; any other word lists them.
        per_class: Synthetic pictures of each class (default 10).
        recipe: Settings by name, such as idm-10; `lqm recipes` lists them.
        start: First pictures: random, noise, herding, k-centre, k-means.
        set_: A setting of the method, such as steps=500; repeat it for more. docs/methods.md lists them.
        seed: Everything random follows from it.
        data_dir: Where the named sources are, else LQM_DATA.
        size: Scale and cut every picture to this many pixels square.
        test_fraction: Held out to judge by, if the source has no test set (default 0.2).
        augmentation: What leaves a label right: color,crop,cutout,flip,scale,rotate.
        device: Where to compute: auto, cpu, cuda, ...
    """
    import lqm
    from lqm.condensed.sheet import contact_sheet
    from lqm.settings import parse_assignments

    small = lqm.condense(
        source,
        method=method,
        distance=distance,
        per_class=per_class,
        recipe=recipe,
        seed=seed,
        settings=parse_assignments(set_) | ({"start": start} if start else {}),
        data_dir=data_dir,
        size=size,
        test_fraction=test_fraction,
        augmentation=augmentation.split(",") if augmentation else None,
        out=out,
        device=device,
    )
    sheet = out / "pictures.png"
    contact_sheet(small, sheet)
    print(
        f"{len(small.labels)} pictures of {len(small.class_names)} classes in {out}; they look like {sheet}"
    )
    print(f"next: lqm evaluate {out}")


def evaluate(
    run: _Run,
    /,
    *,
    protocol: _Name = None,
    networks: _Names = None,
    baselines: Annotated[str, tyro.conf.arg(metavar="NAME,...")] = "random,herding,full",
    source: Annotated[str | None, tyro.conf.arg(metavar="SOURCE", help_behavior_hint="")] = None,
    data_dir: _Folder = None,
    seed: int = 0,
    device: str = "auto",
) -> None:
    """Train fresh networks on a condensed set, test them, and compare with real pictures.

    Example: lqm evaluate runs/digits --networks convnet,resnet18,mlp

    Args:
        run: A run, or a saved condensed set.
        protocol: How networks are trained: quick-200, cross-200, field-1000; else what the set asks for.
        networks: Kinds in place of the protocol's: convnet,mlp,lenet,alexnet,vgg11,resnet18.
        baselines: Real pictures to score as well: random,herding,full; or none.
        source: Where the test pictures are, if they have moved.
        data_dir: Where the named sources are, if they have moved.
        seed: Of the networks and of their training.
        device: Where to compute: auto, cpu, cuda, ...
    """
    from rich.console import Console

    import lqm
    from lqm.report.tables import score_table

    found = lqm.evaluate(
        run,
        protocol=protocol,
        networks=networks or (),
        baselines=() if baselines == "none" else baselines,
        source=source,
        data_dir=data_dir,
        seed=seed,
        device=device,
    )
    Console().print(score_table(found.by_network, found.protocol))


def compare(
    runs: Annotated[
        tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN ...", help_behavior_hint="")
    ],
    /,
) -> None:
    """Several runs in one table: accuracy, latent match and time; runs that differ by seed share a row.

    Example: lqm compare runs/mean runs/lqm

    Args:
        runs: Runs, or saved condensed sets.
    """
    from rich.console import Console

    import lqm
    from lqm.report.comparison import NOTE, comparison_tables

    if not runs:
        raise lqm.LqmError("there is nothing to compare; name two or more runs")
    for table in comparison_tables([lqm.load(run) for run in runs]):
        Console().print(table)
    Console().print(NOTE, highlight=False)


def export(run: _Run, /, *, to: Annotated[str, tyro.conf.arg(metavar="FORM")], out: Path) -> None:
    """Write a condensed set in a form that other software reads.

    Example: lqm export runs/digits --to folder --out digits-10

    Args:
        run: A run, or a saved condensed set.
        to: folder (of PNGs, by class), npz, parquet (Hugging Face), png (contact sheet), torch (safetensors).
        out: The folder or file to write.
    """
    import lqm
    from lqm.condensed.export import export as write

    print(f"wrote {write(lqm.load(run), to, out)}")


def recipes(
    source: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="SOURCE")] = None, /
) -> None:
    """List the recipes: what the papers' settings are, what they report, and what they take.

    Example: lqm recipes cifar10

    Args:
        source: Only those for this source.
    """
    from rich.console import Console

    from lqm.report.recipes import recipe_tables

    for table in recipe_tables(source):
        Console().print(table)


def demo(*, out: Path = Path("runs/demo"), seed: int = 0) -> None:
    """Condense handwritten digits by mean and by quantile matching; print a table, draw pictures.

    Example: lqm demo

    Args:
        out: Folder for the runs, the pictures and the report.
        seed: Everything random follows from it.
    """
    from lqm.demo import demo as run_demo

    run_demo(out, seed)


COMMANDS: dict[str, Callable[..., Any]] = {
    "condense": condense,
    "evaluate": evaluate,
    "compare": compare,
    "export": export,
    "recipes": recipes,
    "demo": demo,
}

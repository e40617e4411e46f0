"""Look at the real data once, for many condensations."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from lqm.cli.arguments import (
    Assignments,
    Folder,
    Name,
    Names,
    Number,
    Share,
    Source,
    run_folder,
    settings_of,
)

if TYPE_CHECKING:
    from lqm.banks import Sketch


def sketch(
    source: Source,
    /,
    *,
    out: Folder = None,
    method: Name = None,
    encoders: int = 200,
    max_per_class: int = 50,
    real_batch: Number = None,
    set_: Assignments = (),
    seed: int = 0,
    data_dir: Folder = None,
    size: Number = None,
    test_fraction: Share = None,
    augmentation: Names = None,
    features: Name = None,
    split: Name = None,
    compile: Name = None,
    precision: Name = None,
    device: str = "auto",
) -> None:
    """Look at the real data once, for many condensations.

    Example: lqm sketch digits --encoders 200 --out runs/sketch

    Args:
        source: What to sketch, as for `lqm condense`.
        out: Folder for the sketch, else one in runs/; a stopped one goes on.
        method: What the sketch is for: dm (default), datadam, idm; of graphs: cat (default), puma.
        encoders: How many to look through; the same command with more of them adds to the sketch.
        max_per_class: Synthetic records of a class that it is fine enough for; a mosaic of idm has 4.
        real_batch: Real records of each class that an encoder looks at; all of them if not given.
        set_: A setting of the method, such as network=convnet:width=64; repeat it for more.
        seed: Of the encoders.
        data_dir: Where the named sources are, else LQM_DATA.
        size: Scale and cut every image to this many pixels square.
        test_fraction: Held out to judge by, if the source has no test set (default 0.2).
        augmentation: What leaves a label right: color,crop,cutout,flip,scale,rotate.
        features: Of a graph that has none: degree, spectral, one-hot.
        split: Of a graph's nodes: published (default where there is one), random.
        compile: Whether networks are compiled: auto (default: if it takes long), on, off.
        precision: fp32 (default), bf16, auto (the faster one that works).
        device: Where to compute: auto, cpu, cuda, ...
    """
    from rich.filesize import decimal

    import lqm

    folder = out or run_folder(source, "sketch", method)
    made = lqm.sketch(
        source,
        out=folder,
        method=method,
        encoders=encoders,
        max_per_class=max_per_class,
        real_batch=real_batch,
        seed=seed,
        settings=settings_of(set_),
        data_dir=data_dir,
        size=size,
        test_fraction=test_fraction,
        augmentation=augmentation.split(",") if augmentation else None,
        compile=compile,
        precision=precision,
        features=features,
        split=split,
        device=device,
    )
    options = {
        "--data-dir": data_dir,
        "--size": size,
        "--test-fraction": test_fraction,
        "--augmentation": augmentation,
        "--features": features,
        "--split": split,
    }
    given = [str(word) for option in options.items() if option[1] is not None for word in option]
    following = ["lqm", "condense", source, *given, "--sketch", str(folder), *_fitting_budgets(made)]
    print(
        f"{made.encoders} encoders in {folder} ({decimal(_bytes_in(folder))}); next: {shlex.join(following)}"
    )


def _fitting_budgets(made: "Sketch") -> list[str]:
    """Words for budgets that a sketch is fine enough for."""
    most = made.config["max_per_class"]
    if "nodes" in made.config["source"]:
        return ["--budget", str(max(most, made.config["source"]["classes"]))]
    if made.config["method"] == "idm":
        most //= 4  # An image may be a mosaic of so many records.
    return ["--per-class", ",".join(str(count) for count in (1, 10, 50) if count <= max(1, most))]


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())

"""A set that other software made."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import tyro

from lqm.api.engine_request import Name, Number
from lqm.api.requests import Folder, QuietFlag
from lqm.cli.arguments import run_folder
from lqm.cli.output import USUAL, Printed
from lqm.utils.log import say


def import_(
    data: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")],
    /,
    *,
    source: Annotated[str, tyro.conf.arg(metavar="SOURCE")],
    labels: Annotated[str, tyro.conf.arg(metavar="KIND")] = "hard",
    normalised: QuietFlag = False,
    zca: QuietFlag = False,
    clip: QuietFlag = False,
    rate: Annotated[float | None, tyro.conf.arg(metavar="RATE", help_behavior_hint="")] = None,
    mosaic: int = 1,
    item: Number = None,
    protocol: Name = None,
    out: Folder = None,
    data_dir: Folder = None,
    size: Number = None,
    test_fraction: Annotated[float | None, tyro.conf.arg(metavar="SHARE", help_behavior_hint="")] = None,
    max_memory: Annotated[str | None, tyro.conf.arg(metavar="SIZE", help_behavior_hint="")] = None,
    output: Printed = USUAL,
) -> None:
    """Turn images that other software condensed into a set to evaluate, compare and report.

    Example: lqm import res_DM_CIFAR10.pt --source cifar10 --normalised --clip --item 0

    Args:
        data: A .npz, .pt or .parquet, a folder of class folders, or one with images_best.pt, labels_best.pt.
        source: The real images that the set stands for, as for condense.
        labels: hard (class numbers) or soft (rows of shares or logits).
        normalised: The images are as networks see them: undo the source's mean and deviation, or whitening.
        zca: Networks see the images whitened, by the source's training images.
        clip: Cut pixels outside [0, 1], which are refused otherwise.
        rate: The learning rate that was learned with the images.
        mosaic: Each image is N by N smaller ones.
        item: Which set, where a .pt holds several.
        protocol: How to evaluate it, as for evaluate; else as other sets of the source.
        out: Folder for the set, else one in runs/.
        data_dir: Where the named sources are, else LQM_DATA.
        size: Scale and cut each real image to so many pixels square.
        test_fraction: Test images to hold out if there are none (default 0.2).
        max_memory: The most that the content of a file may take, such as 4GB.
        output: How it is printed.
    """
    import lqm

    place = run_folder(source, "imported", data.stem) if out is None else Path(out)
    made = lqm.import_set(
        data,
        source=source,
        labels=labels,
        normalised=normalised,
        zca=zca,
        clip=clip,
        rate=rate,
        mosaic=mosaic,
        item=item,
        protocol=protocol,
        out=place,
        data_dir=data_dir,
        size=size,
        test_fraction=test_fraction,
        max_memory=max_memory,
    )
    soft = made.soft_labels is not None
    if output.json:
        from lqm.cli.documents import ImportDocument

        output.document(
            ImportDocument(
                folder=str(place),
                source=source,
                records=len(made.labels),
                classes=len(made.class_names),
                soft_labels=soft,
            )
        )
    else:
        rows = "soft" if soft else "hard"
        say(f"{len(made.labels):,} images of {len(made.class_names)} classes with {rows} labels in {place}")
    output.hint(f"next: lqm evaluate {quote(str(place))}")

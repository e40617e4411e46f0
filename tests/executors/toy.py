"""Pieces of work that are quick to do, and some that go wrong."""

import os
import signal
from pathlib import Path

import torch

from lqm.executors import Piece, Work
from lqm.utils.cache import Packed
from lqm.utils.errors import DataError


def open_work(context, data):
    """Squares the numbers of a piece, one result each; a piece may be told to fail or to die first."""

    def do(given):
        notes = given.notes
        marker = Path(context["folder"]) / str(notes["number"])
        if notes.get("dies") and len([*marker.parent.glob(f"{marker.name}-*")]) < notes["dies"]:
            (marker.parent / f"{marker.name}-{os.getpid()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if notes.get("fails"):
            raise DataError("number 13 can't be squared; leave it out")
        if notes.get("breaks"):
            raise ZeroDivisionError("no such number")
        for power, value in enumerate(given.tensors["values"]):
            yield Packed({"square": value**2}, {"number": notes["number"], "part": power})

    return do


def work(folder, **options):
    """The work of such pieces."""
    context = {"folder": str(folder)}
    options = {"threads": 1, **options}
    return Work(do=open_work(context, None), opener=f"{__name__}:open_work", context=context, **options)


def pieces(count, **special):
    """Pieces of three numbers each; `special` are the notes of one of them, by `piece<n>`."""
    return [
        Piece(
            f"piece {n}",
            Packed({"values": torch.arange(3.0) + n}, {"number": n, **special.get(f"piece{n}", {})}),
        )
        for n in range(count)
    ]


def squares(found):
    """What was found, by piece and part; the sentence of a piece that was lost."""
    return {
        (piece.name, *([] if not hasattr(result, "notes") else [result.notes["part"]])): (
            result.sentence if not hasattr(result, "notes") else result.tensors["square"].item()
        )
        for piece, result in found
    }

"""The banks of a study: sketches and experts that several cells share, each built once."""

import time
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from lqm.api.cells import Place
from lqm.api.engines import ENGINE
from lqm.api.experts import train_experts
from lqm.api.requests import ExpertsRequest, SketchRequest
from lqm.api.sketch import make_sketch
from lqm.executors import sentence_of
from lqm.studies.cell import Bank
from lqm.studies.lines import Seconds, read_records
from lqm.utils.errors import StoppedError
from lqm.utils.lines import append_lines
from lqm.utils.log import warn
from lqm.utils.names import choose

BANKS = "banks"
_SECONDS = "banks.jsonl"


@dataclass(frozen=True)
class BankLine:
    """What one session has spent on a bank."""

    bank: str
    seconds: Seconds


_LINE = TypeAdapter(BankLine)


def build_banks(banks: Iterable[Bank], place: Place) -> dict[str, str]:
    """Build what is missing of each bank; gives the sentences of those that failed, by name."""
    failed = {}
    for bank in banks:
        folder = place.folder / BANKS / bank.name
        before, began = _shards(folder), time.monotonic()
        try:
            warn(f"bank {bank.name}")
            _build(bank, place)
        except StoppedError:
            raise
        except Exception as error:  # the lines of its cells tell it, and the others go on
            failed[bank.name] = sentence_of(error)
            warn(f"bank {bank.name} failed: {failed[bank.name]}")
        finally:
            if _shards(folder) != before:
                seconds = round(time.monotonic() - began, 3)
                append_lines(place.folder / _SECONDS, [asdict(BankLine(bank.name, seconds))])
    return failed


def bank_seconds(folder: Path) -> dict[str, float]:
    """What building each bank has taken, in all sessions together.

    Raises:
        ArtifactError: when a line is not one of a bank.
    """
    found: dict[str, float] = {}
    for line in read_records(folder / _SECONDS, _LINE, "remove the line"):
        found[line.bank] = found.get(line.bank, 0.0) + line.seconds
    return found


def bank_request(bank: Bank, place: Place) -> SketchRequest | ExpertsRequest:
    """What `sketch` or `experts` is asked.

    Raises:
        ConfigError: when the bank has an option that there is not.
    """
    kind: type[Any] = SketchRequest if bank.kind == "sketch" else ExpertsRequest
    decided = ("out", "data_dir", "device", "show_progress", *ENGINE)
    known = dict.fromkeys(field.name for field in fields(kind) if field.name not in decided)
    for name in bank.options:
        choose(name, known, f"option of `lqm {bank.kind}` in a grid")
    request: SketchRequest | ExpertsRequest = kind(
        **bank.options,
        out=place.folder / BANKS / bank.name,
        data_dir=place.data_dir_of(bank.options["source"]),
        device=place.device,
        show_progress=place.show_progress,
        **{name: getattr(place.engine, name) for name in ENGINE},
    )
    return request


def share_left(bank: Bank, place: Place) -> float:
    """How much of a bank is still to be built, from 0 to 1."""
    request = bank_request(bank, place)
    if isinstance(request, SketchRequest):
        whole = request.encoders
    else:
        whole = request.networks * (1 + request.epochs)
    return max(0.0, 1 - len(_shards(place.folder / BANKS / bank.name)) / whole)


def _shards(folder: Path) -> set[Path]:
    return {*folder.glob("*.safetensors")}


def _build(bank: Bank, place: Place) -> None:
    request = bank_request(bank, place)
    if isinstance(request, SketchRequest):
        make_sketch(request)
    else:
        train_experts(request)

"""A cell of a study: checked before anything starts, then condensed and evaluated, or learned as a stream."""

import subprocess
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from lqm.api.cell_command import command_of
from lqm.api.checking import check_types
from lqm.api.condense import run_condensation
from lqm.api.continual import learn_stream
from lqm.api.domains import domain_of
from lqm.api.engine_request import EngineRequest
from lqm.api.engines import ENGINE
from lqm.api.evaluate import evaluate
from lqm.api.evaluation_options import asked_of
from lqm.api.planning import chosen_distance
from lqm.api.requests import CondenseRequest, ContinualRequest, SketchRequest
from lqm.condensed import CondensedSet
from lqm.engine import environment, resolve_device
from lqm.evaluation.protocol import Protocol
from lqm.executors import sentence_of
from lqm.graphs.continual import check_request
from lqm.graphs.sources import GRAPHS
from lqm.studies.cell import Cell
from lqm.studies.lines import CellLine, StudyHead
from lqm.utils.errors import ConfigError, DataError, StoppedError
from lqm.utils.names import choose
from lqm.utils.settings import make_settings

RUNS = "runs"
# Options that a study decides.
_DECIDED = ("data_dir", "device", "experts", "out", "repeats", "seed", "settings", "show_progress", "sketch")
_OWN = (*_DECIDED, *ENGINE)


@dataclass(frozen=True)
class Place:
    """Where cells of a study are run.

    Attributes:
        folder: of the study.
        data_dir: where the named sources are.
        device: where to compute.
        show_progress: whether each cell shows its own.
        engine: what runs them.
        banks: where their banks are, if not in the folder.
    """

    folder: Path
    data_dir: str | None = None
    device: str = "auto"
    show_progress: bool = True
    engine: EngineRequest = EngineRequest()  # noqa: RUF009  it is frozen
    banks: Path | None = None

    @property
    def banks_folder(self) -> Path:
        """Where the banks are that cells share."""
        return (self.banks or self.folder / "banks").absolute()

    def data_dir_of(self, source: str) -> str | None:
        """Where a source is looked for by its name; nowhere if it is a path, or made and not read."""
        path, made = Path(source), source.partition(":")[0] in GRAPHS
        return None if made or path.suffix or len(path.parts) > 1 else self.data_dir


def request_of(cell: Cell, place: Place) -> CondenseRequest | ContinualRequest:
    """What `condense`, or `continual` for a stream, is asked.

    Raises:
        ConfigError: when the cell has an option that there is not.
    """
    kind: type[Any] = ContinualRequest if cell.stream else CondenseRequest
    known = dict.fromkeys(field.name for field in fields(kind) if field.name not in (*_OWN, "validation"))
    for name in cell.options:
        choose(name, known, f"option of `lqm {'continual' if cell.stream else 'condense'}` in a grid")
    bank = {cell.bank.kind: place.banks_folder / cell.bank.name} if cell.bank else {}
    more: dict[str, Any] = bank | ({"repeats": 1} if cell.stream else {})
    request: CondenseRequest | ContinualRequest = kind(
        **cell.options | more,
        settings=cell.settings | cell.tuned,
        seed=cell.seed,
        out=place.folder / RUNS / cell.folder,
        data_dir=place.data_dir_of(cell.options["source"]),
        device=place.device,
        show_progress=place.show_progress,
        validation=cell.validation,
    )
    return request


def check_cell(cell: Cell, place: Place) -> None:
    """Refuse a cell whose options, method, distance or settings there are not; no data are read.

    Raises:
        ConfigError: naming the cell.
    """
    try:
        request = request_of(cell, place)
        check_types(request)
        distance = chosen_distance(request.distance)
        given = cell.settings | {name: values[0] for name, values in cell.tune.items() if values} | cell.tuned
        if isinstance(request, ContinualRequest):
            for name in cell.evaluation:
                raise ConfigError(
                    f"{name} is for `lqm evaluate`, and a stream is scored by itself; leave it out"
                )
            check_request(request.method, distance, request.budget, given, request.scoring)
            return
        domain = domain_of(request)
        asked_of(domain.evaluator, **cell.evaluation)
        if request.method is not None:
            settings = make_settings(choose(request.method, domain.methods, "method").settings, given)
            _require_fine_enough(cell, getattr(settings, "mosaic", 1) ** 2)
    except DataError:
        return  # data that are missing cost their cells alone
    except ConfigError as error:
        raise ConfigError(f"cell {cell.name}: {error}") from None


def _require_fine_enough(cell: Cell, cells_of_mosaic: int) -> None:
    """Refuse a sketch that is too coarse for a cell before it is made."""
    if cell.bank is None or cell.bank.kind != "sketch" or "per_class" not in cell.options:
        return
    records = cells_of_mosaic * int(cell.options["per_class"])
    most = cell.bank.options.get("max_per_class", SketchRequest.max_per_class)
    if records > most:
        raise ConfigError(
            f"its sketch is fine enough for {most} records of a class, not for {records}; "
            f"give the sketch max_per_class = {records}"
        )


def run_cell(cell: Cell, head: StudyHead, place: Place) -> CellLine:
    """The line of a cell, with a sentence in place of scores if it failed.

    What was finished of it before is taken up: steps by the run's checkpoints, networks by the score cache.
    """
    try:
        found = _stream_scores(cell, place) if cell.stream else _set_scores(cell, place)
    except StoppedError:
        raise
    except Exception as error:  # the line tells it, and the other cells go on
        return failed_line(cell, head, place, sentence_of(error))
    if cell.validation:
        name, *words = found["protocol"].partition(":")
        found["protocol"] = "".join([f"{name} on validation records", *words])
    return CellLine(**_asked(cell, head, place), **found)


def failed_line(cell: Cell, head: StudyHead, place: Place, sentence: str) -> CellLine:
    """The line of a cell that has no score."""
    return CellLine(**_asked(cell, head, place), state="failed", sentence=sentence)


def _asked(cell: Cell, head: StudyHead, place: Place) -> dict[str, Any]:
    """What a line tells of its cell, whatever came out."""
    return {
        "study": head,
        "cell": cell.name,
        "axes": cell.axes,
        "seed": cell.seed,
        "key": cell.key,
        "settings": cell.settings | cell.tuned,
        "tuned": cell.tuned,
        "command": "" if cell.validation else command_of(cell),
        "commit": commit(),
        "environment": environment(resolve_device(place.device)),
        "paper": cell.paper,
    }


def _set_scores(cell: Cell, place: Place) -> dict[str, Any]:
    request = request_of(cell, place)
    assert isinstance(request, CondenseRequest)
    condensed = run_condensation(request)
    how = _decided(cell, condensed)
    found = evaluate(
        condensed,
        **{"baselines": (), **cell.evaluation, **how},
        data_dir=place.data_dir_of(cell.options["source"]),
        seed=cell.seed,
        device=place.device,
        jobs=1,
        show_progress=place.show_progress,
    )
    kinds = [*found.by_network]
    rules = replace(found.protocol, network=kinds[0]) if len(kinds) == 1 else found.protocol
    evaluating = [rows["condensed"].seconds for rows in found.by_network.values()]
    measured = [seconds for seconds in evaluating if seconds is not None]
    known = {"evaluate": round(sum(measured), 3)} if len(measured) == len(evaluating) else {}
    if (cpu := condensed.manifest.get("cpu_seconds")) is not None:
        known["cpu"] = cpu
    return {
        "steps": condensed.manifest.get("steps", 0),
        "records": found.score.records,
        "protocol": _in_words(rules, how.get("precision", "fp32")),
        "seconds": {"condense": condensed.manifest["seconds"]} | known,
        "memory": condensed.manifest.get("peak_memory"),
        "scores": {kind: rows["condensed"].accuracies for kind, rows in found.by_network.items()},
        "baselines": {name: score.accuracies for name, score in found.baselines.items()},
    }


def _decided(cell: Cell, condensed: CondensedSet) -> dict[str, Any]:
    """How networks that evaluate are run: as the grid says, and in the precision that condensing had."""
    precision = {"precision": condensed.manifest["environment"].get("precision", "fp32")}
    return cell.compute | (precision if "precision" in cell.compute else {})


def _in_words(rules: Protocol, precision: str) -> str:
    """A protocol in words, with the precision if it is not the usual one."""
    words, *over = str(rules).partition(", mean ±")
    return "".join([words, f", in {precision}" if precision != "fp32" else "", *over])


def _stream_scores(cell: Cell, place: Place) -> dict[str, Any]:
    request = request_of(cell, place)
    assert isinstance(request, ContinualRequest)
    found = learn_stream(request)
    (repeat,) = found.repeats
    transfer = found.backward_transfer
    settings = found.config["settings"]
    return {
        "steps": settings.get("steps", 0),
        "records": sum(len(memory.labels) for memory in repeat.memories),
        "protocol": f"average accuracy after {len(found.tasks)} tasks",
        "seconds": {
            "condense": round(repeat.memory_seconds, 3),
            "evaluate": round(repeat.learning_seconds, 3),
        },
        "scores": {settings.get("classifier", "gcn"): found.average_accuracy.each},
        "transfer": transfer.mean if transfer else None,
    }


@cache
def commit() -> str:
    """The commit of this software, with a + if files differ from it; nothing outside of a repository."""
    folder = Path(__file__).parent
    try:
        asked = ["git", "-C", str(folder), "describe", "--always", "--dirty=+", "--exclude=*"]
        return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""

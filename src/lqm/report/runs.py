"""All runs below a folder, each with its state and how far it has come."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import pstdev
from typing import Any

from lqm.banks import Sketch
from lqm.condensed.artefact import DATA_FILE, MANIFEST, read_artefact
from lqm.engine.run import EVALUATIONS, METRICS, in_use, last_line
from lqm.utils.errors import ArtifactError

Record = dict[str, Any]

_RUN, _RESULT = "run.json", "result.json"


@dataclass(frozen=True)
class RunRecord:
    """What there is to say of a run at a glance.

    Attributes:
        folder: of the run, of a sketch, of a stream of tasks, or of a set that was saved.
        state: `running` if a process writes there just now, `stopped`, `done`, or `broken` if what is there
            can't be read or was changed.
        method: with what it was for, if that is a sketch or a stream.
        size: records of each class, or of all.
        steps: made, and of how many if it has not ended; of a sketch, encoders.
        accuracy: by the set's own protocol, else by the first that judged it, or of the last evaluation
            along the way: the mean over networks; of a stream, AA.
        deviation: of it, if there are several.
        changed: when something in the folder last changed, in seconds of the system's clock.
        problem: why it is broken, in words.
    """

    folder: Path
    state: str
    changed: float
    method: str = "-"
    distance: str = "-"
    source: str = "-"
    size: str = "-"
    steps: str = "-"
    accuracy: float | None = None
    deviation: float | None = None
    problem: str = ""


def find_runs(folder: Path) -> list[RunRecord]:
    """Every run at or below a folder, the one that changed last first.

    Raises:
        ArtifactError: when there is no such folder, or no run in it.
    """
    if not folder.is_dir():
        raise ArtifactError(f"there is no folder {folder}; name one that holds runs, as in `lqm runs runs`")
    found = [_record(path) for path in _run_folders(folder)]
    if not found:
        raise ArtifactError(
            f"there are no runs in {folder}; name a folder that `lqm condense` has written to or below"
        )
    return sorted(found, key=lambda run: run.changed, reverse=True)


def _run_folders(folder: Path) -> Iterator[Path]:
    """The folders of runs, without those that belong to a run."""
    for place, below, files in os.walk(folder):
        ours = any(DATA_FILE.fullmatch(name) for name in files) or (
            MANIFEST in files and _is_sealed(Path(place))
        )
        if _RUN in files or ours:
            below.clear()
            yield Path(place)
        below[:] = [name for name in below if not name.startswith(".")]


def _is_sealed(folder: Path) -> bool:
    """Whether a manifest is one of ours: others call their files so too."""
    try:
        return b'"seal"' in (folder / MANIFEST).read_bytes()
    except OSError:
        return False


def _record(folder: Path) -> RunRecord:
    run = RunRecord(folder, "stopped", _last_change(folder))
    damaged = f"{folder / _RUN} is damaged or no record of a run; delete {folder} or restore it from a copy"
    try:
        stored = _read(folder / _RUN) if (folder / _RUN).exists() else {"config": {}}
        config = stored["config"]
        if "sketched" in config:
            run = _sketch(run, config["sketched"])
        elif "stream" in config:
            run = _stream(run, config)
        else:
            run = _condensation(run, config, stored.get("steps", 0))
    except ArtifactError as error:
        run = replace(run, state="broken", problem=str(error))
    except (OSError, KeyError, TypeError, AttributeError, ValueError):
        run = replace(run, state="broken", problem=damaged)
    return replace(run, state="running", problem="") if in_use(folder) else run


def _condensation(run: RunRecord, config: Record, asked: int) -> RunRecord:
    """A run, or a set that was saved without its run."""
    made, manifest = _steps_made(run.folder), Record()
    if (run.folder / MANIFEST).exists() or not config:
        try:
            manifest = read_artefact(run.folder)[1]
        except ArtifactError as error:
            run = replace(run, state="broken", problem=str(error))
    # A finished run may have been taken further since.
    if manifest and manifest["steps"] >= made:
        run, made, asked = replace(run, state="done"), manifest["steps"], 0
    if not (config or manifest):
        return run
    known = config or manifest
    accuracy, deviation = _score(run.folder, manifest if run.state == "done" else {})
    return replace(
        _described(run, known),
        size=str(known.get("per_class", known.get("budget", "-"))),
        steps=f"{made:,}/{asked:,}" if asked and asked >= made else f"{made:,}",
        accuracy=accuracy,
        deviation=deviation,
    )


def _sketch(run: RunRecord, config: Record) -> RunRecord:
    run = _described(run, config, "sketch for ")
    run = replace(run, size=f"≤ {config['max_per_class']}", steps="0")
    if not any(run.folder.glob("encoder-*.safetensors")):
        return run
    try:
        return replace(run, state="done", steps=f"{Sketch(run.folder).encoders:,}")
    except ArtifactError as error:
        return replace(run, state="broken", problem=str(error))


def _stream(run: RunRecord, config: Record) -> RunRecord:
    run = replace(_described(run, config, "stream by "), size=str(config["budget"] or "-"))
    path = run.folder / _RESULT
    if not path.exists():
        return run
    try:
        found = _read(path)["average_accuracy"]
        return replace(run, state="done", accuracy=found["mean"], deviation=found["deviation"])
    except (OSError, ValueError, KeyError, TypeError):
        problem = f"{path} is damaged; give its `lqm continual` command again"
        return replace(run, state="broken", problem=problem)


def _described(run: RunRecord, config: Record, what: str = "") -> RunRecord:
    distance = config.get("distance")
    return replace(
        run,
        method=what + config["method"],
        distance=distance["name"] if distance else "-",
        source=config["source"]["name"],
    )


def _score(folder: Path, manifest: Record) -> tuple[float | None, float | None]:
    """Accuracy and deviation by the set's own protocol, else by the first that judged it."""
    if scores := manifest.get("scores"):
        own = [score for score in scores if score["protocol"] == manifest.get("evaluation")]
        found = (own or scores)[0]
        return found["accuracy"], pstdev(found["accuracies"])
    last = last_line(folder / EVALUATIONS) or {}
    return last.get("accuracy"), last.get("deviation")


def _steps_made(folder: Path) -> int:
    last = last_line(folder / METRICS)
    return int(last["step"]) + 1 if last else 0


def _read(path: Path) -> Record:
    record: Record = json.loads(path.read_bytes())
    return record


def _last_change(folder: Path) -> float:
    """When a file of the run's own was last written; images and pages of it don't count."""
    times = []
    for place, _, files in os.walk(folder):
        for name in files:
            if name.endswith((".json", ".jsonl", ".safetensors")):
                try:
                    times.append(os.stat(os.path.join(place, name)).st_mtime)
                except OSError:
                    continue
    return max(times, default=folder.stat().st_mtime)

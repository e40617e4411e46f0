"""All runs below a folder, each with its state and how far it has come."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from lqm.banks import EXPERTS, SKETCH, Experts, Sketch
from lqm.condensed.artefact import MANIFEST, read_artefact
from lqm.condensed.schema import DATA_FILE
from lqm.engine.checkpoint import newest_step
from lqm.engine.run import EVALUATIONS, METRICS, in_use
from lqm.engine.run_record import RECORD, read_record
from lqm.evaluation.history import accuracy_of
from lqm.evaluation.labels import distance_of
from lqm.evaluation.spread import Spread
from lqm.evaluation.streams import is_stream, read_stream
from lqm.evaluation.table import CONDENSED, scores_in
from lqm.report.run_table import RunSummary
from lqm.utils.errors import ArtifactError, LqmError
from lqm.utils.lines import last_line
from lqm.utils.log import warn
from lqm.utils.own_files import read_plain_file
from lqm.utils.paths import as_path
from lqm.utils.sentences import reason

Config = dict[str, Any]

# The seal is at the head of a manifest.
_HEAD = 4096
_REMEDY = "delete it or restore it from a copy"


def find_runs(folder: Path) -> list[RunSummary]:
    """Every run at or below a folder, the one that changed last first; ArtifactError if there is none."""
    folder = as_path(folder, "folder")
    if not folder.is_dir():
        raise ArtifactError(f"there is no folder {folder}; name one that holds runs, as in `lqm runs runs`")
    runs = [_summary(path) for path in _run_folders(folder)]
    if not runs:
        raise ArtifactError(
            f"there are no runs in {folder}; name a folder that `lqm condense` has written to or below"
        )
    return sorted(runs, key=lambda run: run.changed, reverse=True)


def _run_folders(folder: Path) -> Iterator[Path]:
    """The folders of runs, without those that belong to a run; links are not followed."""
    for place, below, files in os.walk(folder, onerror=_warn_of):
        ours = any(DATA_FILE.fullmatch(name) for name in files) or (
            MANIFEST in files and _is_sealed(Path(place))
        )
        # A folder that is called run.json is none of ours, and what lies in it may be.
        if RECORD in files or ours:
            below.clear()
            yield Path(place)
        below[:] = [name for name in below if not name.startswith(".")]


def _warn_of(error: OSError) -> None:
    warn(f"{error.filename} is left out: it can't be looked into ({error.strerror})")


def _is_sealed(folder: Path) -> bool:
    """Whether a manifest is one of ours: others call their files so too."""
    try:
        return b'"seal"' in read_plain_file(folder / MANIFEST, "", first=_HEAD)
    except (OSError, LqmError):
        return False


def _summary(folder: Path) -> RunSummary:
    run = RunSummary(folder, "stopped", _last_change(folder))
    try:
        run = _described_by_record(run)
    except LqmError as error:
        run = replace(run, state="broken", problem=str(error))
    except (
        OSError,
        ArithmeticError,
        LookupError,
        RuntimeError,
        TypeError,
        AttributeError,
        ValueError,
    ) as error:
        # A folder beside the good ones may be anything, and must not hide them.
        run = replace(run, state="broken", problem=f"{folder} can't be listed ({reason(error)}); {_REMEDY}")
    return replace(run, state="running", problem="") if in_use(folder) else run


def _described_by_record(run: RunSummary) -> RunSummary:
    try:
        stored = read_record(run.folder, f"delete {run.folder} or restore it from a copy")
    except FileNotFoundError:
        stored = {"config": {}}
    config = stored["config"]
    if SKETCH.entry in config:
        return _sketch(run, config[SKETCH.entry])
    if list(config) == [EXPERTS.entry]:
        return _experts(run, config[EXPERTS.entry])
    if "stream" in config:
        return _stream(run, config)
    return _condensation(run, config, stored.get("steps", 0))


def _condensation(run: RunSummary, config: Config, asked: int) -> RunSummary:
    """A run, or a set that was saved without its run."""
    last = last_line(run.folder / METRICS)
    # A step counts when it is saved; a run that was killed meanwhile has logged it before.
    made = min(last["step"] + 1, newest_step(run.folder / "checkpoints")) if last else 0
    manifest = Config()
    if (run.folder / MANIFEST).exists() or not config:
        try:
            manifest = read_artefact(run.folder)[1]
        except LqmError as error:
            run = replace(run, state="broken", problem=str(error))
    # A finished run may have been continued since.
    steps = manifest.get("steps", 0)
    if manifest and steps >= made:
        run, made, asked = replace(run, state="done"), steps, 0
    if not (config or manifest):
        return run
    known = config or manifest
    return replace(
        _described(run, known),
        size=str(known.get("per_class", known.get("budget", "-"))),
        steps=f"{made:,}/{asked:,}" if asked and asked >= made else f"{made:,}",
        accuracy=_accuracy(run.folder, manifest if run.state == "done" else {}),
    )


def _experts(run: RunSummary, config: Config) -> RunSummary:
    run = replace(run, method="experts", source=_source(config))
    if not EXPERTS.paths(run.folder):
        return run
    try:
        bank = Experts(run.folder)
        return replace(run, state="done", size=f"{bank.networks:,}", steps=f"{bank.epochs:,}")
    except LqmError:
        return run


def _sketch(run: RunSummary, config: Config) -> RunSummary:
    run = _described(run, config, "sketch for ")
    run = replace(run, size=f"≤ {config.get('max_per_class', '-')}", steps="0")
    if not any(run.folder.glob("encoder-*.safetensors")):
        return run
    try:
        return replace(run, state="done", steps=f"{Sketch(run.folder).encoders:,}")
    except LqmError as error:
        return replace(run, state="broken", problem=str(error))


def _stream(run: RunSummary, config: Config) -> RunSummary:
    run = replace(_described(run, config, "stream by "), size=str(config.get("budget") or "-"))
    if not is_stream(run.folder):
        return run
    try:
        each = read_stream(run.folder)["average_accuracy"]["each"]
        return replace(run, state="done", accuracy=Spread(tuple(each)))
    except LqmError as error:
        return replace(run, state="broken", problem=str(error))


def _described(run: RunSummary, config: Config, what: str = "") -> RunSummary:
    return replace(
        run,
        method=what + config.get("method", "-"),
        distance=distance_of(config) or "-",
        source=_source(config),
    )


def _source(config: Config) -> str:
    return str(config.get("source", {}).get("name", "-"))


def _accuracy(folder: Path, manifest: Config) -> Spread | None:
    """By the set's own protocol, else by the first that evaluated it, else the last one along the way."""
    if rows := [row for row in scores_in(manifest) if row.training_set == CONDENSED]:
        own = [row for row in rows if row.protocol == manifest.get("evaluation")]
        return (own or rows)[0].spread
    last = last_line(folder / EVALUATIONS)
    return accuracy_of(last) if last else None


def _last_change(folder: Path) -> float:
    """When a file of the run's own was last written; images and pages of it don't count."""
    times = []
    for place, _, files in os.walk(folder):
        for name in files:
            if name.endswith((".json", ".jsonl", ".safetensors")):
                # A running process may have replaced it meanwhile.
                with suppress(OSError):
                    times.append(os.stat(os.path.join(place, name)).st_mtime)
    with suppress(OSError):
        times.append(0.0 if times else folder.stat().st_mtime)
    return max(times, default=0.0)

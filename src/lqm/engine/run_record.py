"""`run.json`: what makes a run this run, and on what it was computed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lqm.condensed.schema import RUN_FIELDS
from lqm.utils.errors import ArtifactError, ConfigError, LqmError
from lqm.utils.files import short_hash, write_atomically
from lqm.utils.log import warn
from lqm.utils.old_names import current_config
from lqm.utils.own_files import read_json, require_fields

Config = dict[str, Any]

RECORD = "run.json"
# What a folder holds besides runs, by the one entry of its configuration.
_BANKS = {"sketched": "a sketch", "experts": "a bank of experts"}


def new_record(config: Config, environment: Mapping[str, str | int], steps: int | None) -> dict[str, Any]:
    """The record of a run that begins; its `id`, which its files carry, is a hash of its configuration."""
    name = short_hash(json.dumps(config, sort_keys=True).encode())
    aim = {} if steps is None else {"steps": steps}
    return {"id": name, "config": config, "environment": dict(environment), **aim}


def read_record(folder: Path, remedy: str) -> dict[str, Any]:
    """What is recorded of the run in a folder, every field of its type.

    Args:
        folder: of the run.
        remedy: what to do if it can't be used, for the sentence.

    Raises:
        FileNotFoundError: when there is none.
        LqmError: when it can't be read, is damaged, or is something else.
    """
    path = folder / RECORD
    record: dict[str, Any] = read_json(path, remedy)
    require_fields(RUN_FIELDS, record, path, remedy)
    return record


def write_record(folder: Path, record: Mapping[str, Any]) -> None:
    """Write the record of a run."""
    write_atomically(folder / RECORD, json.dumps(record, indent=2).encode())


def recorded(path: str | Path | None) -> dict[str, dict[str, Any]]:
    """Configuration and environment with which the run in a folder began; empty if there is none to read."""
    nothing: dict[str, dict[str, Any]] = {"config": {}, "environment": {}}
    try:
        return nothing if path is None else nothing | read_record(Path(path), "")
    except (OSError, LqmError):
        return nothing


def recorded_id(path: Path) -> str | None:
    """What the files of the run in a folder carry; None if an earlier version began it."""
    found: Any = recorded(path).get("id")
    return found if isinstance(found, str) else None


def resumed_record(folder: Path, record: dict[str, Any]) -> dict[str, Any]:
    """What is recorded of a run that goes on; a warning names a difference of the environment.

    Raises:
        ArtifactError: when the record is damaged, or that of something else than a run.
        ConfigError: when the configuration is another.
    """
    stored = read_record(folder, f"delete {folder} or choose another folder")
    config, environment = current_config(stored["config"]), stored["environment"]
    ours = json.loads(json.dumps(record))
    held, wanted = _held(config), _held(ours["config"])
    if held != wanted:
        raise ArtifactError(f"{folder} holds {held}, not {wanted}; choose another folder")
    for name, before, now in _differences(config, ours["config"]):
        raise ConfigError(
            f"{folder} holds a run with {name} = {before!r}, not {now!r}; "
            "choose another folder, or delete this one to start anew"
        )
    for name, before, now in _differences(environment, ours["environment"]):
        warn(f"{name} was {before!r} when this run began and is {now!r} now: the last bits may differ")
    aim = {name: record[name] for name in ("steps",) if name in record}
    if stored != stored | aim:
        write_record(folder, stored | aim)
    return stored


def _held(config: Mapping[str, Any]) -> str:
    """What a folder with that configuration holds."""
    return next((name for entry, name in _BANKS.items() if list(config) == [entry]), "a run")


def _differences(before: Any, now: Any, name: str = "") -> list[tuple[str, Any, Any]]:
    """Every leaf in which two nested records differ, by its dotted name."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            difference
            for key in sorted({*before, *now}, key=lambda key: (key != "name", key))
            for difference in _differences(before.get(key), now.get(key), f"{name}.{key}".lstrip("."))
        ]
    return [] if before == now else [(name, before, now)]

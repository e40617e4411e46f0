"""The options that make a run again, out of its `run.json` and what lies beside it."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from lqm.api.domains import DOMAINS
from lqm.banks import EXPERTS, SKETCH
from lqm.methods.plan import recorded_distance
from lqm.recipes import CALLED
from lqm.utils.errors import ConfigError, LqmError
from lqm.utils.old_names import current_config
from lqm.utils.own_files import read_json
from lqm.utils.places import noted_places

_REMEDY = "name the run.json of a run"


def recorded_options(path: Path, command: str, given: Collection[str]) -> dict[str, Any]:
    """Options by name; those that the words give anyway need not be known.

    Args:
        path: a `run.json`.
        command: that is to take them.
        given: the options among the words, and `source` if it is.

    Raises:
        LqmError: when the file is no record of a run, is of another command, or does not say enough.
    """
    record = read_json(path, _REMEDY)
    config = record.get("config") if isinstance(record, dict) else None
    if not isinstance(config, dict):
        raise ConfigError(f"{path} is no record of a run; {_REMEDY}, or a TOML file")
    kind, config = _kind_of(config)
    if kind != command:
        raise ConfigError(f"{path} is of `lqm {kind}`, not of `lqm {command}`; name another, or a TOML file")
    config = current_config(config)
    if config["source"].get("validation") or config.get("stream", {}).get("validation"):
        raise ConfigError(f"the run of {path} chose settings by validation records; make it again in Python")
    options = _source_options(path.parent, config, path, given)
    options |= {
        name: config[name] for name in ("method", "seed", "scoring", "max_per_class") if name in config
    }
    options |= {name: config[name] for name in ("per_class", "budget") if config.get(name) is not None}
    options |= config.get("stream", {})
    if kind == "continual":
        options.pop("split", None)  # a stream has splits of its own
    if config.get("distance") and "distance" not in given:
        options["distance"] = _distance(config["distance"], path)
    options |= _counts(kind, path.parent, config)
    for bank in ("sketch", "experts"):
        if "sha256" in config.get(bank, {}) and bank not in given:
            raise ConfigError(f"the run of {path} used a bank; say where it is, as --{bank} DIR")
    settings = {name: value for name, value in config["settings"].items() if value is not None}
    steps = record.get("steps")
    return options | {"set": settings | ({} if steps is None else {"steps": steps})}


def _kind_of(config: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The command that has made a run, and its own configuration."""
    if SKETCH.entry in config:
        return "sketch", dict(config[SKETCH.entry])
    if list(config) == [EXPERTS.entry]:
        return "experts", dict(config[EXPERTS.entry])
    return ("continual" if "stream" in config else "condense"), dict(config)


def _source_options(
    folder: Path, config: Mapping[str, Any], path: Path, given: Collection[str]
) -> dict[str, Any]:
    """The source and how it was read; a recipe called paper or best, which says how the set is evaluated."""
    beside: dict[str, Any] = {}
    for name in ("manifest.json", "result.json"):
        if (folder / name).exists():
            beside = json.loads((folder / name).read_text(encoding="utf-8"))
    options = dict(beside.get("origin") or {"source": config["source"]["name"]})
    options |= noted_places(config["source"].get("fingerprint", ""))
    called = str(beside.get("recipe") or "").rpartition("-")[2]
    if called in CALLED:
        options["recipe"] = called
    named = {name for domain in DOMAINS for name in domain.names}
    source = str(options["source"])
    if "source" not in given and source.partition(":")[0] not in named and not Path(source).exists():
        raise ConfigError(f"where '{source}' of {path} is, is not known here; name it before --config")
    return options


def _distance(recorded: Mapping[str, Any], path: Path) -> str:
    """The name of a distance; LqmError if it was made in Python."""
    if found := recorded_distance(recorded):
        return found.name
    raise LqmError(f"the distance '{recorded.get('name')}' of {path} was made in Python; make the run there")


def _counts(kind: str, folder: Path, config: Mapping[str, Any]) -> dict[str, int]:
    """How many there are of what a record does not count."""
    if kind == "continual":
        return {"repeats": max(1, sum(1 for _ in folder.glob("repeat-*")))}
    if kind == "sketch":
        numbers = SKETCH.paths(folder)
        return {"encoders": 1 + max(number for (number,) in numbers)} if numbers else {}
    if kind == "experts":
        keys = EXPERTS.paths(folder)
        made = {"networks": 1 + max(n for n, _ in keys), "epochs": max(e for _, e in keys)} if keys else {}
        return made | ({"epochs": config["epochs"]} if "epochs" in config else {})
    return {}

"""The run folder: configuration, lock, metrics and checkpoints of one condensation."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout
from torch import Tensor

from lqm.engine.checkpoint import Checkpoint, latest_checkpoint, save_checkpoint
from lqm.engine.progress import warn
from lqm.errors import ArtifactError, ConfigError
from lqm.files import is_temporary, remove_temporaries, write_atomically

Config = dict[str, Any]
Metrics = Mapping[str, float]


class RunFolder:
    """A folder that one process at a time may write to; use it in a `with` block.

    Args:
        path: the folder; made when missing, taken up again when it holds a run of the same configuration.
        config: what makes this run this run; a folder with another configuration is refused.
        environment: what the last bits depend on; a difference is said, not refused.

    Raises:
        ArtifactError: when another process holds it, or it holds something else than a run.
        ConfigError: when it holds a run of another configuration.
    """

    def __init__(self, path: Path, config: Config, environment: Mapping[str, str | int]) -> None:
        self.path = path
        self._record = {"config": config, "environment": dict(environment)}
        self._lock = FileLock(path / ".lock")
        self._metrics = path / "metrics.jsonl"
        self._record_file = path / "run.json"

    def __enter__(self) -> "RunFolder":
        try:
            self._require_free()
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout:
            raise ArtifactError(
                f"{self.path} is in use by another process; wait for it, or choose another folder"
            ) from None
        except OSError as error:
            raise ArtifactError(
                f"{self.path} can't be used as a folder for the run ({error.strerror}); choose another one"
            ) from error
        try:
            for folder in (self.path, self.path / "checkpoints"):
                remove_temporaries(folder)
            if self._record_file.exists():
                self._compare()
            else:
                write_atomically(self._record_file, json.dumps(self._record, indent=2).encode())
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def save(self, step: int, state: dict[str, Tensor]) -> Path:
        """Save a checkpoint."""
        return save_checkpoint(self.path / "checkpoints", step, state)

    def restore(self) -> Checkpoint | None:
        """The newest intact checkpoint; metrics of steps that it does not include are forgotten."""
        checkpoint = latest_checkpoint(self.path / "checkpoints", warn)
        step = checkpoint.step if checkpoint else 0
        if self._metrics.exists():
            lines = self._metrics.read_bytes().splitlines(keepends=True)
            write_atomically(self._metrics, b"".join(_lines_before(lines, step)))
        return checkpoint

    def seconds(self) -> float:
        """What the steps that are logged have taken."""
        lines = self._metrics.read_bytes().splitlines() if self._metrics.exists() else []
        return sum(float(json.loads(line).get("seconds", 0.0)) for line in lines)

    def log(self, entries: list[tuple[int, Metrics]]) -> None:
        """Append metrics, one JSON object a line."""
        text = "".join(json.dumps({"step": step, **metrics}) + "\n" for step, metrics in entries)
        try:
            with self._metrics.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise ArtifactError(f"{self._metrics} could not be written: {error.strerror}") from error

    def _require_free(self) -> None:
        """Refuse a folder that holds anything but a run, or what a run that was killed at once has left."""
        if self._record_file.exists() or not self.path.exists():
            return
        if any(p.name != ".lock" and not is_temporary(p) for p in self.path.iterdir()):
            raise ArtifactError(
                f"{self.path} holds files that are not a run's; choose an empty or new folder"
            )

    def _compare(self) -> None:
        try:
            stored = json.loads(self._record_file.read_bytes())
            config, environment = stored["config"], stored["environment"]
        except (ValueError, KeyError, TypeError) as error:
            raise ArtifactError(
                f"{self._record_file} is damaged; delete {self.path} or choose another folder"
            ) from error
        ours = json.loads(json.dumps(self._record))
        if ("sketched" in config) != ("sketched" in ours["config"]):
            held = "a sketch" if "sketched" in config else "a run, not a sketch"
            raise ArtifactError(f"{self.path} holds {held}; choose another folder")
        for name, before, now in _differences(config, ours["config"]):
            raise ConfigError(
                f"{self.path} holds a run with {name} = {before!r}, not {now!r}; "
                "choose another folder, or delete this one to start anew"
            )
        for name, before, now in _differences(environment, ours["environment"]):
            warn(f"{name} was {before!r} when this run began and is {now!r} now: the last bits may differ")


def recorded(path: str | Path | None) -> dict[str, dict[str, Any]]:
    """Configuration and environment with which the run in a folder began; empty if there is none to read."""
    nothing: dict[str, dict[str, Any]] = {"config": {}, "environment": {}}
    try:
        return nothing if path is None else nothing | json.loads((Path(path) / "run.json").read_bytes())
    except (OSError, ValueError, TypeError):
        return nothing


def _lines_before(lines: list[bytes], step: int) -> list[bytes]:
    """The leading whole lines of steps below `step`."""
    kept = []
    for line in lines:
        try:
            if not line.endswith(b"\n") or json.loads(line)["step"] >= step:
                break
        except (ValueError, KeyError, TypeError):
            break
        kept.append(line)
    return kept


def _differences(before: Any, now: Any, name: str = "") -> list[tuple[str, Any, Any]]:
    """Every leaf in which two nested records differ, by its dotted name."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            difference
            for key in sorted({*before, *now}, key=lambda key: (key != "name", key))
            for difference in _differences(before.get(key), now.get(key), f"{name}.{key}".lstrip("."))
        ]
    return [] if before == now else [(name, before, now)]

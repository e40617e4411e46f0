"""The run folder: configuration, lock, metrics and checkpoints of one condensation."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout
from torch import Tensor

from lqm.engine.checkpoint import Checkpoint, latest_checkpoint, save_checkpoint
from lqm.engine.progress import Evaluated
from lqm.engine.record import read_record
from lqm.utils.errors import ArtifactError, ConfigError, LqmError
from lqm.utils.files import is_temporary, remove_temporaries, write_atomically
from lqm.utils.log import warn
from lqm.utils.old_names import current_config

Config = dict[str, Any]
Metrics = Mapping[str, float]

METRICS, EVALUATIONS = "metrics.jsonl", "evaluations.jsonl"
_LOCK = ".lock"
# What a folder holds besides runs, by the one entry of its configuration.
_BANKS = {"sketched": "a sketch", "experts": "a bank of experts"}
# Whoever lists runs holds a lock for an instant, to see whether it is free.
_LOCK_SECONDS, _LOCK_POLL = 0.5, 0.02
# More than any line of metrics or of an evaluation takes.
_LINE_BYTES = 65536


class RunFolder:
    """A folder that one process at a time may write to; use it in a `with` block.

    Args:
        path: the folder; made when missing, resumed when it holds a run of the same configuration.
        config: what makes this run this run; a folder with another configuration is refused.
        environment: what the last bits depend on; a warning names a difference.
        steps: how many are asked for, if they are known; noted for those who list runs, and may change.

    Raises:
        ArtifactError: when another process holds it, or it holds something else than a run.
        ConfigError: when it holds a run of another configuration.
    """

    def __init__(
        self,
        path: Path,
        config: Config,
        environment: Mapping[str, str | int],
        *,
        steps: int | None = None,
    ) -> None:
        self.path = path
        self._aim = {} if steps is None else {"steps": steps}
        self._record = {"config": config, "environment": dict(environment)} | self._aim
        self._lock = FileLock(path / _LOCK)
        self._metrics, self._evaluations = path / METRICS, path / EVALUATIONS
        self._record_file = path / "run.json"

    def __enter__(self) -> "RunFolder":
        try:
            self._require_free()
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=_LOCK_SECONDS, poll_interval=_LOCK_POLL)
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
                self._write_record(self._record)
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
        """The newest intact checkpoint; what was noted of steps that it does not include is forgotten."""
        checkpoint = latest_checkpoint(self.path / "checkpoints", warn)
        step = checkpoint.step if checkpoint else 0
        # Steps are numbered from 0, and an evaluation by how many were made before it.
        for path, end in ((self._metrics, step), (self._evaluations, step + 1)):
            if path.exists():
                lines = path.read_bytes().splitlines(keepends=True)
                write_atomically(path, b"".join(_lines_before(lines, end)))
        return checkpoint

    def seconds(self) -> float:
        """What the steps that are logged have taken."""
        lines = self._metrics.read_bytes().splitlines() if self._metrics.exists() else []
        return sum(float(json.loads(line).get("seconds", 0.0)) for line in lines)

    def log(self, entries: list[tuple[int, Metrics]]) -> None:
        """Append metrics, one JSON object a line."""
        _append(self._metrics, [{"step": step, **metrics} for step, metrics in entries])

    def log_evaluation(self, step: int, found: Evaluated) -> None:
        """Append what an evaluation found after so many steps."""
        _append(self._evaluations, [{"step": step, **found}])

    def last_evaluation(self) -> Evaluated | None:
        """What the last one found, with its `step`, if there is one."""
        return last_line(self._evaluations)

    def _require_free(self) -> None:
        """Refuse a folder that holds anything but a run, or what a run that was killed at once has left."""
        if self._record_file.exists() or not self.path.exists():
            return
        if any(p.name != _LOCK and not is_temporary(p) for p in self.path.iterdir()):
            raise ArtifactError(
                f"{self.path} holds files that are not a run's; choose an empty or new folder"
            )

    def _compare(self) -> None:
        stored = read_record(self.path, f"delete {self.path} or choose another folder")
        config, environment = current_config(stored["config"]), stored["environment"]
        ours = json.loads(json.dumps(self._record))
        held, wanted = (_held(record) for record in (config, ours["config"]))
        if held != wanted:
            raise ArtifactError(f"{self.path} holds {held}, not {wanted}; choose another folder")
        for name, before, now in _differences(config, ours["config"]):
            raise ConfigError(
                f"{self.path} holds a run with {name} = {before!r}, not {now!r}; "
                "choose another folder, or delete this one to start anew"
            )
        for name, before, now in _differences(environment, ours["environment"]):
            warn(f"{name} was {before!r} when this run began and is {now!r} now: the last bits may differ")
        if stored != stored | self._aim:
            self._write_record(stored | self._aim)

    def _write_record(self, record: dict[str, Any]) -> None:
        write_atomically(self._record_file, json.dumps(record, indent=2).encode())


def _held(config: Mapping[str, Any]) -> str:
    """What a folder with that configuration holds."""
    return next((name for entry, name in _BANKS.items() if list(config) == [entry]), "a run")


def recorded(path: str | Path | None) -> dict[str, dict[str, Any]]:
    """Configuration and environment with which the run in a folder began; empty if there is none to read."""
    nothing: dict[str, dict[str, Any]] = {"config": {}, "environment": {}}
    try:
        return nothing if path is None else nothing | read_record(Path(path), "")
    except (OSError, LqmError):
        return nothing


def in_use(path: Path) -> bool:
    """Whether a process writes to a run's folder just now; nothing there is changed, made or kept."""
    import fcntl

    try:
        descriptor = os.open(path / _LOCK, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)


def last_line(path: Path) -> dict[str, Any] | None:
    """The last whole record in a file of JSON lines, if there is one."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LINE_BYTES))
            lines = file.read().splitlines(keepends=True)
    except OSError:
        return None
    for line in reversed(lines):
        if line.endswith(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and "step" in record:
                return record
    return None


def _append(path: Path, records: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(record) + "\n" for record in records)
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ArtifactError(f"{path} could not be written: {error.strerror}") from error


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

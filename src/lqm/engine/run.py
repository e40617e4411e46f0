"""The run folder: configuration, lock, metrics and checkpoints of one condensation."""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock
from torch import Tensor

from lqm.condensed.history import METRICS as METRICS
from lqm.engine.checkpoint import Checkpoint, latest_checkpoint, save_checkpoint
from lqm.engine.progress import Evaluated
from lqm.engine.run_record import RECORD, Config, new_record, resumed_record, write_record
from lqm.utils.errors import ArtifactError
from lqm.utils.files import is_temporary, remove_temporaries, write_atomically
from lqm.utils.lines import append_lines, read_log, warn_of_damage
from lqm.utils.locks import is_held, taking
from lqm.utils.log import warn

Metrics = Mapping[str, float]

EVALUATIONS = "evaluations.jsonl"
_LOCK, _CHECKPOINTS = ".lock", "checkpoints"
# Whoever lists runs holds a lock for an instant, to see whether it is free.
_LOCK_SECONDS, _LOCK_POLL = 0.5, 0.02


class RunFolder:
    """A folder that one process at a time may write to; use it in a `with` block.

    Attributes:
        id: what its checkpoints carry, so that none of another run is taken for one of this; None if an
            earlier version began the run.

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
        self._record = new_record(config, environment, steps)
        self._lock = FileLock(path / _LOCK)
        self._metrics, self._evaluations = path / METRICS, path / EVALUATIONS
        self.id: str | None = None

    def __enter__(self) -> "RunFolder":
        with taking(self.path, "the run"):
            self._require_free()
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=_LOCK_SECONDS, poll_interval=_LOCK_POLL)
        try:
            for folder in (self.path, self.path / _CHECKPOINTS):
                remove_temporaries(folder)
            record = self._record
            if (self.path / RECORD).exists():
                record = resumed_record(self.path, record)
            else:
                write_record(self.path, record)
            self.id = record.get("id")
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
        return save_checkpoint(self.path / _CHECKPOINTS, step, state, self.id)

    def restore(self) -> Checkpoint | None:
        """The newest intact checkpoint; what was noted of steps that it does not include is forgotten."""
        checkpoint = latest_checkpoint(self.path / _CHECKPOINTS, warn, self.id)
        step = checkpoint.step if checkpoint else 0
        # Steps are numbered from 0, and an evaluation by how many were made before it.
        for path, end in ((self._metrics, step), (self._evaluations, step + 1)):
            lines = read_log(path)
            warn_of_damage(path, lines)
            kept = [line for line in lines if line.record and line.record["step"] < end]
            if len(kept) < len(lines):
                write_atomically(path, b"".join(line.content for line in kept))
        return checkpoint

    def seconds(self) -> float:
        """What the steps that are logged have taken."""
        found = [line.record.get("seconds", 0.0) for line in read_log(self._metrics) if line.record]
        return float(sum(seconds for seconds in found if _is_number(seconds) and seconds >= 0))

    def log(self, entries: list[tuple[int, Metrics]]) -> None:
        """Append metrics, one JSON object a line."""
        append_lines(self._metrics, [{"step": step, **metrics} for step, metrics in entries])

    def log_evaluation(self, step: int, found: Evaluated) -> None:
        """Append what an evaluation found after so many steps."""
        append_lines(self._evaluations, [{"step": step, **found}])

    def evaluations(self) -> list[Evaluated]:
        """What each found, with its `step`, as far as it can be shown."""
        found = (line.record for line in read_log(self._evaluations))
        return [{"deviation": None} | each for each in found if each and _can_be_shown(each)]

    def _require_free(self) -> None:
        """Refuse a folder that holds anything but a run, or what a run that was killed at once has left."""
        if (self.path / RECORD).exists() or not self.path.exists():
            return
        if any(p.name != _LOCK and not is_temporary(p) for p in self.path.iterdir()):
            raise ArtifactError(
                f"{self.path} holds files that are not a run's; choose an empty or new folder"
            )


def _can_be_shown(found: Evaluated) -> bool:
    numbers = found.get("accuracy"), found.get("deviation") or 0.0
    return all(map(_is_number, numbers)) and isinstance(found.get("protocol"), str)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def in_use(path: Path) -> bool:
    """Whether a process writes to a run's folder just now; nothing there is changed, made or kept."""
    return is_held(path / _LOCK)

"""TensorBoard's event files of a run, an optional extra: what the JSON lines say, at the same steps."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from lqm.engine.progress import Evaluated
from lqm.engine.run import Metrics
from lqm.utils.errors import ArtifactError, ConfigError


class Events:
    """Event files in a folder; what they have from step `first` on is taken back.

    TensorBoard's own writer puts the name of the machine into that of the file, and files are given away.
    Use `events_in` to make and to close one.
    """

    def __init__(self, folder: Path, first: int) -> None:
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog  # type: ignore[import-untyped]
        from tensorboard.summary.writer.record_writer import RecordWriter  # type: ignore[import-untyped]

        folder.mkdir(parents=True, exist_ok=True)
        # Files are read in the order of their names, which begin with the second in which they were made.
        while any(folder.glob(f"events.out.tfevents.{int(time.time())}.*")):
            time.sleep(0.05)
        self._event, self._folder = Event, folder
        self._file = (folder / f"events.out.tfevents.{int(time.time())}.{token_hex(4)}").open("wb")
        self._writer = RecordWriter(self._file)
        self._write(step=first, file_version="brain.Event:2")
        self._write(step=first, session_log=SessionLog(status=SessionLog.START))
        self._file.flush()

    def log(self, entries: list[tuple[int, Metrics]]) -> None:
        """Metrics of steps; they are with the system when this returns."""
        from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]

        try:
            for step, metrics in entries:
                values = [Summary.Value(tag=name, simple_value=value) for name, value in metrics.items()]
                self._write(step=step, summary=Summary(value=values))
            self._file.flush()
        except OSError as error:
            raise ArtifactError(
                f"event files in {self._folder} could not be written: {error.strerror or error}"
            ) from error

    def evaluated(self, step: int, found: Evaluated) -> None:
        """What an evaluation found after so many steps."""
        numbers = {f"evaluation/{name}": value for name, value in found.items() if isinstance(value, float)}
        self.log([(step, numbers)])

    def close(self) -> None:
        """Nothing more is to come."""
        self._file.close()

    def _write(self, **content: Any) -> None:
        event = self._event(wall_time=time.time(), **content)
        self._writer.write(event.SerializeToString())


def require_tensorboard() -> None:
    """Refuse to go on where event files can't be written.

    Raises:
        ConfigError: when the package is missing.
    """
    try:
        import torch.utils.tensorboard  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            f"event files need TensorBoard, which can't be imported here ({error}); "
            "pip install 'lqm[tensorboard]', or leave tensorboard out"
        ) from error


@contextmanager
def events_in(folder: Path | None, first: int) -> Iterator[Events | None]:
    """The event files of a run that goes on after `first` steps; None without a folder."""
    if folder is None:
        yield None
        return
    events = Events(folder, first)
    try:
        yield events
    finally:
        events.close()

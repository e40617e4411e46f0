"""TensorBoard's event files of a run, an optional extra: what the JSON lines say, at the same steps."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lqm.engine.progress import Evaluated
from lqm.engine.run import Metrics
from lqm.utils.errors import ArtifactError, ConfigError


class Events:
    """Event files in a folder; what they have from step `first` on is taken back.

    Use `events_in` to make and to close one.
    """

    def __init__(self, folder: Path, first: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        # Files are read in the order of their names, which begin with the second in which they were made.
        while any(folder.glob(f"events.out.tfevents.{int(time.time())}.*")):
            time.sleep(0.05)
        self._folder = folder
        self._writer = SummaryWriter(str(folder), purge_step=first)

    def log(self, entries: list[tuple[int, Metrics]]) -> None:
        """Metrics of steps; they are with the system when this returns."""
        try:
            for step, metrics in entries:
                for name, value in metrics.items():
                    self._writer.add_scalar(name, value, step)
            self._writer.flush()
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
        self._writer.close()


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

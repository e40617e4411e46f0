"""Where independent pieces of work are done, as the public functions are asked."""

from dataclasses import dataclass
from typing import Annotated

import tyro


def option(metavar: str) -> object:
    """How an option is shown in the help: with what it takes, and without its default."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint="")


Name = Annotated[str | None, option("NAME")]
Number = Annotated[int | None, option("N")]


@dataclass(frozen=True, kw_only=True)
class EngineRequest:
    """Where independent pieces of work are done.

    Attributes:
        engine: local (default), or ray: on a cluster.
        address: Of that cluster, such as auto; else it is started.
        jobs: Pieces at a time here, each in a process.
        threads: Of each piece, else all cores; bits depend on it.
    """

    engine: Annotated[str, option("NAME")] = "local"
    address: Name = None
    jobs: Number = None
    threads: Number = None

    @property
    def processes(self) -> int:
        """Pieces at a time on this machine, one if nothing was said."""
        return 1 if self.jobs is None else self.jobs

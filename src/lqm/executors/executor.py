"""The one seam between what is to be computed and where: pieces of work in, results out as they come."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

import torch

from lqm.engine import environment
from lqm.utils.cache import Packed
from lqm.utils.errors import ConfigError, LqmError
from lqm.utils.memory import is_out_of_memory
from lqm.utils.sentences import reason

# Does a piece: from what it is given to its results, of which a chain has several.
Do = Callable[[Packed], Iterator[Packed]]


@dataclass(frozen=True, eq=False)
class Piece:
    """One piece of work, whose results follow from the work and from what it is given alone.

    Attributes:
        name: tells it from the others in messages.
        given: numbers and texts by name, and tensors.
    """

    name: str
    given: Packed


@dataclass(frozen=True)
class Lost:
    """What came of a piece that has failed for good.

    Attributes:
        sentence: why.
    """

    sentence: str


@dataclass(frozen=True, eq=False)
class Work:
    """What the pieces of one command have in common.

    Attributes:
        do: does a piece in this process.
        opener: `module:function` that makes such a function in another process, of `context` and `data`.
        context: what the opener needs, ready for JSON.
        threads: with which every piece computes, wherever that is.
        data: the real data, for an engine that can hand them over; other processes of this machine get None,
            and the opener finds them by the context.
        findable: whether it can.
        device: on which it computes.
    """

    do: Do
    opener: str
    context: Mapping[str, Any]
    threads: int
    data: object = None
    findable: bool = True
    device: str = "cpu"
    environment: Mapping[str, str | int] = field(init=False)

    def __post_init__(self) -> None:
        here = environment(torch.device(self.device)) | {"threads": self.threads}
        object.__setattr__(self, "environment", here)


class Executor(Protocol):
    """Does pieces of work somewhere.

    Attributes:
        slots: how many at a time.
        workers: how many processes have sent a result so far.
    """

    slots: int
    workers: int

    def map(self, work: Work, pieces: Iterable[Piece]) -> Iterator[tuple[Piece, Packed | Lost]]:
        """The results of pieces, as they come; those of one piece come in order."""
        ...


def opened(opener: str, context: Mapping[str, Any], data: object) -> Do:
    """What does the pieces of a work, made in the process that computes."""
    module, _, name = opener.partition(":")
    do: Do = getattr(import_module(module), name)(context, data)
    return do


def sentence_of(error: Exception) -> str:
    """Why a piece failed."""
    if is_out_of_memory(error):
        return "there is not enough memory for it"
    return str(error) if isinstance(error, LqmError) else f"{type(error).__name__}: {reason(error)}"


def require_same_environment(wanted: Mapping[str, str | int], where: str) -> None:
    """Refuse to compute where the last bits would be others than those of the process that asks.

    Raises:
        ConfigError: naming what differs.
    """
    here = environment(torch.device("cuda" if wanted["device"] != "cpu" else "cpu"))
    for name, value in wanted.items():
        if here[name] != value:
            raise ConfigError(
                f"{where} has {name} {here[name]}, and this machine {value}; give all machines the same, or "
                "leave that one out of the cluster"
            )


@contextmanager
def computing_with(threads: int) -> Iterator[None]:
    """Compute with so many threads inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)

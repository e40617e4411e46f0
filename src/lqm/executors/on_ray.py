"""Pieces on the machines of a Ray cluster: Ray schedules them, moves their data, and does lost ones again."""

import logging
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

from lqm.executors.executor import Do, Lost, Piece, Work, opened, require_same_environment, sentence_of
from lqm.utils.cache import Packed
from lqm.utils.errors import ConfigError, LqmError
from lqm.utils.extras import missing
from lqm.utils.sentences import first_line

try:
    import ray
    from ray import exceptions
    from ray._private import ray_constants
except ImportError as error:
    raise missing("--engine ray", "ray", "ray") from error

# A piece is done so many times at most, whether its worker dies or it fails.
TRIES = 3
# Pieces that are handed to Ray for each that can be done at a time, so that no worker waits for the driver.
_AHEAD = 2
LOOPBACK = "127.0.0.1"


class PieceError(Exception):
    """A piece that has failed, as Ray brings it back: one sentence."""


@dataclass(frozen=True, eq=False)
class _Handed:
    """What every worker process fetches once."""

    opener: str
    context: dict[str, Any]
    data: object
    threads: int
    environment: dict[str, str | int]


class OnRay:
    """Does pieces by Ray, on a cluster or on this machine alone.

    Args:
        address: of a cluster: `auto`, or `HOST:PORT`; None to start Ray on this machine if this process is
            not connected to any.
    """

    def __init__(self, address: str | None = None) -> None:
        self._address, self._seen = address, set[str]()
        self.slots = 1

    @property
    def workers(self) -> int:
        """How many processes have sent a result so far."""
        return len(self._seen)

    def map(self, work: Work, pieces: Iterable[Piece]) -> Iterator[tuple[Piece, Packed | Lost]]:
        """The results of pieces, as they come.

        Raises:
            ConfigError: when there is no cluster, or none of its machines can do a piece.
        """
        with connected(self._address):
            self.slots = _slots(work.threads)
            handed = _put(work)
            remote = ray.remote(
                num_cpus=work.threads,
                num_returns="streaming",
                max_retries=TRIES - 1,
                retry_exceptions=True,
            )(_do_piece)
            todo, running = iter(pieces), dict[Any, Piece]()
            try:
                while True:
                    while len(running) < _AHEAD * self.slots and (piece := next(todo, None)):
                        running[remote.remote([handed], piece)] = piece
                    if not running:
                        return
                    (ready,), _ = ray.wait([*running], num_returns=1, fetch_local=False)
                    result = self._next(ready)
                    if result is None:
                        del running[ready]
                        continue
                    yield running[ready], result
                    if isinstance(result, Lost):
                        del running[ready]
            finally:
                for each in running:
                    ray.cancel(each)

    def _next(self, results: Any) -> Packed | Lost | None:
        """The next result of a piece; None if there is none any more."""
        try:
            worker, result = ray.get(next(results))
            self._seen.add(worker)
            found: Packed | Lost = result
            return found
        except StopIteration:
            return None
        except exceptions.RayError as error:
            return Lost(_why(error))


def _do_piece(handed: list[Any], piece: Piece) -> Iterator[tuple[str, Packed | Lost]]:
    """In a worker: the results of a piece, each with the name of the worker."""
    where = f"worker {ray.util.get_node_ip_address()}, process {os.getpid()},"
    try:
        for result in _opened(handed[0], where)(piece.given):
            yield where, result
    except LqmError as error:  # it would be the same another time
        yield where, Lost(str(error))
    except Exception as error:  # Ray tries again, and brings its sentence to the driver in the end
        raise PieceError(sentence_of(error)) from None


@lru_cache(maxsize=1)
def _opened(handed: Any, where: str) -> Do:
    """What does the pieces of one work, made once a process."""
    try:
        found: _Handed = ray.get(handed)
    except exceptions.RayError as error:
        cause = error.__cause__ or error
        raise ConfigError(f"{where} can't use the data: {cause}") from error
    torch.set_num_threads(found.threads)
    require_same_environment(found.environment, where)
    return opened(found.opener, found.context, found.data)


def _put(work: Work) -> Any:
    """Hand over what all pieces need, once, through Ray's object store."""
    whole = _Handed(work.opener, dict(work.context), work.data, work.threads, dict(work.environment))
    try:
        return ray.put(whole)
    except (exceptions.ObjectStoreFullError, exceptions.OutOfDiskError) as error:
        room = ray.cluster_resources().get("object_store_memory", 0.0) / 2**30
        raise ConfigError(
            f"the data do not fit into Ray's object store of {room:.1f} GiB; start Ray with a larger "
            "--object-store-memory"
        ) from error


def _slots(threads: int) -> int:
    """How many pieces can be done at a time."""
    able = [int(node["Resources"].get("CPU", 0)) // threads for node in ray.nodes() if node["Alive"]]
    if not any(able):
        raise ConfigError(f"no machine of the cluster has {threads} cores for a piece; give fewer --threads")
    return sum(able)


def _why(error: Exception) -> str:
    """The sentence of a piece that Ray gave up."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, PieceError):
        return f"{cause} (tried {TRIES} times)"
    if isinstance(error, exceptions.OutOfMemoryError):
        return f"Ray ended its worker {TRIES} times, since memory was short"
    if isinstance(error, exceptions.WorkerCrashedError | exceptions.NodeDiedError):
        return f"its worker died {TRIES} times; perhaps memory was short"
    return f"{type(error).__name__}: {first_line(error)}"


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Be connected to a cluster inside the block; what is started for it on this machine is ended after it.

    Raises:
        ConfigError: when there is no cluster at the address.
    """
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    clusters = ray_constants.ENABLE_RAY_CLUSTER
    with _own_handlers():
        try:
            if address is None:
                # Ray on Linux listens to all networks, whatever address it is given, unless it is told, as on
                # other systems, that there is no cluster. Whoever reaches its ports may run code.
                os.environ[ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR] = "0"
                ray_constants.ENABLE_RAY_CLUSTER = False
                ray.init(
                    address="local",
                    _node_ip_address=LOOPBACK,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
            else:
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, exceptions.RayError, RuntimeError, ValueError, OSError) as error:
            right = "leave --address out, and Ray is started here" if address else "see docs/scale.md"
            place = f"at '{address}'" if address else "on this machine"
            raise ConfigError(f"there is no Ray {place} ({first_line(error)}); {right}") from error
    try:
        yield
    finally:
        ray.shutdown()
        ray_constants.ENABLE_RAY_CLUSTER = clusters
        os.environ.pop(ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR, None)


@contextmanager
def _own_handlers() -> Iterator[None]:
    """Keep the handlers of signals that Ray would replace."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""Which engine does the pieces of a request, and how a request gets to where they are done."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import torch

from lqm.api.domains import domain_of
from lqm.api.engine_request import EngineRequest
from lqm.api.requests import SourceRequest
from lqm.engine import recorded
from lqm.engine.forecast import Forecast
from lqm.executors import Executor, InProcess, Lost, Piece, Processes, Work
from lqm.images.sources.parquet_parts import holds_parquet
from lqm.utils.cache import Packed
from lqm.utils.errors import ConfigError, LqmError
from lqm.utils.log import warn
from lqm.utils.names import choose
from lqm.utils.sentences import counted

R = TypeVar("R", bound=EngineRequest)
ENGINE = tuple(field.name for field in fields(EngineRequest))
# What a source says of itself once it is loaded.
_OF_SOURCE = ("data_dir", "size", "test_fraction", "augmentation", "features", "split", "label")


def executor_for(request: EngineRequest) -> Executor:
    """What does the pieces of a request.

    Raises:
        ConfigError: when there is no such engine, or an option is for another one.
    """
    choose(request.engine, dict.fromkeys(("local", "ray")), "engine")
    if request.engine == "ray":
        if request.processes != 1:
            raise ConfigError("jobs are processes of this machine, and Ray has workers; leave jobs out")
        executor: Executor = import_module("lqm.executors.on_ray").OnRay(request.address)
        return executor
    if request.address is not None:
        raise ConfigError(f"address = '{request.address}' is of a Ray cluster; give engine = ray too")
    return Processes(request.processes) if request.processes > 1 else InProcess()


def decode_first(request: EngineRequest) -> None:
    """Let the workers of Ray decode images in Parquet files, each of which takes a file, into the cache.

    All else is read where it is first used.
    """
    if request.engine != "ray" or not isinstance(request, SourceRequest):
        return
    source = request.source
    if isinstance(source, str | Path) and domain_of(request).name == "images" and holds_parquet(source):
        on_ray, decoding = map(import_module, ("lqm.executors.on_ray", "lqm.images.sources.ray_decoding"))
        with on_ray.connected(request.address):
            decoding.decode_with_ray(source, size=request.size, show_progress=request.show_progress)


def threads_for(request: EngineRequest, out: str | Path | None = None) -> int:
    """With how many threads each piece computes: as asked for, as in the folder before, or all there are.

    Raises:
        ConfigError: when the bank in the folder has been begun with others.
    """
    before = recorded(out)["environment"].get("threads") if out else None
    if before and request.threads not in (None, before):
        raise ConfigError(
            f"{out} was begun with {before} threads, on which its last bits depend; leave threads out, or "
            "choose another folder"
        )
    if known := request.threads or before:
        return int(known)
    return max(1, torch.get_num_threads() // request.processes)


def context_of(request: Any, **more: Any) -> dict[str, Any]:
    """What another process needs to make the same request, ready for JSON.

    Raises:
        ConfigError: when an option is an object of this process.
    """
    given: dict[str, Any] = {}
    for field in fields(request):
        value = getattr(request, field.name)
        if field.name in ("source", "out", "show_progress", *ENGINE) or value == field.default:
            continue
        if callable(value) or not isinstance(value, str | int | float | bool | Path | Mapping | list | tuple):
            raise ConfigError(
                f"{field.name} is an object of this program, which other processes do not have; give a name, "
                "or leave engine and jobs out"
            )
        given[field.name] = str(value) if isinstance(value, Path) else value
    source = str(request.source) if isinstance(request.source, str | Path) else None
    return {"request": given, "source": source, **more}


def request_from(kind: type[R], context: Mapping[str, Any], data: object) -> R:
    """The request of a context, about data that were handed over or about those that it names."""
    given = dict(context["request"])
    if data is not None:
        given = {name: value for name, value in given.items() if name not in _OF_SOURCE}
        given.pop("normalise_features", None)
    given |= {"source": context["source"] if data is None else data, "show_progress": False}
    return kind(**given)


def as_decided(request: R, compute: Mapping[str, Any]) -> R:
    """The request with what was decided of compiling and precision, so that every process does alike."""
    if "compile" not in compute or not isinstance(request, SourceRequest):
        return request
    words = {"compile": "on" if compute["compile"] else "off", "precision": compute["precision"]}
    return replace(request, **words)


def results(
    executor: Executor, work: Work, pieces: Iterable[Piece], forecast: Forecast, what: str
) -> Iterator[tuple[Piece, Packed]]:
    """The results of pieces, as they come; those that have failed for good are reported in the end.

    Args:
        executor: does the pieces.
        work: what they have in common.
        pieces: what to do.
        forecast: of the time that all take; the first has waited for its process to start.
        what: what a piece is called.

    Raises:
        LqmError: if one has failed.
    """
    lost: dict[str, str] = {}
    for number, (piece, found) in enumerate(executor.map(work, pieces)):
        if isinstance(found, Lost):
            lost[piece.name] = found.sentence
            continue
        if number == 0 and not isinstance(executor, InProcess):
            forecast.begin(1)
        yield piece, found
    for name, sentence in lost.items():
        warn(f"{name} has failed: {sentence}")
    if lost:
        first = next(iter(lost.values()))
        failed = counted(len(lost), f"{what} has failed", f"{what}s have failed")
        raise LqmError(f"{failed} ({first}); all others are kept, and the same command tries again")

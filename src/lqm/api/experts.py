"""Experts: networks trained on the real images, with a snapshot after each epoch."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Unpack

from torch import Tensor

from lqm.api.bank_pieces import fill, in_chains, pieces_of
from lqm.api.checking import check_types, request_of
from lqm.api.domains import domain_of
from lqm.api.engines import as_decided, context_of, decode_first, executor_for, request_from, threads_for
from lqm.api.given import given_source
from lqm.api.memory import within_memory
from lqm.api.options import ExpertsOptions
from lqm.api.requests import ExpertsRequest
from lqm.api.types import Labels, SourceLike
from lqm.banks import EXPERTS, BankWriter, Experts
from lqm.engine import environment, recorded, resolve_device
from lqm.engine.compute import decide
from lqm.engine.forecast import SHORTER, Forecast
from lqm.engine.progress import Progress
from lqm.executors import Do, Executor, Work, computing_with
from lqm.images.experts import ExpertSettings, snapshot
from lqm.images.memory import images_at_once
from lqm.images.networks import count_activations
from lqm.images.problem import ImageProblem, preprocessed
from lqm.images.sources import ImageSource
from lqm.methods.plan import as_text
from lqm.utils.effects import effective
from lqm.utils.errors import ConfigError
from lqm.utils.limits import limited_to
from lqm.utils.log import warn
from lqm.utils.memory import memory_for_reading
from lqm.utils.settings import make_settings

_MOST_SNAPSHOTS = 10**6


def experts(
    source: SourceLike, y: Labels | None = None, *, out: str | Path, **options: Unpack[ExpertsOptions]
) -> Experts:
    """Train networks on real images and keep their weights after each epoch.

    A training that was stopped goes on after its last epoch, and ends bit for bit like one that was not. More
    networks, or more epochs at a constant rate, are added to those that are there. `condense` and `sketch`
    use the bank as `experts=...`.

    Args:
        source: images, as for `condense`.
        y: the labels of arrays.
        out: the folder of the bank.
        **options: see `ExpertsRequest`.

    Raises:
        LqmError: for anything that can't be used, before any work starts.
    """
    data, words = given_source(source, y, options)
    return train_experts(request_of(ExpertsRequest, source=data, out=out, **words))


@within_memory("training experts", "give a smaller network, or a smaller batch in the settings")
def train_experts(request: ExpertsRequest) -> Experts:
    """See `experts`."""
    check_types(request)
    if (asked := request.networks * request.epochs) > _MOST_SNAPSHOTS:
        raise ConfigError(
            f"{request.networks:,} networks of {request.epochs:,} epochs are {asked:,} snapshots; ask for "
            f"{_MOST_SNAPSHOTS:,} at most"
        )
    if request.out is None:
        raise ConfigError("experts need a folder; give one as out")
    domain = domain_of(request)
    if domain.name != "images":
        raise ConfigError(
            f"experts learn from images, and '{request.source_name}' is {domain.article}; name a source of "
            "images"
        )
    executor, threads = executor_for(request), threads_for(request, request.out)
    decode_first(request)
    with computing_with(threads):
        _fill_bank(request, executor, threads)
    return Experts(request.out, request.networks, request.epochs)


def _fill_bank(request: ExpertsRequest, executor: Executor, threads: int) -> None:
    settings = expert_settings(request)
    problem, notes = _problem(request, settings)
    source, device = problem.source, problem.device
    _require_extendable(request, settings)
    # A schedule is made for so many epochs, and none but a constant one can go on after them.
    length = {} if settings.schedule == "constant" else {"epochs": request.epochs}
    config = {"source": source.record, "seed": request.seed, "settings": settings.record, **length}
    machine = environment(device) | asdict(problem.compute)
    work = Work(
        do=_snapshots(request, settings, problem),
        opener=f"{__name__}:open_experts_work",
        context=context_of(as_decided(request, machine)),
        threads=threads,
        data=source,
        findable=isinstance(request.source, str | Path),
        device=device.type,
    )
    assert request.out is not None
    with BankWriter(Path(request.out), EXPERTS, config, machine) as writer:
        finished = writer.finished()
        keys = [(n, e) for n in range(request.networks) for e in range(request.epochs + 1)]
        missing = [key for key in keys if key not in finished]
        if request.show_progress:
            for line in (f"experts: {as_text(effective(settings, settings.record))}", *notes):
                warn(line)
            if len(missing) < len(keys):
                warn(f"{len(keys) - len(missing)} of {len(keys)} snapshots are there already")
        forecast = Forecast(len(missing), disk=lambda: writer.bytes_of(len(keys)), shorter=SHORTER["experts"])
        with Progress(
            "experts", len(missing), shown=request.show_progress, forecast=forecast, each="snapshot"
        ) as bar:
            pieces = pieces_of(
                missing,
                lambda key: (key[0], key[1] - 1) if key[1] else None,
                lambda key: writer.read(*key).tensors(),
                "network",
            )
            fill(writer, executor, work, pieces, bar, forecast, _accuracy)


def _accuracy(made: Mapping[str, Tensor]) -> dict[str, float]:
    right, seen = made["counts"].tolist()
    return {"accuracy so far": right / seen} if seen else {}


def open_experts_work(context: Mapping[str, Any], data: object) -> Do:
    """What trains experts in another process."""
    request = request_from(ExpertsRequest, context, data)
    settings = expert_settings(request)
    with limited_to(request.max_memory, work=True):
        return _snapshots(request, settings, _problem(request, settings)[0])


def _snapshots(request: ExpertsRequest, settings: ExpertSettings, problem: ImageProblem) -> Do:
    return in_chains(
        lambda key, before, _: snapshot(
            problem, settings, key[0], key[1], dict(before), epochs=request.epochs
        ),
        lambda made: made,
    )


def _problem(request: ExpertsRequest, settings: ExpertSettings) -> tuple[ImageProblem, tuple[str, ...]]:
    """What the networks learn from and how they compute, and what to log of that."""
    with memory_for_reading(request.source):
        source: ImageSource = domain_of(request).load(request)
    device = resolve_device(request.device)
    problem = ImageProblem(
        class_names=source.class_names,
        counts=(1,) * len(source.class_names),
        seed=request.seed,
        device=device,
        source=preprocessed(source, settings),
    )
    images = request.networks * request.epochs * len(source.train.labels)
    activations = count_activations(problem.fresh_network(settings.network, "check", 0), source.shape)
    compute, notes = decide(
        request.compile or "auto",
        request.precision or "fp32",
        device,
        activations=(6.0 if settings.optimizer == "gsam" else 3.0) * images * activations,
        before=recorded(request.out)["environment"],
    )
    problem = replace(problem, compute=compute)
    images_at_once(problem, settings, learning=settings.batch, synthetic=False)
    return problem, notes


def expert_settings(request: ExpertsRequest) -> ExpertSettings:
    """How experts are to be trained."""
    named = {} if request.network is None else {"network": request.network}
    return make_settings(ExpertSettings, {**(request.settings or {}), **named})


def _require_extendable(request: ExpertsRequest, settings: ExpertSettings) -> None:
    """Refuse to train on with other settings, or after the end of a schedule."""
    config = recorded(request.out)["config"].get(EXPERTS.entry, {})
    held = asdict(ExpertSettings()) | config.get("settings", asdict(settings))
    for name, value in asdict(settings).items():
        if held[name] != value:
            raise ConfigError(
                f"the experts in {request.out} were trained with {name} = {held[name]!r}, not {value!r}; "
                "give what they were trained with, or another folder"
            )
    before = config.get("epochs")
    if settings.schedule != "constant" and before not in (None, request.epochs):
        raise ConfigError(
            f"the learning rate of the experts in {request.out} falls along {before} epochs (schedule = "
            f"{settings.schedule}), so they can't train for {request.epochs}; give epochs = {before}, or "
            "another folder"
        )

"""Sketch: one pass over the real data for each of many encoders, kept for many condensations."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Unpack

from lqm.api.bank_pieces import fill, in_chains, pieces_of
from lqm.api.checking import check_types, request_of
from lqm.api.domains import domain_of
from lqm.api.engines import as_decided, context_of, decode_first, executor_for, request_from, threads_for
from lqm.api.expert_source import experts_for
from lqm.api.given import given_source
from lqm.api.memory import within_memory
from lqm.api.options import SketchOptions
from lqm.api.planning import given_settings
from lqm.api.requests import SketchRequest
from lqm.api.types import Labels, SourceLike
from lqm.banks import FINENESS, SKETCH, BankWriter, Sketch, settings_to_sketch, sketch_config
from lqm.engine import environment, recorded, resolve_device
from lqm.engine.forecast import SHORTER, Forecast
from lqm.engine.progress import Progress
from lqm.executors import Do, Executor, Work, computing_with
from lqm.images.students import below
from lqm.methods.condensation import Condensation, Sketcher
from lqm.methods.domain import Choices
from lqm.methods.plan import as_text
from lqm.utils.errors import ConfigError
from lqm.utils.limits import limited_to
from lqm.utils.log import warn
from lqm.utils.memory import memory_for_reading
from lqm.utils.names import choose
from lqm.utils.settings import make_settings

# Encoders for each that is made at a time: with fewer, the last ones would keep workers waiting.
_ENOUGH = 2


def sketch(
    source: SourceLike, y: Labels | None = None, *, out: str | Path, **options: Unpack[SketchOptions]
) -> Sketch:
    """Keep what many encoders leave behind of the real data, so that condensing needs no more of it.

    A sketch that was stopped goes on after its last encoder, and one of 200 encoders asked for 400 gets 200
    more. `condense(..., sketch=...)` uses it for every budget up to `max_per_class`, every seed, and every
    distance that looks at one feature at a time; `continual` uses one of a stream of tasks.

    Args:
        source: what to sketch, as for `condense`.
        y: the labels of arrays.
        out: the folder of the sketch.
        **options: see `SketchRequest`.

    Raises:
        LqmError: for anything that can't be used, before any work starts.
    """
    data, words = given_source(source, y, options)
    return make_sketch(request_of(SketchRequest, source=data, out=out, **words))


@within_memory("a sketch", "give a smaller --real-batch or network")
def make_sketch(request: SketchRequest) -> Sketch:
    """See `sketch`."""
    if request.out is None:
        raise ConfigError("a sketch needs a folder; give one as out")
    check_types(request)
    if request.classes_per_task is None:
        for name in ("order", "order_seed", "inter_task_edges", "remainder", "split_seed"):
            if getattr(request, name) != getattr(SketchRequest, name):
                raise ConfigError(
                    f"{name} is for a stream of tasks; give classes_per_task too, or leave it out"
                )
    executor, threads = executor_for(request), threads_for(request, request.out)
    decode_first(request)
    with computing_with(threads):
        _fill_sketch(request, executor, threads)
    return Sketch(request.out)


def _fill_sketch(request: SketchRequest, executor: Executor, threads: int) -> None:
    config, machine, notes, sketcher, source = plan_sketch(request)
    assert request.out is not None
    work = Work(
        do=_shards(request, sketcher),
        opener=f"{__name__}:open_sketch_work",
        context=context_of(as_decided(request, machine)),
        threads=threads,
        data=source,
        findable=isinstance(request.source, str | Path),
        device=resolve_device(request.device).type,
    )
    with BankWriter(Path(request.out), SKETCH, config, machine) as writer:
        finished = writer.finished()
        missing = [n for n in range(request.encoders) if (n,) not in finished]
        if request.show_progress:
            for line in notes:
                warn(line)
            if len(missing) < request.encoders:
                warn(f"{request.encoders - len(missing)} of {request.encoders} encoders are there already")
        forecast = Forecast(
            len(missing), disk=lambda: writer.bytes_of(request.encoders), shorter=SHORTER["sketch"]
        )
        with Progress(
            "sketch", len(missing), shown=request.show_progress, forecast=forecast, each="encoder"
        ) as bar:
            pieces = pieces_of(
                [(n,) for n in missing],
                lambda key: (key[0] - 1,) if key[0] % sketcher.chain else None,
                lambda key: writer.read(*key).below("encoder"),
                "encoder",
                lambda: _blocks(len(missing), sketcher, executor),
            )
            fill(writer, executor, work, pieces, bar, forecast)


def _blocks(missing: int, sketcher: Sketcher, executor: Executor) -> int:
    """Into how many pieces an encoder is divided: by its classes, if encoders are too few for all workers."""
    enough = missing >= _ENOUGH * executor.slots or executor.slots == 1
    return 1 if enough or sketcher.chain > 1 else sketcher.blocks


def open_sketch_work(context: Mapping[str, Any], data: object) -> Do:
    """What makes shards in another process."""
    request = request_from(SketchRequest, context, data)
    with limited_to(request.max_memory, work=True):
        return _shards(request, plan_sketch(request)[3])


def _shards(request: SketchRequest, sketcher: Sketcher) -> Do:
    size = FINENESS * request.max_per_class
    return in_chains(
        lambda key, state, block: sketcher.shard(
            key[0], lambda earlier: dict(state), size, None if block is None else (block,)
        ),
        lambda shard: below(dict(shard), "encoder"),
    )


def plan_sketch(
    request: SketchRequest,
) -> tuple[dict[str, Any], dict[str, Any], tuple[str, ...], Sketcher, Any]:
    """Configuration, environment, notes, what makes the shards, and the source."""
    device = resolve_device(request.device)
    domain = domain_of(request)
    name = request.method or domain.default_method
    spec = choose(name, domain.methods, f"method for {domain.name}")
    if not spec.sketch_settings:
        able = ", ".join(key for key, other in domain.methods.items() if other.sketch_settings)
        raise ConfigError(f"method '{name}' can't use a sketch; choose one of {able}")
    given = given_settings(request)
    make_settings(spec.settings, given)
    settings_to_sketch(name, spec.sketch_settings, given)
    batch = {} if request.real_batch is None else {"real_batch": request.real_batch}
    with memory_for_reading(request.source):
        source = domain.load(request)
    recipe = domain.recipe(source, name, None, None, device)
    whole = domain.all_records(source)
    settings = make_settings(
        spec.settings, {**recipe.settings, "real_batch": whole, **given, **batch, "steps": request.encoders}
    )
    if whole:
        settings = replace(settings, real_batch=min(settings.real_batch, whole))
    experts = experts_for(request, name, spec, settings, source)
    choices = Choices(
        request=request,
        source=source,
        recipe=recipe,
        spec=spec,
        settings=settings,
        device=device,
        experts=experts.open if experts else None,
        before=recorded(request.out)["environment"],
        sketching=True,
    )
    prepared = domain.prepare(choices)
    built = spec.build(prepared.problem, settings)
    assert isinstance(built, Condensation)
    assert built.sketcher is not None
    built.sketcher.require_memory(settings)
    fixed = {setting: asdict(settings)[setting] for setting in spec.sketch_settings}
    config = {
        **sketch_config(source.record, name, request.max_per_class, request.seed, fixed),
        **prepared.size,
        **({"experts": experts.record} if experts else {}),
    }
    notes = (*prepared.notes, f"sketch for {name}: {as_text(fixed)}")
    return config, environment(device) | dict(prepared.compute), notes, built.sketcher, source

"""Experts: networks trained on the real images, with a snapshot after each epoch."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Unpack

from lqm.api.checking import check_types, request_of
from lqm.api.domains import domain_of
from lqm.api.given import given_source
from lqm.api.memory import within_memory
from lqm.api.options import ExpertsOptions
from lqm.api.requests import CondenseRequest, ExpertsRequest, SketchRequest
from lqm.api.types import Labels, SourceLike
from lqm.banks import EXPERTS, SKETCH, BankWriter, Experts, require_same_source
from lqm.engine import environment, recorded, resolve_device
from lqm.engine.compute import decide
from lqm.engine.forecast import SHORTER, Forecast
from lqm.engine.progress import Progress
from lqm.images.experts import ExpertSettings, snapshot
from lqm.images.memory import images_at_once
from lqm.images.networks import count_activations
from lqm.images.problem import ImageProblem, preprocessed
from lqm.images.sources import ImageSource
from lqm.methods.plan import as_text
from lqm.methods.spec import ExpertsNeeded, MethodSpec
from lqm.utils.effects import effective
from lqm.utils.errors import ConfigError
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
    settings = expert_settings(request)
    with memory_for_reading(request.source):
        source: ImageSource = domain.load(request)
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
    _require_extendable(request, settings)
    # A schedule is made for so many epochs, and none but a constant one can go on after them.
    length = {} if settings.schedule == "constant" else {"epochs": request.epochs}
    config = {"source": source.record, "seed": request.seed, "settings": settings.record, **length}
    machine = environment(device) | asdict(compute)
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
            for done, (network, epoch) in enumerate(missing, start=1):
                before = writer.read(network, epoch - 1).tensors() if epoch else {}
                made = snapshot(problem, settings, network, epoch, before, epochs=request.epochs)
                writer.write((network, epoch), made)
                right, seen = made["counts"].tolist()
                bar.update(done, {"accuracy so far": right / seen} if seen else {})
    return Experts(request.out, request.networks, request.epochs)


def expert_settings(request: ExpertsRequest) -> ExpertSettings:
    """How experts are to be trained."""
    named = {} if request.network is None else {"network": request.network}
    return make_settings(ExpertSettings, {**(request.settings or {}), **named})


@dataclass(frozen=True)
class ExpertSource:
    """Experts for a run: `open` gives the bank, after training it if need be; `record` is for its config."""

    open: Callable[[], Experts]
    record: dict[str, Any]


def experts_for(
    request: CondenseRequest | SketchRequest,
    method: str,
    spec: MethodSpec,
    settings: Any,
    source: Any,
    scratch: Path | None = None,
) -> ExpertSource | None:
    """The experts that were given, or those that the method would train for itself; None if it needs none.

    Raises:
        LqmError: when a bank was given that can't be used.
    """
    needed = spec.experts(settings) if spec.experts else None
    if request.experts is None:
        return _own_experts(request, needed, source, scratch) if needed else None
    if not needed and "student_batch" not in spec.sketch_settings:
        raise ConfigError(f"method '{method}' uses no experts; leave them out")
    if not needed and not isinstance(request, SketchRequest):
        raise ConfigError(f"method '{method}' uses experts in a sketch alone; give them to `lqm sketch`")
    # What is resumed uses as many as it began with, though there may be more.
    config = recorded(request.out)["config"]
    before = config.get(SKETCH.entry, config).get("experts", {})
    bank = Experts(request.experts, before.get("networks"), before.get("epochs"))
    require_same_source(bank, source.record)
    own = bank.config["settings"]["network"]
    if own != settings.network:
        raise ConfigError(
            f"the experts in {bank.path} are {own}, not {settings.network}; give network = {own}"
        )
    _require_fed_alike(bank, method, settings)
    if needed and needed.networks > bank.networks:
        raise ConfigError(
            f"the experts in {bank.path} are {bank.networks}, and '{method}' is to use {needed.networks}; "
            f"give {needed.setting} = {bank.networks}, or train more with `lqm experts`"
        )
    if needed and needed.least_epochs > bank.epochs:
        raise ConfigError(
            f"the experts in {bank.path} have {bank.epochs} epochs, and '{method}' looks at "
            f"{needed.least_epochs}; give a smaller max_start, or train longer with `lqm experts`"
        )
    most = bank.networks * (bank.epochs + 1)
    if isinstance(request, SketchRequest) and request.encoders > most:
        raise ConfigError(
            f"this sketch uses {most} snapshots of the experts in {bank.path}; ask for {most} encoders at "
            "most, or train more with `lqm experts` and sketch in another folder"
        )
    if needed:
        bank.networks = needed.networks
    return ExpertSource(lambda: bank, bank.identity)


def _require_fed_alike(bank: Experts, method: str, settings: Any) -> None:
    """Refuse experts that have learned from whitened images where others are condensed, or the reverse."""
    own, wanted = bank.config["settings"].get("zca", False), getattr(settings, "zca", None)
    if own == bool(wanted):
        return
    theirs = "whitened images (zca = true)" if own else "images that are not whitened (zca = false)"
    remedy = "train others with `lqm experts`" + ("" if wanted is None else f", or give zca = {own}".lower())
    raise ConfigError(
        f"the experts in {bank.path} have learned from {theirs}, and this '{method}' does not; {remedy}"
    )


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


def _own_experts(request: Any, needed: ExpertsNeeded, source: Any, scratch: Path | None) -> ExpertSource:
    """Experts in the folder of the run, or in one that goes with it."""
    training = ExpertsRequest(
        source=source,
        networks=needed.networks,
        epochs=needed.epochs,
        settings=asdict(needed.settings),
        seed=request.seed,
        device=request.device,
        compile=request.compile,
        precision=request.precision,
        show_progress=request.show_progress,
    )

    @cache
    def trained() -> Experts:
        folder = scratch if request.out is None else Path(request.out)
        assert folder is not None
        return train_experts(replace(training, out=folder / "experts"))

    record = {"networks": needed.networks, "epochs": needed.epochs, "settings": needed.settings.record}
    return ExpertSource(trained, record)

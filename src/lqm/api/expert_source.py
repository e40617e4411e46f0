"""The experts of a run: those that it was given, or those that its method trains for itself."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from lqm.api.experts import train_experts
from lqm.api.requests import CondenseRequest, ExpertsRequest, SketchRequest
from lqm.banks import SKETCH, Experts, require_same_source
from lqm.engine import recorded
from lqm.methods.spec import ExpertsNeeded, MethodSpec
from lqm.utils.errors import ConfigError


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

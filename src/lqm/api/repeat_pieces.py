"""The repeats of a stream as pieces of work."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lqm.api.engines import context_of, request_from, results
from lqm.api.requests import ContinualRequest
from lqm.api.stream_plan import plan_stream
from lqm.engine import environment, resolve_device
from lqm.engine.forecast import Forecast
from lqm.engine.progress import Progress
from lqm.engine.run_record import RECORD
from lqm.executors import Do, Executor, Piece, Work
from lqm.executors.folders import packed_files, unpack_files
from lqm.graphs.continual import ContinualPlan, RepeatContext, learn_repeat
from lqm.utils.cache import Packed
from lqm.utils.errors import ConfigError


def learn_repeats(
    request: ContinualRequest, plan: ContinualPlan, folder: Path, executor: Executor, threads: int
) -> None:
    """Let an executor learn the repeats that are not finished in a folder, each from where it was stopped.

    Raises:
        LqmError: when repeats have failed; the files of all others are in the folder.
    """
    record = (folder / RECORD).read_text(encoding="utf-8")
    context = context_of(request, config=json.loads(json.dumps(plan.config)), record=record)
    work = Work(
        do=_learned(plan, request, record),
        opener=f"{__name__}:open_stream_work",
        context=context,
        threads=threads,
        data=(plan, request.repeats, request.device),
        findable=isinstance(request.source, str | Path),
        device=resolve_device(request.device).type,
    )
    last = f"after-{len(plan.stream.tasks) - 1:02d}.json"
    missing = [n for n in range(request.repeats) if not (_folder(folder, n) / last).exists()]
    pieces = (Piece(f"repeat {n}", Packed(packed_files(_folder(folder, n)), {"number": n})) for n in missing)
    forecast = Forecast(len(missing))
    with Progress(
        "learn", len(missing), shown=request.show_progress, forecast=forecast, each="repeat"
    ) as bar:
        learned = results(executor, work, pieces, forecast, "repeat")
        for done, (_, found) in enumerate(learned, start=1):
            unpack_files(found.tensors, _folder(folder, found.notes["number"]))
            bar.update(done, {"workers": executor.workers})


def open_stream_work(context: Mapping[str, Any], data: Any) -> Do:
    """What learns repeats in another process."""
    if data is not None:
        plan, repeats, device = data
        request = ContinualRequest(source="", repeats=repeats, device=device)
        return _learned(plan, request, context["record"])
    request = request_from(ContinualRequest, context, None)
    plan = plan_stream(request)
    if json.loads(json.dumps(plan.config)) != context["config"]:
        raise ConfigError("the graph or its settings have changed since the stream was begun; begin anew")
    return _learned(plan, request, context["record"])


def _learned(plan: ContinualPlan, request: ContinualRequest, record: str) -> Do:
    device = resolve_device(request.device)

    def do(given: Packed) -> Iterator[Packed]:
        number = given.notes["number"]
        with tempfile.TemporaryDirectory(prefix="lqm-") as scratch:
            # The checkpoints of a repeat carry the name of the stream that they are of.
            (Path(scratch) / RECORD).write_text(record, encoding="utf-8")
            folder = _folder(Path(scratch), number)
            unpack_files(given.tensors, folder)
            learn_repeat(
                plan, RepeatContext(number, request.repeats, device, folder, environment(device), False)
            )
            yield Packed(packed_files(folder), {"number": number})

    return do


def _folder(stream: Path, number: int) -> Path:
    return stream / f"repeat-{number}"

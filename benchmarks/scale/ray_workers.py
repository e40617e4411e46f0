"""Pieces of work by one and by two workers of Ray: python -m benchmarks.scale.ray_workers.

Networks of an evaluation, cells of a study and encoders of a sketch, with one thread each, in turn: in this
process, by one worker and by two; what a piece costs beside its work; the bytes that are handed over; the
driver's memory.
The time of a piece is that from the first result to the last, without the start of Ray and of its workers.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Literal

import tyro

Kind = Literal["evaluate", "study", "sketch", "nothing"]
_WAYS = ("local", "ray-1", "ray-2")


def main(rounds: int = 3, networks: int = 12, cells: int = 10, encoders: int = 24) -> None:
    """Time all, in turn, and print a table.

    Args:
        rounds: how often.
        networks: of an evaluation.
        cells: of a study.
        encoders: of a sketch.
    """
    for kind, count in {"evaluate": networks, "study": cells, "sketch": encoders, "nothing": 200}.items():
        found: dict[str, list[dict[str, float]]] = {way: [] for way in _WAYS}
        for _ in range(rounds):
            for way in _WAYS:
                found[way].append(_child(kind, way, count))
        local = median(each["seconds"] for each in found["local"])
        for way, times in found.items():
            seconds = median(each["seconds"] for each in times)
            middle = {name: median(each[name] for each in times) for name in ("start", "memory", "moved")}
            print(
                f"{kind:9} {way:6} {1000 * seconds:8.1f} ms a piece, "
                f"{local / seconds:5.2f} x local, "
                f"first result after {middle['start']:5.1f} s, driver {middle['memory'] / 2**20:6.0f} MiB, "
                f"handed over {middle['moved'] / 2**20:6.2f} MiB",
                flush=True,
            )


def _child(kind: str, way: str, count: int) -> dict[str, float]:
    command = [sys.executable, "-m", __spec__.name, "--child", kind, way, str(count)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return times


def _measure(kind: Kind, way: str, count: int) -> dict[str, float]:
    """In a process of its own: the work, by one of the ways."""
    import psutil

    from lqm.executors import InProcess

    moved = 0.0
    if way == "local":
        executor: Any = InProcess()
    else:
        import ray

        from lqm.executors.on_ray import LOOPBACK, OnRay

        ray.init(
            address="local",
            num_cpus=int(way[-1]),
            _node_ip_address=LOOPBACK,
            include_dashboard=False,
            log_to_driver=False,
        )
        executor = OnRay()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["LQM_CACHE"] = scratch
        work, pieces = _PREPARED[kind](count)
        if way != "local":
            import ray.cloudpickle

            moved = float(len(ray.cloudpickle.dumps(work.data)))
        began = time.monotonic()
        ends = []
        for _ in executor.map(work, pieces):
            ends.append(time.monotonic())
    memory = psutil.Process().memory_info().rss
    # With the first result, as many others are nearly done as there are workers beside its own.
    seconds = (ends[-1] - ends[0]) / (count - executor.slots)
    return {"seconds": seconds, "start": ends[0] - began, "memory": memory, "moved": moved}


def _evaluation(count: int) -> tuple[Any, list[Any]]:
    import torch

    import lqm
    from lqm.api.evaluation_pieces import Sets, _trained, open_evaluation_work
    from lqm.api.evaluation_result import evaluator_of
    from lqm.executors import Piece, Work
    from lqm.utils.cache import Packed

    source = lqm.load_source("digits", show_progress=False)
    condensed = lqm.condense(source, per_class=10, method="random", show_progress=False)
    rules = evaluator_of(condensed).protocols["quick-200"]
    sets = Sets(condensed, source, rules, 0, torch.device("cpu"), {})
    compute = {"compile": False, "precision": "fp32"}
    pieces = [
        Piece(
            f"network {j}",
            Packed({}, {"network": "convnet:width=16", "set": "condensed", "index": j, "compute": compute}),
        )
        for j in range(count)
    ]
    context = {"protocol": rules.record, "seed": 0, "device": "cpu"}
    opener = f"{open_evaluation_work.__module__}:{open_evaluation_work.__name__}"
    return Work(_trained(sets), opener, context, threads=1, data=(condensed, source)), pieces


def _study(count: int) -> tuple[Any, list[Any]]:
    from lqm.api.cell_pieces import cell_work
    from lqm.api.cells import Place
    from lqm.api.engine_request import EngineRequest
    from lqm.studies.files import load_study

    folder = Path(tempfile.mkdtemp())
    (folder / "study.toml").write_text(
        f"[[grid]]\nsource = 'digits'\nmethod = 'dm'\nper_class = 1\nseed = {[*range(count)]}\n"
        "protocol = 'quick-200'\nrepeats = 1\nsettings = { steps = 40 }\n"
    )
    engine = EngineRequest(engine="ray", threads=1)
    study = load_study(folder / "study.toml")
    place = Place(folder, device="cpu", show_progress=False, engine=engine)
    work, pieces = cell_work(study.cells, study.head, place)
    return work, [*pieces]


def _sketch(count: int) -> tuple[Any, list[Any]]:
    from lqm.api.bank_pieces import pieces_of
    from lqm.api.engines import as_decided, context_of
    from lqm.api.requests import SketchRequest
    from lqm.api.sketch import _shards, plan_sketch
    from lqm.executors import Work

    request = SketchRequest(
        source="digits",
        encoders=count,
        max_per_class=10,
        settings={"network": "convnet:width=64"},
        compile="off",
        out=Path(tempfile.mkdtemp()) / "sketch",
        show_progress=False,
    )
    _, machine, _, sketcher, source = plan_sketch(request)
    context = context_of(as_decided(request, machine))
    work = Work(
        _shards(request, sketcher), "lqm.api.sketch:open_sketch_work", context, threads=1, data=source
    )
    pieces = pieces_of([(n,) for n in range(count)], lambda key: None, lambda key: {}, "encoder")
    return work, [*pieces]


def _nothing(count: int) -> tuple[Any, list[Any]]:
    from lqm.executors import Piece, Work
    from lqm.utils.cache import Packed

    work = Work(open_nothing({}, None), f"{__spec__.name}:open_nothing", {}, threads=1)
    return work, [Piece(str(n), Packed({}, {})) for n in range(count)]


def open_nothing(context: Any, data: object) -> Any:
    """Pieces without work, whose time is that of handing them out."""
    from lqm.utils.cache import Packed

    return lambda given: iter([Packed({}, {})])


_PREPARED = {"evaluate": _evaluation, "study": _study, "sketch": _sketch, "nothing": _nothing}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        kind, way, number = sys.argv[2:]
        print(json.dumps(_measure(kind, way, int(number))))  # type: ignore[arg-type]
    else:
        tyro.cli(main)

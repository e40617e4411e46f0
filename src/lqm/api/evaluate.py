"""Evaluate: what a condensed set is worth, beside sets of real records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from lqm.api.checking import check_options
from lqm.api.engine_request import EngineRequest
from lqm.api.engines import executor_for, threads_for
from lqm.api.evaluation_options import Makers, asked_of, changed
from lqm.api.evaluation_pieces import Sets, train_missing
from lqm.api.evaluation_result import Evaluation, Scores, evaluator_of
from lqm.api.given import real_data
from lqm.api.side_by_side import side_by_side
from lqm.api.types import SourceLike, TestLike
from lqm.condensed import CondensedSet, load_described
from lqm.engine import resolve_device
from lqm.engine.compute import Compute
from lqm.engine.forecast import SHORTER, Forecast
from lqm.engine.progress import Progress
from lqm.evaluation.evaluator import entry_of, refuse_memory
from lqm.evaluation.faults import faults_of
from lqm.evaluation.origins import real_data_of
from lqm.executors import InProcess, computing_with
from lqm.utils.errors import ArtifactError, ConfigError
from lqm.utils.limits import limited_to
from lqm.utils.log import warn
from lqm.utils.memory import memory_for


@memory_for("evaluating", "give networks of fewer weights, or fewer baselines")
def evaluate(
    condensed: str | Path | CondensedSet,
    source: SourceLike | None = None,
    *,
    test: TestLike | None = None,
    test_fraction: float | None = None,
    protocol: str | None = None,
    networks: str | Sequence[str] | Mapping[str, Callable[..., nn.Module]] = (),
    repeats: int | None = None,
    test_every: int | None = None,
    baselines: str | Sequence[str] = "all",
    data_dir: str | Path | None = None,
    compile: str | None = None,
    precision: str | None = None,
    seed: int = 0,
    device: str = "auto",
    max_memory: str | int | None = None,
    engine: str = "local",
    address: str | None = None,
    jobs: int | None = None,
    threads: int | None = None,
    show_progress: bool = True,
) -> Evaluation:
    """Train fresh networks on a condensed set, test them on real records, and store the score.

    Every network's score is cached: an evaluation that was stopped resumes after the last network, and the
    whole training set is learned once for each source and protocol.

    Args:
        condensed: a set of images, of nodes or of rows, or the folder of one.
        source: where the real data come from, a name, a path or data as for `condense`, arrays as `(X, y)`;
            by default the place or the data that were condensed.
        test: what was given as such with the data, if anything was.
        test_fraction: the same.
        protocol: a name; by default the one that the manifest asks for.
        networks: kinds in place of the protocol's, such as `("convnet", "resnet18")` for images,
            `("gcn", "sgc")` for nodes or `("logistic", "mlp")` for rows; or functions by name, each of which
            makes a module of your own: for images from an image's shape and the number of classes, for nodes
            and rows from the numbers of features and classes; of nodes it is called as PyG's networks are,
            `module(x, edge_index)`.
        repeats: how many networks of each kind, in place of the protocol's number; more go on from fewer.
        test_every: of images: test each network after every so many epochs too; the best accuracy is told
            apart from that after the last epoch, and selects nothing.
        baselines: real records to score in the same way: `all` (the default) of `random`, `herding`, `full`,
            some of them, or `()` for none; of nodes also `k-centre` and, with features of their own,
            `random-raw`, `herding-raw`, `k-centre-raw`; of rows, `k-centre` and `k-means`.
        data_dir: where named sources are, if they have moved.
        compile: of images: whether networks are compiled: `on`, `off`, or `auto`, if it takes long.
        precision: of images: `fp32`, `bf16`, or `auto`, the faster one if a trial finds that it works.
        seed: of the networks and of their training.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
        max_memory: the most that the content of a file may take, such as `4GB`.
        engine: where networks are trained: `local`, or `ray`, on the machines of a cluster.
        address: of that cluster: `auto`, or `HOST:PORT`; without it, Ray is started on this machine.
        jobs: how many networks at a time, each in a process of its own on this machine; by default one, but
            several on a CPU if they are of images and take long.
        threads: with which each network is trained, by default its share of the cores; scores depend on it.
        show_progress: whether to show the networks and the time left.

    Raises:
        LqmError: when the set is damaged, or the source is not the one that was condensed.
    """
    check_options(
        source=source,
        test_fraction=test_fraction,
        data_dir=data_dir,
        compile=compile,
        precision=precision,
        seed=seed,
        device=device,
        jobs=jobs,
        threads=threads,
        show_progress=show_progress,
    )
    pieces = EngineRequest(engine=engine, address=address, jobs=jobs, threads=threads)
    executor_for(pieces)
    where = resolve_device(device)
    condensed = condensed if isinstance(condensed, CondensedSet) else load_described(condensed)
    refuse_memory(condensed.manifest)
    evaluator = evaluator_of(condensed)
    chosen, baselines, makers = asked_of(evaluator, protocol, networks, baselines, repeats, test_every)
    own = chosen or evaluator.protocol_of(condensed)
    rules = changed(own, repeats, test_every)
    evaluator.require_suited(condensed, rules)
    makers = makers or {rules.network: None}
    with limited_to(max_memory):
        real = real_data(
            condensed, source, test=test, test_fraction=test_fraction, show_progress=show_progress
        )
    data = real_data_of(evaluator, condensed, real, data_dir, max_memory)
    moved = {"data_dir": data_dir and str(data_dir), "max_memory": max_memory}
    findable = condensed.path is not None and (real is None or isinstance(source, str | Path))
    own_functions = [name for name, maker in makers.items() if maker]
    if engine == "local" and jobs is threads is None and findable and not own_functions:
        places = side_by_side(
            evaluator,
            condensed,
            data,
            rules,
            usual=own.networks,
            networks=[*makers],
            sets=("condensed", *baselines),
            device=where,
        )
        pieces = replace(pieces, jobs=places.jobs, threads=places.threads)
    executor, threads = executor_for(pieces), threads_for(pieces)
    if not isinstance(executor, InProcess) and own_functions:
        raise ConfigError(
            f"'{own_functions[0]}' is a function of this program, which other processes do not have; leave "
            "engine and jobs out"
        )
    for name, maker in makers.items():
        evaluator.fresh_network(data, maker or name, seed, 0)
    with computing_with(threads):
        sets = Sets(condensed, data, rules, seed, where, {})
        decided: dict[tuple[str, str], Compute | None] = {}
        for name, maker in makers.items():
            for training_set in ("condensed", *baselines):
                decided[name, training_set], notes = evaluator.decide(
                    data,
                    replace(rules, network=name),
                    condensed,
                    where,
                    full=training_set == "full",
                    compile=compile,
                    precision=precision,
                    named=maker is None,
                )
                for line in notes if show_progress else ():
                    warn(line)
        if not isinstance(executor, InProcess):
            train_missing(
                sets,
                [(name, training_set, how) for (name, training_set), how in decided.items()],
                executor,
                threads=threads,
                context={"set": str(condensed.path), "source": source and str(source), **moved},
                findable=findable,
                show_progress=show_progress,
            )
        return _scored(sets, makers, decided, show_progress=show_progress)


def _scored(
    sets: Sets,
    makers: Makers,
    decided: Mapping[tuple[str, str], Compute | None],
    *,
    show_progress: bool,
) -> Evaluation:
    """Train what has no score yet, and put all scores into the manifest."""
    by_network: dict[str, Scores] = {name: {} for name in makers}
    not_kept: dict[str, str] = {}
    entries: dict[str, dict[str, Any]] = {}
    condensed = sets.condensed
    for (name, training_set), how in decided.items():
        training = sets.training(training_set, name, how)
        title = f"evaluate {training_set}" + f" by {name}" * (len(makers) > 1)
        forecast = Forecast(training.networks, shorter=SHORTER["evaluate"])
        with Progress(
            title, training.networks, shown=show_progress, forecast=forecast, each="network"
        ) as bar:
            found = sets.evaluator.score(
                partial(sets.records, training_set),
                sets.data,
                training.protocol,
                seed=sets.seed,
                device=sets.device,
                network=makers[name],
                full=training.full,
                compute=how,
                after_each=bar.update,
            )
        by_network[name][training_set] = found
        if training_set == "condensed":
            entries[name] = entry_of(training.protocol, sets.seed, found, how)
        else:
            entries[name]["baselines"] = entries[name].get("baselines", {}) | {training_set: found.stored}
        condensed, not_kept[name] = _with_score(condensed, entries[name])
    first = next(iter(by_network.values()))["condensed"]
    faults = tuple(faults_of(condensed, sets.evaluator, sets.data, first))
    problem = next(filter(None, not_kept.values()), "")
    return Evaluation(sets.rules, by_network, condensed, faults, problem)


def score_entry(condensed: CondensedSet, source: Any, *, seed: int, device: torch.device) -> dict[str, Any]:
    """The score of a set by its own protocol, from the networks that `evaluate` would train."""
    evaluator, source = evaluator_of(condensed), condensed.prepared(source)
    protocol = evaluator.protocol_of(condensed)
    how, _ = evaluator.decide(source, protocol, condensed, device)
    records = evaluator.records("condensed", condensed, source, protocol, seed, device)
    found = evaluator.score(records, source, protocol, seed=seed, device=device, compute=how)
    return entry_of(protocol, seed, found, how)


def _with_score(condensed: CondensedSet, entry: dict[str, Any]) -> tuple[CondensedSet, str]:
    """The set with one more score, and why that is not on the disk, if it is not."""
    try:
        return condensed.with_score(entry), ""
    except ArtifactError as error:
        warn(f"the score could not be written to the manifest: {error}")
        return condensed, str(error)

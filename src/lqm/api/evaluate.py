"""Evaluate: what a condensed set is worth, beside sets of real records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from lqm.api.checking import check_options
from lqm.api.domains import domain_of_set
from lqm.api.evaluation_options import asked_of, changed
from lqm.api.given import real_data
from lqm.api.types import SourceLike, TestLike
from lqm.condensed import CondensedSet, load_described
from lqm.engine import resolve_device
from lqm.engine.forecast import SHORTER, Forecast
from lqm.engine.progress import Progress
from lqm.evaluation.evaluator import Evaluator, entry_of, refuse_memory
from lqm.evaluation.faults import faults_of
from lqm.evaluation.labels import mosaics_of
from lqm.evaluation.markdown import score_layout, score_markdown
from lqm.evaluation.origins import real_data_of
from lqm.evaluation.protocol import Protocol
from lqm.evaluation.scores import Score
from lqm.evaluation.verdict import verdict_of
from lqm.utils.errors import ArtifactError
from lqm.utils.html import heading, paragraph, table
from lqm.utils.limits import limited_to
from lqm.utils.log import warn
from lqm.utils.memory import memory_for

Scores = dict[str, Score]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The score of a condensed set under one protocol, beside those of other sets under the same.

    Attributes:
        by_network: for each kind of network, the scores by the name of the training set.
        warnings: what is wrong with the set, a line each: dead nodes, lengths unlike the real ones', a loss
            that did not fall, classes that are never predicted.
        not_kept: why a score is not in the manifest on the disk; empty if all are.
    """

    protocol: Protocol
    by_network: dict[str, Scores]
    condensed: CondensedSet
    warnings: tuple[str, ...] = ()
    not_kept: str = ""

    @property
    def rows(self) -> Scores:
        """All scores of the first kind of network, by the name of their training set."""
        return next(iter(self.by_network.values()))

    @property
    def score(self) -> Score:
        """The condensed set's, by the first kind of network."""
        return self.rows["condensed"]

    @property
    def baselines(self) -> Scores:
        """Those of the real records, by the first kind of network."""
        return {name: found for name, found in self.rows.items() if name != "condensed"}

    @property
    def accuracy(self) -> float:
        """Mean test accuracy of the networks, of the first kind, that were trained on the condensed set."""
        return self.score.accuracy

    @property
    def verdict(self) -> str:
        """What the set is worth beside real records, in one line; by the first kind of network."""
        by = f"by {next(iter(self.by_network))}: " * (len(self.by_network) > 1)
        remedies = evaluator_of(self.condensed).remedies_of(self.condensed)
        return by + verdict_of(self.rows, self.protocol.records, remedies, mosaics_of(self.condensed))

    def __repr__(self) -> str:
        found = ", ".join(f"{name} {score.spread.percent()} %" for name, score in self.rows.items())
        return f"Evaluation({found}; {next(iter(self.by_network))}, {self.protocol.name})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, what is wrong with the set, and the table of scores."""
        header, rows, notes = score_layout(self.by_network, self.protocol, mosaics_of(self.condensed))
        warned = "".join(paragraph(f"warning: {line}") for line in self.warnings)
        below = "".join(paragraph(note, small=True) for note in notes)
        return heading(self.verdict) + warned + table(header, rows) + below

    def __str__(self) -> str:
        warned = "".join(f"warning: {line}\n\n" for line in self.warnings)
        table = score_markdown(self.by_network, self.protocol, mosaics_of(self.condensed))
        return f"{self.verdict}\n\n{warned}{table}"


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
        show_progress=show_progress,
    )
    where = resolve_device(device)
    condensed = condensed if isinstance(condensed, CondensedSet) else load_described(condensed)
    refuse_memory(condensed.manifest)
    evaluator = evaluator_of(condensed)
    chosen, baselines, makers = asked_of(evaluator, protocol, networks, baselines, repeats, test_every)
    rules = changed(chosen or evaluator.protocol_of(condensed), repeats, test_every)
    evaluator.require_suited(condensed, rules)
    makers = makers or {rules.network: None}
    with limited_to(max_memory):
        real = real_data(
            condensed, source, test=test, test_fraction=test_fraction, show_progress=show_progress
        )
    data = real_data_of(evaluator, condensed, real, data_dir, max_memory)
    for name, maker in makers.items():
        evaluator.fresh_network(data, maker or name, seed, 0)
    sets: dict[str, Callable[[int], Any]] = {}
    by_network: dict[str, Scores] = {}
    not_kept: dict[str, str] = {}
    for name, maker in makers.items():
        own = replace(rules, network=name)
        by_network[name] = {}
        entry: dict[str, Any] = {}
        for training_set in ("condensed", *baselines):
            if training_set not in sets:
                sets[training_set] = evaluator.records(training_set, condensed, data, rules, seed, where)
            title = f"evaluate {training_set}" + f" by {name}" * (len(makers) > 1)
            full = training_set == "full"
            how, notes = evaluator.decide(
                data,
                own,
                condensed,
                where,
                full=full,
                compile=compile,
                precision=precision,
                named=maker is None,
            )
            for line in notes if show_progress else ():
                warn(line)
            count = own.full_networks if full else own.networks
            forecast = Forecast(count, shorter=SHORTER["evaluate"])
            with Progress(title, count, shown=show_progress, forecast=forecast, each="network") as bar:
                found = evaluator.score(
                    sets[training_set],
                    data,
                    own,
                    seed=seed,
                    device=where,
                    network=maker,
                    full=full,
                    compute=how,
                    after_each=bar.update,
                )
            by_network[name][training_set] = found
            if training_set == "condensed":
                entry = entry_of(own, seed, found, how)
            else:
                entry["baselines"] = entry.get("baselines", {}) | {training_set: found.stored}
            condensed, not_kept[name] = _with_score(condensed, entry)
    first = next(iter(by_network.values()))["condensed"]
    faults = tuple(faults_of(condensed, evaluator, data, first))
    problem = next(filter(None, not_kept.values()), "")
    return Evaluation(rules, by_network, condensed, faults, problem)


def evaluator_of(condensed: CondensedSet) -> Evaluator:
    """How a set is evaluated."""
    return domain_of_set(condensed).evaluator


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

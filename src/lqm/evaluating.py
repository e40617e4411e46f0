"""Evaluate: what a condensed set is worth, beside sets of real records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from lqm.condensed import CondensedNodes, CondensedSet, load
from lqm.engine import resolve_device
from lqm.engine.compute import Compute, decide
from lqm.engine.progress import Progress, warn
from lqm.graphs.judging import NODES
from lqm.images.judging import IMAGES
from lqm.origins import source_of
from lqm.report.tables import score_markdown
from lqm.scores import Kind, Protocol, Score, refuse_memory
from lqm.utils.errors import ArtifactError, ConfigError
from lqm.utils.names import choose

Scores = dict[str, Score]


@dataclass(frozen=True)
class Evaluation:
    """The score of a condensed set under one protocol, beside those of other sets under the same.

    Attributes:
        by_network: for each kind of network, the scores by the name of the training set.
    """

    protocol: Protocol
    by_network: dict[str, Scores]
    condensed: CondensedSet

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

    def __str__(self) -> str:
        return score_markdown(self.by_network, self.protocol)


def evaluate(
    condensed: str | Path | CondensedSet,
    *,
    protocol: str | None = None,
    networks: str | Sequence[str] | Mapping[str, Callable[..., nn.Module]] = (),
    baselines: str | Sequence[str] = (),
    source: Any = None,
    data_dir: str | Path | None = None,
    compile: str | None = None,
    precision: str | None = None,
    seed: int = 0,
    device: str = "auto",
    show_progress: bool = True,
) -> Evaluation:
    """Train fresh networks on a condensed set, test them on real records, and note the score.

    Every network's score is kept: an evaluation that was stopped goes on after the last network, and the
    whole training set is learned once for each source and protocol.

    Args:
        condensed: a set of images or of nodes, or the folder of one.
        protocol: a name; by default the one that the manifest asks for.
        networks: kinds in place of the protocol's, such as `("convnet", "resnet18")` for images or
            `("gcn", "sgc")` for nodes; or functions by name, each of which makes a module of your own: for
            images from an image's shape and the number of classes, for nodes from the numbers of features
            and classes, called as PyG's networks are, `module(x, edge_index)`.
        baselines: real records to score in the same way: `random`, `herding`, `full`; of nodes, `k-centre`.
        source: where the real data come from, a name, a path or an object as for `condense`; by default the
            place that was condensed.
        data_dir: where named sources are, if they have moved.
        compile: of images: whether networks are compiled: `on`, `off`, or `auto`, if it takes long.
        precision: of images: `fp32`, `bf16`, or `auto`, the faster one if a trial finds that it works.
        seed: of the networks and of their training.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
        show_progress: whether to show the networks and the time left.

    Raises:
        LqmError: when the set is damaged, or the source is not the one that was condensed.
    """
    where = resolve_device(device)
    condensed = condensed if isinstance(condensed, CondensedSet) else load(condensed)
    refuse_memory(condensed.manifest)
    kind = kind_of(condensed)
    chosen = choose(protocol, kind.protocols, "protocol") if protocol else None
    if isinstance(baselines, str):
        baselines = kind.baselines if baselines == "all" else baselines.split(",")
    for name in baselines:
        choose(name, dict.fromkeys(kind.baselines), "baseline")
    makers = _makers(kind, networks)
    asked = (compile, precision)
    rules = chosen or kind.read_protocol(**condensed.manifest["evaluation"])
    data = source_of(kind, condensed.manifest, source, data_dir)
    makers = makers or {rules.network: None}
    for name, maker in makers.items():
        kind.fresh_network(data, maker or name, seed, 0)
    sets: dict[str, Callable[[int], Any]] = {}
    by_network: dict[str, Scores] = {}
    for name, maker in makers.items():
        own = replace(rules, network=name)
        by_network[name] = {}
        entry: dict[str, Any] = {}
        for training_set in ("condensed", *baselines):
            if training_set not in sets:
                sets[training_set] = kind.records(training_set, condensed, data, rules, seed, where)
            title = f"evaluate {training_set}" + (f" by {name}" if len(makers) > 1 else "")
            full = training_set == "full"
            count = own.full_networks if full else own.networks
            how = _compute(kind, data, own, condensed, full, asked, where, named=maker is None)
            for line in how.words if show_progress else ():
                warn(line)
            with Progress(title, count, shown=show_progress) as bar:
                found = kind.score(
                    sets[training_set],
                    data,
                    own,
                    seed=seed,
                    device=where,
                    network=maker,
                    full=full,
                    after_each=bar.update,
                    **how.options,
                )
            by_network[name][training_set] = found
            if training_set == "condensed":
                entry = _entry(own, seed, found, how)
            else:
                entry["baselines"] = entry.get("baselines", {}) | {training_set: asdict(found)}
            condensed = _noted(condensed, entry)
    return Evaluation(rules, by_network, condensed)


def kind_of(condensed: CondensedSet) -> Kind:
    """How a set is judged: as images, or as nodes."""
    return NODES if isinstance(condensed, CondensedNodes) else IMAGES


def score_entry(condensed: CondensedSet, source: Any, *, seed: int, device: torch.device) -> dict[str, Any]:
    """What the protocol that a set asks for finds of it, by the networks that `evaluate` would train.

    The source is at hand, nothing is shown; given as `with_score` notes it.
    """
    kind = kind_of(condensed)
    rules = kind.read_protocol(**condensed.manifest["evaluation"])
    how = _compute(kind, source, rules, condensed, False, (None, None), device, named=True)
    records = kind.records("condensed", condensed, source, rules, seed, device)
    found = kind.score(records, source, rules, seed=seed, device=device, **how.options)
    return _entry(rules, seed, found, how)


class _How(NamedTuple):
    """How the networks of one training set are run: an option for their score, and what to say of it."""

    options: dict[str, Compute]
    words: tuple[str, ...] = ()


def _compute(
    kind: Kind,
    data: Any,
    own: Protocol,
    condensed: CondensedSet,
    full: bool,
    asked: tuple[str | None, str | None],
    device: torch.device,
    *,
    named: bool,
) -> _How:
    """What is decided for one training set, from its own work alone, whatever else is evaluated."""
    if kind.numbers is None:
        for name, value in zip(("compile", "precision"), asked, strict=True):
            if value is not None:
                raise ConfigError(f"{name} is for images, and this set is of a graph; leave it out")
        return _How({})
    numbers = kind.numbers(data, own, condensed, full) if named else 0.0
    compile_, precision = asked
    compute, words = decide(compile_ or "auto", precision or "fp32", device, activations=numbers, named=named)
    return _How({"compute": compute}, words)


def _makers(
    kind: Kind, networks: str | Sequence[str] | Mapping[str, Callable[..., nn.Module]]
) -> dict[str, Callable[..., nn.Module] | None]:
    """The functions of the user's own by name; None for a network of ours, whose name is its spec."""
    if isinstance(networks, Mapping):
        return {f"own:{name}": maker for name, maker in networks.items()}
    specs = networks.split(",") if isinstance(networks, str) else networks
    return {kind.check_spec(spec): None for spec in specs}


def _entry(protocol: Protocol, seed: int, found: Score, how: _How) -> dict[str, Any]:
    compute = {option: asdict(chosen) for option, chosen in how.options.items()}
    return {
        "protocol": asdict(protocol),
        "seed": seed,
        "accuracy": found.accuracy,
        **asdict(found),
        **compute,
    }


def _noted(condensed: CondensedSet, entry: dict[str, Any]) -> CondensedSet:
    """The set with a score in its manifest, in memory and, where that can be written, on disk."""
    try:
        return condensed.with_score(entry)
    except ArtifactError as error:
        warn(f"the score could not be noted in the manifest: {error}")
        return condensed

"""Evaluate: what a condensed set is worth, beside sets of real pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lqm.condensed import CondensedSet, load
from lqm.engine import resolve_device
from lqm.engine.progress import Progress, warn
from lqm.errors import ArtifactError, ConfigError, DataError
from lqm.images.baselines import BASELINES, Chooser, baseline
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol, Score, fresh_network, score
from lqm.images.networks import NetworkMaker, check_spec
from lqm.images.sources import ImageSource, Pictures, load_source
from lqm.names import choose
from lqm.report.tables import score_markdown

Scores = dict[str, Score]


@dataclass(frozen=True)
class Evaluation:
    """The score of a condensed set under one protocol, beside those of other sets under the same.

    Attributes:
        by_network: for each kind of network, the scores by the name of the training set.
    """

    protocol: EvaluationProtocol
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
        """Those of the real pictures, by the first kind of network."""
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
    networks: str | Sequence[str] | Mapping[str, NetworkMaker] = (),
    baselines: str | Sequence[str] = (),
    source: str | Path | ImageSource | None = None,
    data_dir: str | Path | None = None,
    seed: int = 0,
    device: str = "auto",
    show_progress: bool = True,
) -> Evaluation:
    """Train fresh networks on a condensed set, test them on real pictures, and note the score.

    Every network's score is kept: an evaluation that was stopped goes on after the last network, and the
    whole training set is learned once for each source and protocol.

    Args:
        condensed: a set, or the folder of one.
        protocol: a name; by default the one that the manifest asks for.
        networks: kinds in place of the protocol's, such as `("convnet", "resnet18")`; or functions by name,
            each of which makes a module of your own from a picture's shape and the number of classes.
        baselines: real pictures to score in the same way: `random`, `herding`, `full`.
        source: where the test set comes from; by default the place that was condensed.
        data_dir: where named sources are, if they have moved.
        seed: of the networks and of their training.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
        show_progress: whether to show the networks and the time left.

    Raises:
        LqmError: when the set is damaged, or the source is not the one that was condensed.
    """
    chosen = choose(protocol, PROTOCOLS, "protocol") if protocol else None
    if isinstance(networks, str):
        networks = networks.split(",")
    if isinstance(baselines, str):
        baselines = baselines.split(",")
    for name in baselines:
        choose(name, dict.fromkeys(BASELINES), "baseline")
    makers: dict[str, NetworkMaker | None] = {}
    if isinstance(networks, Mapping):
        makers |= {f"own:{name}": maker for name, maker in networks.items()}
    else:
        makers |= {check_spec(spec): None for spec in networks}
    where = resolve_device(device)
    small = condensed if isinstance(condensed, CondensedSet) else load(condensed)
    rules = chosen or EvaluationProtocol(**small.manifest["evaluation"])
    data = _source_of(small, source, data_dir)
    makers = makers or {rules.network: None}
    for name, maker in makers.items():
        fresh_network(data, maker or name, seed, 0)
    records = Pictures(*small.records())
    sets: dict[str, Chooser] = {"condensed": lambda j: records}
    by_network: dict[str, Scores] = {}
    for name, maker in makers.items():
        own = replace(rules, network=name)
        by_network[name] = {}
        for training_set in ("condensed", *baselines):
            if training_set not in sets:
                sets[training_set] = baseline(
                    training_set, data, small.manifest["per_class"], seed, rules.network, where
                )
            title = f"evaluate {training_set}" + (f" by {name}" if len(makers) > 1 else "")
            full = training_set == "full"
            count = own.full_networks if full else own.networks
            with Progress(title, count, shown=show_progress) as bar:
                by_network[name][training_set] = score(
                    sets[training_set],
                    data,
                    own,
                    seed=seed,
                    device=where,
                    network=maker,
                    full=full,
                    after_each=bar.update,
                )
            if training_set == "condensed":
                small = _noted(small, own, seed, by_network[name][training_set])
    return Evaluation(rules, by_network, small)


def _noted(small: CondensedSet, protocol: EvaluationProtocol, seed: int, found: Score) -> CondensedSet:
    """The set with the score in its manifest, in memory and, where that can be written, on disk."""
    entry = {"protocol": asdict(protocol), "seed": seed, "accuracy": found.accuracy, **asdict(found)}
    try:
        return small.with_score(entry)
    except ArtifactError as error:
        warn(f"the score could not be noted in the manifest: {error}")
        return small


def _source_of(
    small: CondensedSet, source: str | Path | ImageSource | None, data_dir: str | Path | None
) -> ImageSource:
    """The source that a set was condensed from; the user names it where it is no longer found."""
    origin, record = small.manifest.get("origin"), small.manifest["source"]
    if source is None and origin is None:
        raise DataError(
            f"this set was condensed from '{record['name']}', which was made in Python; "
            "evaluate it there: lqm.evaluate(..., source=...)"
        )
    data = source if isinstance(source, ImageSource) else _found_again(origin or {}, source, data_dir)
    if any(record[part] != value for part, value in data.identity.items()):
        raise DataError(
            f"'{data.name}' is not what this set was condensed from (its pictures, labels, class names or "
            f"augmentation differ); name the same version of '{record['name']}' as the source"
        )
    return data


def _found_again(
    origin: Mapping[str, Any], source: str | Path | None, data_dir: str | Path | None
) -> ImageSource:
    moved = {"source": source, "data_dir": data_dir}
    given = {name: str(place) for name, place in moved.items() if place is not None}
    try:
        return load_source(**{**origin, **given})
    except (ConfigError, DataError) as error:
        if given:
            raise DataError(f"this is not what the set was condensed from: {error}") from error
        raise DataError(
            f"the pictures that this set was condensed from can't be read from {origin['source']} any more; "
            "name their new place with --source, or that of a named source with --data-dir"
        ) from error

"""The two verbs: condense a source, evaluate a condensed set."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any

from lqm.condensed import CondensedSet, load
from lqm.distances import DISTANCES, Distance
from lqm.engine import Config, RunFolder, environment, resolve_device, run
from lqm.engine.progress import Progress, warn
from lqm.errors import ArtifactError, ConfigError, DataError
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol, Score, random_pictures, score
from lqm.images.methods import METHODS
from lqm.images.sources import SOURCES, ImageSource, Pictures, load_source
from lqm.names import choose
from lqm.recipes import Recipe, load_recipe
from lqm.report.tables import score_markdown
from lqm.settings import make_settings


def condense(
    source: str | ImageSource,
    *,
    method: str = "dm",
    distance: str | Distance = "lqm",
    per_class: int = 10,
    seed: int = 0,
    settings: dict[str, Any] | None = None,
    out: str | Path | None = None,
    device: str = "auto",
    checkpoint_seconds: float = 10.0,
    show_progress: bool = True,
) -> CondensedSet:
    """Learn a small set that stands in for a large one.

    Args:
        source: a name (`digits`) or an `ImageSource` of your own.
        method: how the synthetic set is learned.
        distance: what is matched: a name, or an object with the two halves of a `Distance`.
        per_class: synthetic pictures of each class.
        seed: everything random follows from it.
        settings: the method's settings that differ from the source's recipe and the paper's defaults.
        out: a run folder; a run that was stopped there goes on from its last checkpoint.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
        checkpoint_seconds: time between checkpoints.
        show_progress: whether to show the steps and the time left.

    Raises:
        LqmError: for anything that can't be used, before any work starts.
    """
    kind = choose(method, METHODS, "method")
    chosen = choose(distance, DISTANCES, "distance") if isinstance(distance, str) else distance
    options = _distance_options(chosen)
    data = load_source(source)
    recipe = load_recipe(data.recipe) if data.recipe else Recipe()
    resolved = make_settings(kind.Settings, recipe.settings(method, per_class) | (settings or {}))
    where = resolve_device(device)
    _check_per_class(per_class, data)
    fixed = asdict(resolved)
    steps = fixed.pop("steps")
    config: Config = {
        "source": data.record,
        "method": method,
        "distance": options,
        "per_class": per_class,
        "seed": seed,
        "settings": fixed,
    }
    machine = environment(where)
    description = {
        **config,
        "steps": steps,
        "evaluation": asdict(PROTOCOLS[recipe.protocol]),
        "environment": machine,
    }

    def learn(folder: RunFolder | None) -> CondensedSet:
        learner = kind(data, chosen, per_class, seed, resolved, where)
        run(
            learner,
            steps,
            folder,
            name=f"{method} + {chosen.name}",
            checkpoint_seconds=checkpoint_seconds,
            show_progress=show_progress,
        )
        result = learner.result()
        return replace(result, manifest=description | result.manifest)

    if out is None:
        return learn(None)
    with RunFolder(Path(out), config, machine) as folder:
        finished = _finished(folder.path, config | {"steps": steps})
        return finished or learn(folder).write(folder.path)


@dataclass(frozen=True)
class Evaluation:
    """The score of a condensed set under one protocol, beside those of other sets under the same."""

    protocol: EvaluationProtocol
    score: Score
    baselines: dict[str, Score]
    condensed: CondensedSet

    @property
    def accuracy(self) -> float:
        """Mean test accuracy of the networks trained on the condensed set."""
        return self.score.accuracy

    @property
    def rows(self) -> dict[str, Score]:
        """All scores by the name of their training set."""
        return {"condensed": self.score, **self.baselines}

    def __str__(self) -> str:
        return score_markdown(self.rows, self.protocol)


def evaluate(
    condensed: str | Path | CondensedSet,
    *,
    protocol: str | None = None,
    source: str | ImageSource | None = None,
    baselines: bool = False,
    seed: int = 0,
    device: str = "auto",
    show_progress: bool = True,
) -> Evaluation:
    """Train fresh networks on a condensed set, test them on real pictures, and note the score.

    Args:
        condensed: a set, or the folder of one.
        protocol: a name; by default the one that the manifest asks for.
        source: where the test set comes from; by default the source that was condensed.
        baselines: whether to score as many random real pictures, and all of them, in the same way.
        seed: of the networks and of their training.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
        show_progress: whether to show the networks and the time left.

    Raises:
        LqmError: when the set is damaged, or the source is not the one that was condensed.
    """
    chosen = choose(protocol, PROTOCOLS, "protocol") if protocol else None
    where = resolve_device(device)
    small = condensed if isinstance(condensed, CondensedSet) else load(condensed)
    rules = chosen or EvaluationProtocol(**small.manifest["evaluation"])
    data = _source_of(small, source)

    def judge(name: str, pictures: Callable[[int], Pictures]) -> Score:
        with Progress(f"evaluate {name}", rules.networks, shown=show_progress) as bar:
            return score(pictures, data, rules, seed=seed, device=where, after_each=bar.update)

    distance = small.manifest["distance"]["name"]
    own = judge(f"condensed by {distance}", lambda j: Pictures(small.images, small.labels))
    try:
        entry = {"protocol": asdict(rules), "seed": seed, "accuracy": own.accuracy, **asdict(own)}
        small = small.with_score(entry)
    except ArtifactError as error:
        warn(f"the score could not be noted in the manifest: {error}")
    others: dict[str, Callable[[int], Pictures]] = {
        "random": lambda j: random_pictures(data, small.manifest["per_class"], seed, j),
        "full": lambda j: data.train,
    }
    found = {name: judge(name, pictures) for name, pictures in others.items()} if baselines else {}
    return Evaluation(rules, own, found, small)


def _source_of(small: CondensedSet, source: str | ImageSource | None) -> ImageSource:
    """The source that a set was condensed from, which the user names when it is not built in."""
    origin = small.manifest["source"]
    if source is None and origin["name"] not in SOURCES:
        raise DataError(
            f"this set was condensed from '{origin['name']}', which is not built in; "
            "evaluate it from Python: lqm.evaluate(..., source=...)"
        )
    data = load_source(source or origin["name"])
    if data.record != origin:
        raise DataError(
            f"'{data.name}' is not what this set was condensed from (its pictures, labels, name or "
            f"augmentation differ); name the same version of '{origin['name']}' as the source"
        )
    return data


def _distance_options(distance: Distance) -> dict[str, Any]:
    """A distance as the manifest records it, after checking that it is one."""
    if isinstance(distance, type) or not all(hasattr(distance, part) for part in ("name", "target", "loss")):
        raise ConfigError(
            f"{distance!r} is no distance; pass a name, or an object with a name, a target and a loss"
        )
    options: dict[str, Any] = asdict(distance) if is_dataclass(distance) else {}
    try:
        recorded: dict[str, Any] = json.loads(json.dumps(options | {"name": distance.name}))
    except TypeError as error:
        raise ConfigError(f"the options of distance '{distance.name}' can't be recorded: {error}") from None
    return recorded


def _check_per_class(per_class: int, source: ImageSource) -> None:
    if not isinstance(per_class, int) or per_class < 1:
        raise ConfigError(f"per_class = {per_class!r} can't be used: it should be a whole number, at least 1")
    count, name = min(zip(source.train.labels.bincount().tolist(), source.class_names, strict=True))
    if count < per_class:
        raise DataError(
            f"class '{name}' of '{source.name}' has {count} training pictures, fewer than "
            f"per_class = {per_class}; ask for at most {count}"
        )


def _finished(folder: Path, config: Config) -> CondensedSet | None:
    """The set of a run that has ended already, unless it is missing, damaged, or of fewer steps."""
    if not (folder / "manifest.json").exists():
        return None
    try:
        small = load(folder)
    except ArtifactError as error:
        warn(f"{error}; making it again from the last checkpoint")
        return None
    if any(small.manifest.get(name) != value for name, value in config.items()):
        return None
    warn(f"{folder} is finished already, after {config['steps']} steps")
    return small

"""What the public functions are asked: frozen and typed, filled by keyword arguments or the command line."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from lqm.api.engine_request import EngineRequest, Name, Number, option
from lqm.api.types import Callback, DistanceLike, Names, NetworkLike, Settings, SourceLike

Source = Annotated[tyro.conf.Positional[SourceLike], tyro.conf.arg(metavar="SOURCE")]
Folder = Annotated[str | Path | None, option("DIR")]
Flag = tyro.conf.FlagCreatePairsOff[bool]
QuietFlag = Annotated[Flag, tyro.conf.arg(help_behavior_hint="")]


@dataclass(frozen=True, kw_only=True)
class SourceRequest:
    """Data to look at, and where to compute.

    Attributes:
        source: digits, mnist, fashion-mnist, kmnist, emnist-letters, emnist-digits, emnist-balanced, cifar10,
            cifar100, tinyimagenet, class folders, idx files, .npz, .parquet; or a graph: digits-knn,
            synthetic:nodes=10000,..., .npz, a folder of Planetoid, Reddit or OGB; or a table: breast-cancer,
            wine, digits-table, .csv, .npz, .parquet.
        data_dir: Where the named sources are, else LQM_DATA.
        size: Scale and cut each image to so many pixels square.
        test_fraction: Records to test by if there are none (default 0.2).
        augmentation: What keeps a label: color,crop,cutout,flip,scale,rotate.
        features: Of a graph without: degree, spectral, one-hot.
        split: Of a graph: published (if there is one), random.
        normalise_features: Of a graph: divide each row by its absolute sum.
        label: Of a .csv or .parquet: its labels (default: last).
        validation: Score on held-out training records, or on validation nodes, and use no test record.
        device: Where to compute: auto (default), cpu, cuda, ...
        max_memory: The most to take, such as 4GB; work is split.
        show_progress: Whether to show progress and the time left.
    """

    source: Source
    data_dir: Folder = None
    size: Number = None
    test_fraction: Annotated[float | None, option("SHARE")] = None
    augmentation: Annotated[Names | None, option("NAME,...")] = None
    features: Name = None
    split: Name = None
    normalise_features: QuietFlag = False
    label: Name = None
    validation: tyro.conf.Suppress[bool] = False
    device: Annotated[str, option("NAME")] = "auto"
    max_memory: Annotated[str | int | None, option("SIZE")] = None
    show_progress: tyro.conf.Suppress[bool] = True

    @property
    def source_name(self) -> str:
        """What to call the source in a sentence."""
        source: object = self.source
        return str(source if isinstance(source, str | Path) else getattr(source, "name", source))

    @property
    def operations(self) -> list[str] | None:
        """The augmentation as a list of operations."""
        given = self.augmentation
        return given.split(",") if isinstance(given, str) else None if given is None else [*given]


@dataclass(frozen=True, kw_only=True)
class ComputeRequest(SourceRequest):
    """How networks on images are run.

    Attributes:
        compile: Compile networks: auto (default), on, off.
        precision: Of these: fp32 (default), bf16, auto (the faster).
    """

    compile: Name = None
    precision: Name = None


@dataclass(frozen=True, kw_only=True)
class CondenseRequest(ComputeRequest):
    """What to condense, how, and into how many records.

    Attributes:
        out: Folder for the run, else one in runs/.
        method: dm (default; CIFAR: dance, by recipe best), datadam, idm, m3d, dance, ncfm, cafe, cafe-dsa,
            dc, dsa, dcc, dsac, idc, mtt, ftd, tesla, datm; tables: dm; graphs: cat (default), puma; real:
            random, herding, k-centre, k-means.
        distance: lqm (default), mean, ...; another word lists them.
        per_class: Synthetic images or rows of each class (default 10).
        budget: Synthetic nodes, or their share of the nodes (default 1%).
        recipe: By name, such as paper; see `lqm recipes`.
        sketch: What `lqm sketch` made, in place of the data.
        experts: Of `lqm experts`, for dance, ncfm, mtt and its kin.
        network: Such as convnet:width=64; in Python, a function.
        settings: Settings of the method that differ from the recipe and the paper's defaults.
        seed: Everything random follows from it.
        checkpoint_seconds: Time between checkpoints.
        evaluate_every: Score the set after every N steps and the last.
        tensorboard: Write event files for TensorBoard.
        callback: Called after each step with its number, from 1, and its metrics; True ends the run there.
    """

    out: Folder = None
    method: Name = None
    distance: Annotated[DistanceLike | None, option("NAME")] = None
    per_class: Number = None
    budget: Annotated[int | str | None, option("N|N%")] = None
    recipe: Name = None
    sketch: Folder = None
    experts: Folder = None
    network: Annotated[NetworkLike | None, option("NAME")] = None
    settings: tyro.conf.Suppress[Settings | None] = None
    seed: int = 0
    checkpoint_seconds: tyro.conf.Suppress[float] = 10.0
    evaluate_every: Number = None
    tensorboard: Flag = False
    callback: tyro.conf.Suppress[Callback | None] = None


@dataclass(frozen=True, kw_only=True)
class SketchRequest(EngineRequest, ComputeRequest):
    """What to sketch, for which method, and how finely.

    Attributes:
        out: Its folder, else one in runs/; a stopped one goes on.
        method: Which will use it: dm, datadam, idm; cat, puma.
        encoders: How many look at the data; more of them are added.
        max_per_class: Records of a class that it is fine enough for; a mosaic of idm has 4.
        real_batch: Real records a class for an encoder, else all.
        experts: Of `lqm experts`, as the encoders for idm.
        network: Images: the network, such as convnet:width=64.
        settings: Settings of the method on which the real side depends.
        seed: Of the encoders.
        classes_per_task: Graphs: a stream of so many classes a task.
        order: Of its classes: labels, shuffled.
        order_seed: Of shuffled classes.
        inter_task_edges: Of a stream: keep the edges to earlier tasks.
        remainder: Too few for a task: last, drop.
        split_seed: Of the split of every task's nodes.
    """

    out: Folder = None
    method: Name = None
    encoders: int = 200
    max_per_class: int = 50
    real_batch: Number = None
    experts: Folder = None
    network: Name = None
    settings: tyro.conf.Suppress[Settings | None] = None
    seed: int = 0
    classes_per_task: Number = None
    order: str = "labels"
    order_seed: int = 0
    inter_task_edges: QuietFlag = False
    remainder: str = "last"
    split_seed: int = 0


@dataclass(frozen=True, kw_only=True)
class ExpertsRequest(EngineRequest, ComputeRequest):
    """Networks to train on real images, and for how long.

    Attributes:
        out: Folder for the experts, else one in runs/; a stopped training goes on.
        networks: How many; the same command with more of them adds to the bank.
        epochs: How long each trains, with a snapshot after each epoch.
        network: The network, such as convnet:width=64.
        settings: Settings of the training, such as batch, learning_rate and schedule.
        seed: Everything random follows from it.
    """

    out: Folder = None
    networks: int = 5
    epochs: int = 20
    network: Name = None
    settings: tyro.conf.Suppress[Settings | None] = None
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class ContinualRequest(EngineRequest):
    """A stream of tasks, what is kept of each, and how it is learned.

    Attributes:
        source: digits-knn, synthetic:nodes=10000,..., .npz, a folder of Planetoid, Reddit or OGB.
        out: Folder for memories, matrices and heat map, else one in runs/; a run goes on.
        method: cat, puma; real nodes: random, er-gnn, ssm; nothing or all: finetuning, joint.
        distance: lqm (default), mean, ...; another word lists them.
        budget: Nodes to keep of each task, or their share of its nodes; not for finetuning and joint.
        classes_per_task: Classes that come together.
        order: Of the classes: labels, shuffled.
        order_seed: Of shuffled classes.
        remainder: Classes that are too few for a task: a smaller last one (last), or left out (drop).
        inter_task_edges: Keep the edges to nodes of earlier tasks.
        scoring: Among all classes seen so far (class), or the task's (task).
        repeats: How often to learn it all, with seeds from --seed on.
        recipe: Settings of cat and puma by name: best (the defaults) or paper.
        sketch: What `lqm sketch` made of the same stream.
        settings: Of the memory (steps, width, ...) and of the classifier (classifier, epochs, ...).
        seed: Everything random follows from it.
        split_seed: Of the split of every task's nodes.
        features: Of a graph that has none: degree, one-hot.
        normalise_features: Divide each row of features by its absolute sum.
        validation: Score on the validation nodes of each task, and use no label of a test node.
        data_dir: Where the named graphs are, else LQM_DATA.
        device: Where to compute: auto (default), cpu, cuda, ...
        max_memory: The most to take, such as 4GB; work is split.
        show_progress: Whether to show progress and the time left.
    """

    source: Source
    out: Folder = None
    method: str = "cat"
    distance: Annotated[DistanceLike | None, option("NAME")] = None
    budget: Annotated[int | str | None, option("N|N%")] = None
    classes_per_task: int = 2
    order: str = "labels"
    order_seed: int = 0
    remainder: str = "last"
    inter_task_edges: Flag = False
    scoring: str = "class"
    repeats: int = 5
    recipe: Name = None
    sketch: Folder = None
    settings: tyro.conf.Suppress[Settings | None] = None
    seed: int = 0
    split_seed: int = 0
    features: Name = None
    normalise_features: QuietFlag = False
    validation: tyro.conf.Suppress[bool] = False
    data_dir: Folder = None
    device: Annotated[str, option("NAME")] = "auto"
    max_memory: Annotated[str | int | None, option("SIZE")] = None
    show_progress: tyro.conf.Suppress[bool] = True

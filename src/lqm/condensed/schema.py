"""What the JSON files of runs and sets say: every field that is read, with its type and range.

A field that this version does not know is left alone: later versions may write more.
"""

import re
from math import isinf
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, Field, TypeAdapter
from typing_extensions import TypedDict

DATA_FILE = re.compile(r"data-[0-9a-f]{12}\.safetensors")


def _not_infinite(number: float) -> float:
    if isinf(number):
        raise ValueError("it should not be infinite")
    return number


def _of_one_kind(preprocessing: dict[str, Any]) -> dict[str, Any]:
    if {"mean", "std"} <= preprocessing.keys() or {"kind", "sha256"} <= preprocessing.keys():
        return preprocessing
    raise ValueError("it should say mean and std of each channel, or kind and sha256 of a whitening")


def _plain_name(name: str) -> str:
    if not DATA_FILE.fullmatch(name):
        raise ValueError(
            "it should be the name of a file in the folder, such as data-0123456789ab.safetensors"
        )
    return name


Count = Annotated[int, Field(ge=0, lt=2**63)]
AtLeastOne = Annotated[int, Field(ge=1, lt=2**31)]
Number = Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]
Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0, le=1e12)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Deviation = Annotated[float, Field(gt=0, allow_inf_nan=False)]
# A statistic of a class without records is NaN.
Statistic = Annotated[float, AfterValidator(_not_infinite)]
Free = dict[str, Any]
Environment = dict[str, str | int | float | bool | None]


class Named(TypedDict):
    """Something that is told by its name: a distance."""

    name: str


class Source(Named):
    """What tells real data from others."""

    fingerprint: NotRequired[str]
    augmentation: NotRequired[list[str]]
    nodes: NotRequired[Count]
    edges: NotRequired[Count]
    features: NotRequired[Count]
    classes: NotRequired[Count]
    validation: NotRequired[bool]


class Stream(TypedDict):
    """With which options a stream of tasks is made."""

    order: str
    inter_task_edges: bool
    classes_per_task: NotRequired[AtLeastOne]
    order_seed: NotRequired[int]
    remainder: NotRequired[str]
    split_seed: NotRequired[int]
    validation: NotRequired[bool]


class Banked(TypedDict):
    """What a run says of the sketch or the experts that it uses, and a bank of experts of itself."""

    encoders: NotRequired[AtLeastOne]
    networks: NotRequired[AtLeastOne]
    epochs: NotRequired[AtLeastOne]
    source: NotRequired[Source]
    seed: NotRequired[int]
    settings: NotRequired[Free]


class Sketched(TypedDict):
    """What a sketch is made of."""

    source: NotRequired[Source]
    method: NotRequired[str]
    max_per_class: NotRequired[AtLeastOne]
    seed: NotRequired[int]
    settings: NotRequired[Free]
    stream: NotRequired[Stream]
    experts: NotRequired[Banked]


class Made(TypedDict):
    """How a set, a stream or a bank is made: the configuration of a run, and a part of a manifest."""

    source: NotRequired[Source]
    method: NotRequired[str]
    distance: NotRequired[Named | None]
    per_class: NotRequired[AtLeastOne]
    budget: NotRequired[AtLeastOne | str | None]
    counts: NotRequired[list[Count]]
    seed: NotRequired[int]
    settings: NotRequired[Free]
    sketch: NotRequired[Banked]
    experts: NotRequired[Banked]
    stream: NotRequired[Stream]
    scoring: NotRequired[str]
    sketched: NotRequired[Sketched]


class RunRecord(TypedDict):
    """`run.json`: with what a run began."""

    config: Made
    environment: Environment
    steps: NotRequired[Count]


class Origin(TypedDict):
    """The words with which real data are found again."""

    source: str
    data_dir: NotRequired[str]
    size: NotRequired[AtLeastOne]
    test_fraction: NotRequired[Share]
    augmentation: NotRequired[list[str]]
    features: NotRequired[str]
    split: NotRequired[str]
    normalise_features: NotRequired[bool]
    label: NotRequired[str]


class Protocol(TypedDict):
    """How networks are trained and tested."""

    name: NotRequired[str]
    epochs: NotRequired[Annotated[int, Field(ge=1, le=10**7)]]
    networks: NotRequired[Annotated[int, Field(ge=1, le=10**4)]]
    network: NotRequired[str]
    full_networks: NotRequired[Annotated[int, Field(ge=1, le=10**4)]]
    learning_rate: NotRequired[Deviation]
    weight_decay: NotRequired[Annotated[float, Field(ge=0, allow_inf_nan=False)]]
    momentum: NotRequired[Share]
    full_steps: NotRequired[AtLeastOne]
    batch: NotRequired[AtLeastOne]


class Match(TypedDict):
    """How well latent distributions are kept."""

    cramer_von_mises: Statistic
    extremes: Statistic
    by_network: NotRequired[list[Statistic]]


class Score(TypedDict):
    """What networks that were trained on one set of records found."""

    accuracies: NotRequired[Annotated[list[Share], Field(min_length=1)]]
    records: NotRequired[Count]
    images: NotRequired[Count]
    pictures: NotRequired[Count]
    before: NotRequired[Match]
    after: NotRequired[Match]
    by_class: NotRequired[list[Share | None]]
    predicted: NotRequired[list[Share]]
    best: NotRequired[list[Share]]
    confused: NotRequired[dict[Number, dict[Number, Share]]]
    training_seconds: NotRequired[Seconds]


class Entry(Score):
    """A score in a manifest, with those of real records beside it."""

    protocol: Protocol
    seed: int
    accuracy: NotRequired[Share]
    baselines: NotRequired[dict[str, Score]]


class Preprocessing(TypedDict):
    """By what the channels of images are normalised; or that they are whitened, by tensors of that hash."""

    mean: NotRequired[list[Finite]]
    std: NotRequired[list[Deviation]]
    kind: NotRequired[Literal["zca"]]
    sha256: NotRequired[str]


class Training(TypedDict):
    """What belongs to a set of images beside them: nobody should train on it otherwise."""

    learning_rate: NotRequired[Deviation]
    soft_labels: bool


class DataFile(TypedDict):
    """The file of the tensors."""

    file: Annotated[str, AfterValidator(_plain_name)]
    sha256: str
    bytes: NotRequired[Count]


class ManifestFields(Made):
    """`manifest.json` of a set."""

    format: Count
    class_names: list[str]
    feature_names: NotRequired[list[str]]
    data: DataFile
    preprocessing: NotRequired[Annotated[Preprocessing, AfterValidator(_of_one_kind)]]
    mosaic: NotRequired[Annotated[int, Field(ge=1, le=64)]]
    training: NotRequired[Training]
    recipe: NotRequired[str | None]
    steps: NotRequired[Count]
    seconds: NotRequired[Seconds]
    cpu_seconds: NotRequired[Seconds]
    peak_memory: NotRequired[Count]
    origin: NotRequired[Origin | None]
    evaluation: NotRequired[Protocol]
    environment: NotRequired[Environment]
    scores: NotRequired[list[Entry]]
    task: NotRequired[Count]
    classes: NotRequired[list[str]]
    context: NotRequired[Count]


MANIFEST_FIELDS = TypeAdapter(ManifestFields)
RUN_FIELDS = TypeAdapter(RunRecord)

"""What `result.json` of a stream of tasks says: every field that is read, with its type and range."""

from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from lqm.condensed.schema import AtLeastOne, Count, Free, Named, Origin, Seconds, Source, Stream


class _Settings(TypedDict):
    classifier: NotRequired[str]
    steps: NotRequired[Count]
    pseudo_labels: NotRequired[str]


class _Config(TypedDict):
    source: Source
    stream: Stream
    method: str
    distance: Named | None
    budget: AtLeastOne | str | None
    scoring: str
    seed: int
    settings: _Settings
    sketch: NotRequired[Free]


class _Spread(TypedDict):
    each: Annotated[list[Annotated[float, Field(ge=-1, le=1)]], Field(min_length=1)]


class _Parts(TypedDict):
    memory: Annotated[list[Seconds], Field(min_length=1)]
    learning: Annotated[list[Seconds], Field(min_length=1)]


class StreamFields(TypedDict):
    """`result.json`."""

    config: _Config
    tasks: Annotated[list[Annotated[list[str], Field(min_length=1)]], Field(min_length=1)]
    average_accuracy: _Spread
    backward_transfer: _Spread | None
    matrices: Any
    seconds: _Parts
    repeats: NotRequired[AtLeastOne]
    origin: NotRequired[Origin | None]
    warnings: NotRequired[list[str]]


STREAM_FIELDS = TypeAdapter(StreamFields)

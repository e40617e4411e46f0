"""Whether the arguments of the public functions are of the types that they should be, before any work."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from inspect import signature
from os import PathLike
from typing import Annotated, Any, TypeVar

from pydantic import Field

from lqm.utils.errors import ConfigError
from lqm.utils.names import shown_value
from lqm.utils.paths import as_path
from lqm.utils.settings import Count, NotNegative, Seed, Switch, check

Request = TypeVar("Request")
# A number of a file of a bank has six digits.
Numbered = Annotated[
    int, Field(ge=1, le=10**6, description="a whole number, at least 1 and at most 1,000,000")
]
Side = Annotated[int, Field(ge=1, le=2**15, description="a whole number, at least 1 and at most 32,768")]
_Real = Annotated[float, Field(description="a number")]
_Name = Annotated[str, Field(description="a name")]
_Budget = Annotated[int, Field(ge=1, lt=2**31, description="a number such as 40, or a share such as 1%")]

_KINDS: dict[str, Any] = (
    dict.fromkeys(("seed", "order_seed", "split_seed"), Seed)
    | dict.fromkeys(("encoders", "networks", "epochs", "repeats"), Numbered)
    | dict.fromkeys(
        ("per_class", "real_batch", "classes_per_task", "evaluate_every", "jobs", "threads"), Count | None
    )
    | dict.fromkeys(
        ("normalise_features", "validation", "inter_task_edges", "tensorboard", "show_progress"), Switch
    )
    | dict.fromkeys(
        ("address", "recipe", "compile", "precision", "features", "split", "label", "protocol"),
        _Name | None,
    )
    | dict.fromkeys(("engine", "device", "order", "remainder", "scoring"), _Name)
    | {
        "size": Side | None,
        "max_per_class": Count,
        "test_fraction": _Real | None,
        "method": _Name | None,
        "budget": _Budget | str | None,
        "checkpoint_seconds": NotNegative,
    }
)


def request_of(kind: Callable[..., Request], **options: Any) -> Request:
    """A request with these options.

    Raises:
        TypeError: as of any function, when there is no such option; it says where a setting belongs.
    """
    known = signature(kind).parameters
    for name in options:
        if name not in known:
            near = [f"{option}=..." for option in get_close_matches(name, known, 1)]
            right = near or [f"settings={{'{name}': ...}} if it is a setting of the method"]
            raise TypeError(f"there is no option '{name}'; it should be {right[0]}")
    return kind(**options)


def check_types(request: Any) -> None:
    """Refuse a request that has an option of another type than it should be.

    Raises:
        ConfigError: naming the option, and what would be right.
    """
    check_options(**{field.name: getattr(request, field.name) for field in fields(request)})


def check_options(**options: Any) -> None:
    """The same, of options by name; one whose name is not known here is left to others."""
    for name, value in options.items():
        if name in _OWN:
            _OWN[name](name, value)
        elif name in _KINDS:
            check(name, value, _KINDS[name])


def check_runs(runs: Any) -> list[Any]:
    """The folders of runs, of one or of several, if they are paths."""
    if isinstance(runs, str | PathLike):
        return [as_path(runs, "runs")]
    if not isinstance(runs, Sequence) or isinstance(runs, bytes):
        raise ConfigError(
            f"runs = {shown_value(runs)} can't be used: it should be a path, or a list of paths"
        )
    return [as_path(run, "runs") for run in runs]


def _check_folder(name: str, value: object) -> None:
    if value is not None:
        as_path(value, name)


def _check_source(name: str, value: object) -> None:
    """A name or a path is text; of an object its own reader knows whether it is a source."""
    if isinstance(value, str | PathLike):
        as_path(value, name)


def _check_settings(name: str, value: object) -> None:
    if value is not None and not (isinstance(value, Mapping) and all(isinstance(key, str) for key in value)):
        raise ConfigError(
            f"{name} = {shown_value(value)} can't be used: it should be a dictionary such as {{'steps': 500}}"
        )


def _check_names(name: str, value: object) -> None:
    """One name, several with commas between, or a list of them; of networks also functions by name."""
    if (value is None and name == "augmentation") or isinstance(value, str):
        return
    if isinstance(value, Mapping) and name == "networks":
        if all(isinstance(key, str) and callable(maker) for key, maker in value.items()):
            return
    elif isinstance(value, Sequence) and all(isinstance(word, str) for word in value):
        return
    raise ConfigError(f"{name} = {shown_value(value)} can't be used: it should be a name, or a list of names")


def _check_callback(name: str, value: object) -> None:
    if not (value is None or callable(value)):
        raise ConfigError(
            f"{name} = {shown_value(value)} can't be used: it should be a function of a step and its metrics"
        )


def _check_network(name: str, value: object) -> None:
    if not (value is None or isinstance(value, str) or callable(value)):
        raise ConfigError(
            f"{name} = {shown_value(value)} can't be used: it should be a name such as 'convnet:width=64', "
            "or a function that makes a module"
        )


_OWN: dict[str, Callable[[str, object], None]] = {
    **dict.fromkeys(("out", "data_dir", "sketch", "experts", "to"), _check_folder),
    "source": _check_source,
    "settings": _check_settings,
    "augmentation": _check_names,
    "network": _check_network,
    "callback": _check_callback,
    **dict.fromkeys(("baselines", "references"), _check_names),
    "kinds": lambda _, value: _check_names("networks", value),
}

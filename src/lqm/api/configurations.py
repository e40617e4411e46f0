"""Configurations to try: what differs from the protocol that a condensed set asks for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from pydantic import Field

from lqm.images.networks import NETWORKS, factory_name
from lqm.images.protocols import EvaluationProtocol
from lqm.images.training import Schedule
from lqm.images.tuning import Candidate
from lqm.utils.errors import ConfigError
from lqm.utils.names import choose, shown_value
from lqm.utils.settings import Count, NotNegative, Positive, Share, check

if TYPE_CHECKING:
    from lqm.images.networks import NetworkMaker


class Configuration(TypedDict, total=False):
    """A network and how it is trained; see `proxy`."""

    network: "str | NetworkMaker"
    epochs: int
    learning_rate: float
    momentum: float
    weight_decay: float
    batch: int
    schedule: Schedule
    augmentation: Literal["one", "several"]
    cutmix: float


_KINDS: dict[str, Any] = {
    "network": object,
    "epochs": Count,
    "learning_rate": Positive,
    "momentum": Share,
    "weight_decay": NotNegative,
    "batch": Count,
    "schedule": Schedule,
    "augmentation": Literal["one", "several"],
    "cutmix": Annotated[float, Field(ge=0, le=1, description="a number from 0 to 1")],
}


def read_configuration(given: Configuration, base: EvaluationProtocol, what: str) -> Candidate:
    """The network of a configuration, and the protocol by which it is trained.

    Raises:
        ConfigError: naming what can't be used; `what` says of which configuration.
    """
    if not isinstance(given, Mapping):
        raise ConfigError(
            f"{what} is {shown_value(given)}; it should be a dictionary such as "
            "{'network': 'convnet:width=64', 'learning_rate': 0.03}"
        )
    for name, value in given.items():
        choose(name, _KINDS, f"option of {what}")
        check(f"{name} of {what}", value, _KINDS[name])
    network = given.get("network", base.network)
    if not isinstance(network, str) and not callable(network):
        raise ConfigError(
            f"network of {what} is {shown_value(network)}; it should be a spec such as convnet:width=64, or "
            "a function of shape and classes that makes a module"
        )
    maker = NETWORKS.check(network) if isinstance(network, str) else network
    values: dict[str, Any] = {name: value for name, value in given.items() if name != "network"}
    protocol = replace(
        base,
        name="proxy",
        network=maker if isinstance(maker, str) else factory_name(maker),
        # A rate that was learned with the images holds where none is asked for.
        learned=base.learned and "learning_rate" not in given,
        **values,
    )
    return Candidate(protocol, maker)


def in_words(configuration: Configuration) -> str:
    """What was given, as in `network=convnet:width=64, learning_rate=0.03`.

    Example:
        >>> in_words({"network": "mlp", "batch": 32}), in_words({})
        ('network=mlp, batch=32', 'as the protocol has it')
    """
    words = (
        f"{name}={factory_name(value) if callable(value) else value}" for name, value in configuration.items()
    )
    return ", ".join(words) or "as the protocol has it"

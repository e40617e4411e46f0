"""What an evaluation is asked: a protocol, networks, and real records beside the condensed ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch import nn

from lqm.api.checking import check_options
from lqm.evaluation.evaluator import Evaluator
from lqm.evaluation.protocol import Protocol
from lqm.utils.errors import ConfigError
from lqm.utils.names import choose
from lqm.utils.settings import Count, check

Makers = dict[str, Callable[..., nn.Module] | None]


def asked_of(
    evaluator: Evaluator,
    protocol: str | None = None,
    networks: str | Sequence[str] | Mapping[str, Callable[..., nn.Module]] = (),
    baselines: str | Sequence[str] = (),
    repeats: int | None = None,
    test_every: int | None = None,
) -> tuple[Protocol | None, Sequence[str], Makers]:
    """The protocol, the baselines and the networks of those names, as far as there are any.

    Of networks it gives the user's own functions by name; None for one of ours, whose name is its spec.

    Raises:
        ConfigError: when there is none of a name, or no such number of networks.
    """
    check_options(protocol=protocol, kinds=networks, baselines=baselines)
    check("repeats", repeats, Count | None)
    check("test_every", test_every, Count | None)
    chosen = choose(protocol, evaluator.protocols, "protocol") if protocol else None
    if isinstance(baselines, str):
        baselines = evaluator.baselines if baselines == "all" else baselines.split(",")
    for name in baselines:
        choose(name, dict.fromkeys((*evaluator.baselines, *evaluator.more_baselines)), "baseline")
    if isinstance(networks, Mapping):
        return chosen, baselines, {f"own:{name}": maker for name, maker in networks.items()}
    specs = networks.split(",") if isinstance(networks, str) else networks
    return chosen, baselines, {evaluator.check_spec(spec): None for spec in specs}


def changed(protocol: Protocol, repeats: int | None, test_every: int | None) -> Protocol:
    """The protocol with so many networks, and tests along their training, where these are given.

    Raises:
        ConfigError: for a protocol of networks that are tested at their end alone.
    """
    given: dict[str, Any] = {"networks": repeats, "test_every": test_every}
    if test_every is not None and not hasattr(protocol, "test_every"):
        raise ConfigError(f"test_every is for images, and protocol '{protocol.name}' is not; leave it out")
    return replace(protocol, **{name: value for name, value in given.items() if value is not None})

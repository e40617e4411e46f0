"""What an evaluation needs to know of one kind of data, and what follows from it alone."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from inspect import signature
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lqm.condensed import CondensedSet
from lqm.condensed.described import IMPORTED
from lqm.engine.compute import Compute, decide
from lqm.evaluation.latents import ClassLatents
from lqm.evaluation.protocol import Protocol
from lqm.evaluation.score_cache import Finding, keep
from lqm.evaluation.scores import AfterEach, Score, score_networks
from lqm.utils.errors import ConfigError


class Lengths(NamedTuple):
    """A class: the norms of a set's records of it, [k], and that of the real ones on average, if known."""

    name: str
    own: Tensor
    real: float | None


@dataclass(frozen=True)
class Evaluator:
    """How condensed sets of one kind of data are evaluated.

    Attributes:
        what: what the sets are condensed from, in one word.
        told_by: what tells one such source from another, in words.
        baselines: the names of the sets of real records.
        read_protocol: a protocol from the fields in a manifest.
        check_spec: the spec of a network in canonical form; ConfigError if there is none such.
        find_source: the source for the words of an origin, or for an object.
        fresh_network: network number `index`: (source, maker, seed, index).
        as_records: the records of a condensed set, as networks are trained on them.
        baseline: (name, condensed set, source, protocol, seed, device) -> real records for network j.
        key: of the score cache: (records, source, full, compute).
        finder: (source, protocol, maker of networks, seed, device, full, compute) -> a function of records
            and j that trains network j on them and tests it.
        latents: (network, sets of records, source) -> for each set, the features of each class.
        activations: about how many activations the evaluation of a set takes: (source, protocol, condensed
            set, full); None if networks are not compiled.
        lengths: (condensed set, source or None) -> of each class, how long its features are; None where
            that is no sign of a condensation that failed.
        more_baselines: further sets of real records, which are scored only if they are named.
        remedies: what to try where condensing has gained nothing.
        require_suited: refuses a condensed set that a protocol would not train on as it is meant to be.
    """

    what: str
    told_by: str
    protocols: Mapping[str, Protocol]
    baselines: tuple[str, ...]
    read_protocol: Callable[..., Protocol]
    check_spec: Callable[[str], str]
    find_source: Callable[..., Any]
    fresh_network: Callable[..., Any]
    as_records: Callable[[Any], Any]
    baseline: Callable[[str, Any, Any, Any, int, torch.device], Callable[[int], Any]]
    key: Callable[[Any, Any, bool, Compute], dict[str, Any]]
    finder: Callable[..., Callable[[Any, int], Finding]]
    latents: Callable[[Any, Any, Any], Iterator[list[ClassLatents]]]
    activations: Callable[[Any, Any, Any, bool], float] | None = None
    lengths: Callable[[Any, Any], list[Lengths]] | None = None
    more_baselines: tuple[str, ...] = ()
    remedies: str = "more steps, another learning_rate or another method"
    require_suited: Callable[[Any, Any], None] = lambda condensed, protocol: None

    def protocol_of(self, condensed: CondensedSet) -> Protocol:
        """The protocol that a set asks for."""
        return self.stored_protocol(condensed.manifest["evaluation"])

    def stored_protocol(self, stored: Mapping[str, Any]) -> Protocol:
        """A protocol as a manifest has it; what a later version may have added is not known here."""
        known = signature(self.read_protocol).parameters
        return self.read_protocol(**{name: value for name, value in stored.items() if name in known})

    def remedies_of(self, condensed: CondensedSet) -> str:
        """What to try where a set has gained nothing; one of others can't be condensed again."""
        own = condensed.manifest.get("method") != IMPORTED
        return self.remedies if own else "other options of `lqm import`, or a set by `lqm condense`"

    def records(
        self,
        name: str,
        condensed: CondensedSet,
        source: Any,
        protocol: Protocol,
        seed: int,
        device: torch.device,
    ) -> Callable[[int], Any]:
        """What network j is trained on: the condensed set, or a baseline of as many real records."""
        if name != "condensed":
            return self.baseline(name, condensed, source, protocol, seed, device)
        chosen = self.as_records(condensed)
        return lambda j: chosen

    def decide(
        self,
        source: Any,
        protocol: Protocol,
        condensed: CondensedSet,
        device: torch.device,
        *,
        full: bool = False,
        compile: str | None = None,
        precision: str | None = None,
        named: bool = True,
    ) -> tuple[Compute | None, tuple[str, ...]]:
        """How the networks of one training set are run, from its own work alone; and what to log of it.

        The work of a network that is not `named`, one of the user's own, is not known.
        """
        if self.activations is None:
            for name, value in {"compile": compile, "precision": precision}.items():
                if value is not None:
                    raise ConfigError(f"{name} is for images, and this set is of a {self.what}; leave it out")
            return None, ()
        activations = self.activations(source, protocol, condensed, full) if named else 0.0
        return decide(compile or "auto", precision or "fp32", device, activations=activations, named=named)

    def score(
        self,
        records: Callable[[int], Any],
        source: Any,
        protocol: Protocol,
        *,
        seed: int,
        device: torch.device,
        network: Callable[..., Any] | None = None,
        full: bool = False,
        compute: Compute | None = None,
        after_each: AfterEach = lambda done, metrics, *, cached: None,
    ) -> Score:
        """Train a protocol's networks, network j on `records(j)`, and test them on the source's test set.

        Every network's score is cached, so that an evaluation that was stopped resumes after the last one;
        but not the scores of a `network` of the user's own. The `full` training set may have fewer networks.
        """
        trained: set[int] = set()
        training = Training(source, protocol, seed, device, full, compute or Compute())

        def of_network(j: int) -> tuple[int, Finding]:
            chosen = records(j)

            def work() -> Finding:
                trained.add(j + 1)
                return self.trained(chosen, j, training, network)

            key = self.network_key(chosen, j, training)
            return int((chosen.labels >= 0).sum()), work() if network else keep(key, device, work)

        def told(done: int, metrics: Mapping[str, float]) -> None:
            after_each(done, metrics, cached=done not in trained)

        return score_networks(training.networks, of_network, told)

    def network_key(self, records: Any, j: int, training: "Training") -> dict[str, Any]:
        """All that the score of network j follows from, beside the machine."""
        key = {"protocol": training.protocol.rules, "seed": training.seed, "index": j}
        key |= {"source": training.source.identity}
        return key | self.key(records, training.source, training.full, training.compute)

    def trained(
        self, records: Any, j: int, training: "Training", network: Callable[..., Any] | None = None
    ) -> Finding:
        """What network j finds after it was trained on records; nothing is looked up or kept."""
        began = time.monotonic()
        find = self.finder(
            training.source,
            training.protocol,
            network or training.protocol.network,
            training.seed,
            training.device,
            training.full,
            training.compute,
        )
        return find(records, j) | {"seconds": [time.monotonic() - began]}


@dataclass(frozen=True, eq=False)
class Training:
    """How the networks of one training set are trained and tested.

    Attributes:
        full: whether the set is the whole training set, which may have fewer networks.
    """

    source: Any
    protocol: Protocol
    seed: int
    device: torch.device
    full: bool
    compute: Compute

    @property
    def networks(self) -> int:
        """How many there are."""
        return self.protocol.full_networks if self.full else self.protocol.networks


def entry_of(protocol: Protocol, seed: int, found: Score, compute: Compute | None) -> dict[str, Any]:
    """A score as a manifest stores it."""
    entry = {"protocol": protocol.record, "seed": seed, "accuracy": found.accuracy, **found.stored}
    return entry | ({"compute": asdict(compute)} if compute else {})


def refuse_memory(manifest: Mapping[str, Any]) -> None:
    """Refuse what a stream of tasks keeps of one task, which is evaluated by the stream."""
    if "task" in manifest:
        raise ConfigError(
            f"this set is the memory of task {manifest['task']} of a stream, which `lqm continual` "
            "evaluates; name a set that `lqm condense` made"
        )

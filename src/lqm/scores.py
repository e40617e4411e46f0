"""What a protocol finds of a set of records, images or nodes: scores, and how they are put together."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from math import isnan
from statistics import fmean, pstdev
from typing import Any, ClassVar

import torch
from torch import Tensor

from lqm.latents import ClassLatents, LatentMatch, over_networks
from lqm.scorebook import Finding
from lqm.utils.errors import ConfigError

AfterEach = Callable[[int, Mapping[str, float]], None]


@dataclass(frozen=True)
class Protocol:
    """How networks are trained and judged; fixed, named, and printed beside every score.

    The last network counts; nothing is selected by test accuracy.

    Attributes:
        records: what the networks are trained on, in one word.
        network: a spec, or `own:` and the name of one of the user's own.
        full_networks: how many networks learn the whole training set.
    """

    records: ClassVar[str]

    name: str
    epochs: int
    networks: int
    network: str
    full_networks: int
    learning_rate: float
    weight_decay: float

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.networks} fresh {self.kind}, "
            f"{self.epochs} epochs each at rate {self.learning_rate:g}, mean and deviation over networks"
        )

    @property
    def kind(self) -> str:
        """The network in words."""
        raise NotImplementedError

    @property
    def rules(self) -> dict[str, Any]:
        """All that the score of one network follows from."""
        return {
            name: rule
            for name, rule in asdict(self).items()
            if name not in ("name", "networks", "full_networks")
        }

    def epochs_for(self, records: int, *, full: bool = False) -> int:
        """Epochs on a set of so many records, or on the `full` training set."""
        return self.epochs


class Accuracies:
    """What several networks scored, in short."""

    accuracies: tuple[float, ...]

    @property
    def accuracy(self) -> float:
        """Mean over networks."""
        return fmean(self.accuracies)

    @property
    def deviation(self) -> float:
        """Standard deviation over networks (population, as the field reports it)."""
        return pstdev(self.accuracies)


@dataclass(frozen=True)
class Score(Accuracies):
    """What one protocol finds of one set.

    The match is measured on the features of the protocol's networks `before` their training, which are the
    same for every set, and `after` it, as the paper does.

    Attributes:
        records: how many the networks were trained on.
        accuracies: of each network.
        by_class: of each class, the share of its test records that is named rightly, as the mean over
            networks; None if it has none.
    """

    records: int
    accuracies: tuple[float, ...]
    before: LatentMatch
    after: LatentMatch
    by_class: tuple[float | None, ...] = ()


def score_networks(
    networks: int, judge: Callable[[int], tuple[int, Finding]], after_each: AfterEach
) -> Score:
    """The score of several networks.

    Args:
        networks: how many.
        judge: the number of records that network j was trained on, and what it found.
        after_each: told how many networks are done, and how the last one did.
    """
    findings: list[Finding] = []
    records = 0
    for j in range(networks):
        records, found = judge(j)
        findings.append(found)
        after_each(j + 1, {"accuracy": found["accuracy"][0]})
    before, after = (over_networks([found[when] for found in findings]) for when in ("before", "after"))
    columns = zip(*(found["by_class"] for found in findings), strict=True)
    by_class = tuple(None if isnan(column[0]) else fmean(column) for column in columns)
    return Score(records, tuple(found["accuracy"][0] for found in findings), before, after, by_class)


def finding(named: Tensor, labels: Tensor, classes: int, before: LatentMatch, after: LatentMatch) -> Finding:
    """What one network found, as plain numbers.

    Args:
        named: the class that it named for each test record, [N].
        labels: the right ones, [N].
        classes: how many there are; the share of a class without test records is NaN.
        before: how well the set keeps the latent distributions under the fresh network.
        after: and under the trained one.
    """
    right = named == labels
    tested, found = labels.bincount(minlength=classes), labels[right].bincount(minlength=classes)
    matches = {"before": before, "after": after}
    plain = {when: [match.cramer_von_mises, match.extremes] for when, match in matches.items()}
    by_class = (found.double() / tested).tolist()
    return {"accuracy": [right.double().mean().item()], "by_class": by_class, **plain}


def refuse_memory(manifest: Mapping[str, Any]) -> None:
    """Refuse what a stream of tasks keeps of one task: its test set and its way of judging are the stream's.

    Raises:
        ConfigError: if the manifest is that of a memory.
    """
    if "task" in manifest:
        raise ConfigError(
            f"this set is the memory of task {manifest['task']} of a stream, which `lqm continual` judges; "
            "name a set that `lqm condense` made"
        )


@dataclass(frozen=True)
class Kind:
    """What `lqm.evaluate` needs to know of images, or of graphs.

    Attributes:
        what: what the sets are condensed from, in one word.
        told_by: what tells one such source from another, in words.
        protocols: the ways of judging, by name.
        baselines: the names of the sets of real records.
        read_protocol: the protocol that a manifest asks for, from its fields.
        check_spec: the spec of a network in canonical form; ConfigError if there is none such.
        find_source: the source that words lead to, or that an object is.
        fresh_network: network number `index` of an evaluation: (source, maker, seed, index).
        records: what network j is trained on, as a function of j, given a training set's name, the condensed
            set, the source, the protocol, the seed and the device.
        score: the score of these: (records, source, protocol, seed=, device=, network=, full=, after_each=),
            and compute= if it compiles.
        latents: what a network finds in the records of each class, a list for each of some condensed sets:
            (network, sets, source).
        numbers: about how many numbers the layers of networks give in the evaluation of a set: (source,
            protocol, condensed set, full); none if they don't compile.
    """

    what: str
    told_by: str
    protocols: Mapping[str, Protocol]
    baselines: tuple[str, ...]
    read_protocol: Callable[..., Protocol]
    check_spec: Callable[[str], str]
    find_source: Callable[..., Any]
    fresh_network: Callable[..., Any]
    records: Callable[[str, Any, Any, Any, int, torch.device], Callable[[int], Any]]
    score: Callable[..., Score]
    latents: Callable[[Any, Any, Any], Iterator[list[ClassLatents]]]
    numbers: Callable[[Any, Any, Any, bool], float] | None = None

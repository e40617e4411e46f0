"""The parts of an audit that train networks or condense again, each kept so that none is done twice."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lqm.api.recondense import condense_again
from lqm.condensed import CondensedSet
from lqm.engine.compute import Compute
from lqm.engine.randomness import generator
from lqm.evaluation.audit.attacks import (
    Attack,
    Places,
    attack,
    confidence,
    halves,
    loss_scores,
    ratio_scores,
    some_places,
)
from lqm.evaluation.audit.auditor import Auditor
from lqm.evaluation.audit.nearest import Rows, View, count_copies, find_nearest, measure_gap
from lqm.evaluation.audit.result import CONTROL, DISTANCE, LOSS, RATIO, Canaries, Measured
from lqm.evaluation.audit.statistics import area, share
from lqm.evaluation.evaluator import Evaluator
from lqm.evaluation.protocol import Protocol
from lqm.evaluation.score_cache import keep
from lqm.utils.errors import DivergedError

# Where the numbers of sets that are condensed again begin, and of their networks: no others have them.
_SHADOWS, _CANARIES, _REFERENCES, _PRIVATE = 1000, 2000, 3000, 4000
_NONE = torch.zeros(0, dtype=torch.int64)
# Real records of either side whose embeddings are compared.
_EMBEDDED = 20_000
# To be raised by every change of what is kept.
_EDITION = 1


class Subject(NamedTuple):
    """A set that is audited: as it is stored, its manifest, and the records to train on."""

    stored: Any
    manifest: Mapping[str, Any]
    records: Any


@dataclass(frozen=True, eq=False)
class Work:
    """What all parts of an audit share.

    Attributes:
        places: the real records that are attacked.
        steps: of the sets that are condensed again.
        done: is called after each network, and after each set that is condensed again.
    """

    condensed: CondensedSet
    source: Any
    evaluator: Evaluator
    auditor: Auditor
    protocol: Protocol
    compute: Compute
    device: torch.device
    seed: int
    places: Places
    steps: int
    done: Callable[[], None] = field(repr=False)

    def measure(self, subject: Subject) -> tuple[Measured, Tensor]:
        """Copies, gaps and the loss attack of a set; and the confidences of its networks."""
        auditor, source, seed = self.auditor, self.source, self.seed
        labels = auditor.labels(source)
        views = auditor.views(subject.stored, subject.manifest, source)
        count = int((subject.records.labels >= 0).sum())
        copies = count_copies(views, count, auditor.bounds, seed)
        gaps = {view.name: measure_gap(view, *labels, seed) for view in views}
        chosen = Places(*(some_places(len(own), _EMBEDDED, seed) for own in labels))
        known = [own[places] for own, places in zip(labels, chosen, strict=True)]
        first = self._network(subject.records, 0)
        fresh = self.evaluator.fresh_network(source, self.protocol.network, seed, 0).to(self.device)
        for name, network in (("fresh", fresh), ("trained", first)):
            title = f"{name} network"
            view = auditor.embedding(network, title, subject.records, source, chosen)
            gaps[title] = measure_gap(view, known[0], known[1], seed)
        confidences = self._confidences(subject.records, first.to(self.device))
        attacks = {f"{DISTANCE}, {view.name}": self._by_distance(view) for view in views}
        attacks[LOSS] = self._attack(loss_scores(confidences))
        return Measured(copies, gaps, attacks), confidences

    def ratio(self, confidences: Tensor, shadows: int) -> dict[str, Attack]:
        """The likelihood-ratio attack, by sets that are condensed from random halves of the attacked records.

        The networks on these sets owe nothing to which records the audited set was made of: by the loss of
        all of them, in half of which each record is, the control tells whether the two sides differ anyway.
        """
        inside = halves(self._labels(), shadows, self.seed)
        found = []
        for number, chosen in enumerate(inside):
            half = self.places.only(chosen)
            key = self._again_key | {"half": _digest(chosen)}

            def of_shadow(half: Places = half, number: int = _SHADOWS + number) -> Tensor:
                again = self._again(self.auditor.made_of(self.source, half), number)
                return self._confidence_of(again.records, number)

            found.append(self._kept(key, _SHADOWS + number, of_shadow))
            self.done()
        known = torch.stack(found)
        return {
            RATIO: self._attack(ratio_scores(confidences, known, inside)),
            CONTROL: self._attack(loss_scores(known)),
        }

    def reference(self, name: str) -> tuple[Measured, Tensor]:
        """What a set beside the condensed one gives away: random real records, or one that began as noise."""
        if name == "random":
            chosen = self.evaluator.records(
                name, self.condensed, self.source, self.protocol, self.seed, self.device
            )(0)
            return self.measure(Subject(chosen, {}, chosen))
        again = self._again(self.source, _REFERENCES, init="noise")
        self.done()
        return self.measure(again)

    def private(self, epsilon: float) -> Measured:
        """The loss attack against a network that DP-SGD trained on the audited training records."""
        assert self.auditor.private is not None
        own = self.auditor.made_of(self.source, Places(self.places.train, _NONE))
        network = self.auditor.private(own, self.protocol, epsilon, self.seed + _PRIVATE, self.device)
        self.done()
        return Measured(None, {}, {LOSS: self._attack(loss_scores(self._confidence(network)[None]))})

    def canaries(self, count: int) -> Canaries:
        """Plant half of the canaries in one set and the others in a second; compare each with itself."""
        held_out = self.auditor.labels(self.source).held_out
        draws = generator(self.seed, "canaries")
        chosen = torch.randperm(len(held_out), generator=draws)[:count]
        classes = len(self.condensed.class_names)
        wrong = (held_out[chosen] + torch.randint(1, classes, (count,), generator=draws)) % classes
        first = torch.arange(count) < count // 2
        fits, distances = [], []
        for number, planted in enumerate((first, ~first), _CANARIES):
            again = self._again(self.auditor.planted(self.source, chosen[planted], wrong[planted]), number)
            network = self._network(again.records, number)
            logits = self.auditor.logits(network, self.source, Places(_NONE, chosen))
            fits.append(confidence(logits, wrong))
            view = self.auditor.views(again.stored, again.manifest, self.source)[0]
            own = Rows(len(view.own), view.own.__getitem__)
            distances.append(find_nearest(view.held_out.take(chosen), own).first)
            self.done()
        fit, other = (torch.where(first, fits[i], fits[1 - i]) for i in (0, 1))
        near, far = (torch.where(first, distances[i], distances[1 - i]) for i in (0, 1))
        return Canaries(
            count,
            share(int((fit > other).sum()), count),
            share(int((near < far).sum()), count),
            area(fit, other),
        )

    def _again(self, source: Any, number: int, **settings: Any) -> Subject:
        """A set that is condensed anew, from other training records or with other settings."""
        again = condense_again(
            self.condensed.manifest,
            source,
            steps=self.steps,
            seed=self.seed + number,
            device=self.device,
            **settings,
        )
        return subject_of(again, self.evaluator, self.auditor)

    def _network(self, records: Any, index: int) -> Any:
        """Network number `index`, trained on records as `lqm evaluate` trains it."""
        return self.auditor.train(
            records, self.source, self.protocol, self.seed, index, self.device, self.compute
        )

    def _confidences(self, records: Any, first: Any) -> Tensor:
        """The log odds of the audited records by each of the protocol's networks, [networks, N].

        Network 0 is at hand as `first`, since its embedding is asked for too.
        """
        found = [self._confidence(first)]
        self.done()
        key = self.evaluator.key(records, self.source, False, self.compute)
        for j in range(1, self.protocol.networks):
            found.append(self._kept(key, j, partial(self._confidence_of, records, j)))
            self.done()
        return torch.stack(found)

    def _confidence_of(self, records: Any, index: int) -> Tensor:
        return self._confidence(self._network(records, index))

    def _confidence(self, network: Any) -> Tensor:
        found = confidence(self.auditor.logits(network, self.source, self.places), self._labels())
        if found.isnan().any():
            raise DivergedError(
                f"a network trained on this set by {self.protocol.name} gives NaN, so that it can't be "
                "attacked; choose another protocol"
            )
        return found

    def _labels(self) -> Tensor:
        return self.places.of(self.auditor.labels(self.source))

    def _by_distance(self, view: View) -> Attack:
        """The attack on the set itself: a record near to one of the set's is supposed to be a member."""
        own = Rows(len(view.own), view.own.__getitem__)
        sides = zip((view.train, view.held_out), self.places, strict=True)
        return attack(*(-find_nearest(real.take(places), own).first for real, places in sides))

    def _attack(self, scores: Tensor) -> Attack:
        members = len(self.places.train)
        return attack(scores[:members], scores[members:])

    @property
    def _again_key(self) -> dict[str, Any]:
        manifest = self.condensed.manifest
        names = ("method", "distance", "settings", "per_class", "budget")
        return {name: manifest.get(name) for name in names} | {"steps": self.steps}

    def _kept(self, key: dict[str, Any], index: int, find: Callable[[], Tensor]) -> Tensor:
        whole = key | {
            "audit": _EDITION,
            "places": [_digest(own) for own in self.places],
            "protocol": self.protocol.rules,
            "seed": self.seed,
            "index": index,
            "source": self.source.identity,
        }
        found = keep(whole, self.device, lambda: {"confidence": find().tolist()})
        return torch.tensor(found["confidence"], dtype=torch.float64)


def subject_of(condensed: CondensedSet, evaluator: Evaluator, auditor: Auditor) -> Subject:
    """A condensed set, to be audited."""
    return Subject(auditor.stored(condensed), condensed.manifest, evaluator.as_records(condensed))


def _digest(numbers: Tensor) -> str:
    return hashlib.sha256(numbers.contiguous().numpy().data).hexdigest()

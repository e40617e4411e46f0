"""Cells that differ by their seed alone, put together."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from lqm.evaluation.labels import key_of
from lqm.evaluation.spread import Spread
from lqm.studies.lines import CellLine, Value, done
from lqm.studies.pairs import ordered


@dataclass(frozen=True)
class Cells:
    """The cells that differ by their seed alone."""

    lines: tuple[CellLine, ...]

    @property
    def axes(self) -> dict[str, Value]:
        """What tells them from all others."""
        return self.lines[0].axes

    @property
    def networks(self) -> list[str]:
        """The kinds of networks that evaluated them."""
        return [*dict.fromkeys(network for line in self.lines for network in line.scores)]

    def accuracy(self, network: str | None = None) -> Spread | None:
        """Over the seeds, by one kind of networks; None if that evaluated none of them."""
        own = [line for line in self.lines if network is None or network in line.scores]
        return Spread(tuple(line.accuracy(network) for line in own)) if own else None

    def baseline(self, name: str) -> Spread | None:
        """Over the seeds, the accuracy of networks that learn from real records; None where there is none."""
        own = tuple(fmean(line.baselines[name]) for line in self.lines if name in line.baselines)
        return Spread(own) if own else None

    @property
    def transfer(self) -> Spread | None:
        """Backward transfer over the seeds; None where there are no streams."""
        own = tuple(line.transfer for line in self.lines if line.transfer is not None)
        return Spread(own) if own else None

    def seconds(self, part: str = "condense") -> float | None:
        """Of one part, the median over the seeds; None where none was measured.

        The first cell of a process also pays for what is done once.
        """
        own = [line.seconds[part] for line in self.lines if part in line.seconds]
        return median(own) if own else None

    @property
    def memory(self) -> float | None:
        """Bytes that a process had at most while it condensed, the median over the seeds."""
        own = [line.memory for line in self.lines if line.memory is not None]
        return median(own) if own else None

    @property
    def paper(self) -> float | None:
        """The accuracy in percent that a paper reports."""
        return next((line.paper for line in self.lines if line.paper is not None), None)

    @property
    def tuned(self) -> str | None:
        """The settings that were chosen on validation records, in words."""
        words = (", ".join(f"{name}={value}" for name, value in line.tuned.items()) for line in self.lines)
        return "; ".join(dict.fromkeys(filter(None, words))) or None


def cells_of(lines: Sequence[CellLine]) -> list[Cells]:
    """The cells that have a score, put together where they differ by their seed alone."""
    groups: defaultdict[str, list[CellLine]] = defaultdict(list)
    for line in ordered(done(lines)):
        groups[key_of(line.axes)].append(line)
    return [Cells(tuple(own)) for own in groups.values()]

"""What an audit has found, and what that means."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lqm.evaluation.audit.attacks import Attack
from lqm.evaluation.audit.nearest import Copies, Gap
from lqm.evaluation.audit.statistics import Estimate

OWN = "condensed"
# Attacks: on the set itself by a view, on networks trained on it, and by networks that know nothing of it.
DISTANCE, LOSS, RATIO, CONTROL = "distance", "loss", "likelihood-ratio", "control"
NO_GUARANTEE = (
    "This is no formal guarantee: other attacks may find more. Only differential privacy bounds what any "
    "attack can find, and this set was not made by it."
)


@dataclass(frozen=True)
class Measured:
    """What one set gives away: copies in it, gaps by view, and attacks by name."""

    copies: Copies | None
    gaps: dict[str, Gap]
    attacks: dict[str, Attack]


@dataclass(frozen=True)
class Canaries:
    """Mislabelled held-out records, each of them planted in one of two sets that were condensed again.

    Attributes:
        records: how many there are.
        fitted: share of them that networks fit better if they are trained on the set that had them.
        closer: share of them to which that set is nearer.
        area: under the ROC curve that tells planted ones from others by their fit.
    """

    records: int
    fitted: Estimate
    closer: Estimate
    area: Estimate

    @property
    def tells(self) -> bool:
        """Whether an interval is above a guess."""
        return any(found.low > 0.5 for found in (self.fitted, self.closer, self.area))


@dataclass(frozen=True)
class Audit:
    """What was found about one set.

    Attributes:
        records: what it holds, in one word.
        bound: when a record counts as a near copy, in words.
        sets: by name, the condensed set first, then the references beside it.
        canaries: if any were planted.
        shadows: how many sets were condensed from halves, for the likelihood ratio.
        steps: of the sets that were condensed again.
        seed: of everything that was drawn.
        protocol: how networks were trained, by name.
        notes: what could not be measured, and why.
        not_kept: why it is not in the manifest on the disk; empty if it is.
    """

    records: str
    bound: str
    sets: dict[str, Measured]
    canaries: Canaries | None
    shadows: int
    steps: int
    seed: int
    protocol: str
    notes: tuple[str, ...] = ()
    not_kept: str = ""

    @property
    def own(self) -> Measured:
        """What the condensed set gives away."""
        return self.sets[OWN]

    @property
    def findings(self) -> list[str]:
        """The measures by which the set tells its training records from others, in words."""
        found = [f"nearness in {view}" for view, gap in self.own.gaps.items() if gap.tells]
        found += [f"the {_titled(name)}" for name in self._attacks if self._tells(name)]
        return found + ["the canaries"] * (self.canaries is not None and self.canaries.tells)

    @property
    def _attacks(self) -> list[str]:
        return [name for name in self.own.attacks if name != CONTROL]

    def _tells(self, name: str) -> bool:
        """Whether an attack tells members; by loss, more than networks do that know of none."""
        attack, control = self.own.attacks[name], self.own.attacks.get(CONTROL)
        return attack.tells if name != LOSS or control is None else attack.tells_more_than(control)

    @property
    def verdict(self) -> str:
        """What a reader should know first."""
        copies, what = self.own.copies, self.records
        assert copies is not None
        if copies.near:
            exact = f", {copies.exact:,} of them exact" if copies.exact else ""
            if copies.near_held_out:
                exact += f" (as {100 * copies.near_held_out:.2g} % of the held-out ones are)"
            return (
                f"{copies.near:,} of {copies.records:,} {what} are near copies of training {what}{exact}: "
                f"give this set only to those who may have the training {what} themselves"
            )
        tests = len(self.own.gaps) + len(self._attacks) + (self.canaries is not None)
        told = f"{len(self.findings)} of {tests} tests told training {what} from held-out ones"
        if copies.tells:
            more = f"; {told}: {_listed(self.findings)}" if self.findings else ""
            return (
                f"no near copies, but {copies.traceable:,} of {copies.records:,} {what} can each be traced "
                f"to one of the training {what}, which is less than half as far as the next{more}"
            )
        if self.findings:
            chance = "; a single one may be chance" * (len(self.findings) == 1)
            return f"no near copies, but {told}: {_listed(self.findings)}{chance}"
        return f"no near copies, and none of {tests} tests told training {what} from held-out ones"

    @property
    def meaning(self) -> list[str]:
        """What the numbers mean, a sentence each; the last one says what they do not."""
        copies, what = self.own.copies, self.records
        assert copies is not None
        lines = [
            f"Near copy: {self.bound}. Of held-out {what}, which the set has never met, "
            f"{100 * copies.near_held_out:.0f} % are as near to a training one.",
            f"Traceable: the nearest of the training {what} is less than half as far as the second nearest, "
            f"as it is for {100 * copies.traceable_held_out:.0f} % of the held-out ones.",
            f"Nearer to training: the share of the set, in percent, whose nearest real record is a training "
            f"one; above the range of chance the set owes something to these very {what}. Gap: how much "
            "farther the nearest of as many held-out ones is, in percent.",
            "Area: how often an attack scores a training record above a held-out one; 0.5 is a guess. "
            "Found at 1 %: the percentage of training records that it names while 1 % of the others are "
            "named wrongly; a guess finds 1 %. Brackets are 95 % intervals. The distance attack looks at the "
            "set itself, the others at networks that were trained on it.",
        ]
        if CONTROL in self.own.attacks:
            lines.append(
                "Control: the loss attack by networks that owe nothing to which records were training ones; "
                "an area off 0.5 says that the two sides differ anyway, and the loss attack by as much."
            )
        if self.canaries:
            lines.append(
                f"Canaries: {self.canaries.records} held-out {what} with a wrong label, each planted in one "
                "of two sets; 50 % is a guess."
            )
        return [*lines, *self.notes, NO_GUARANTEE]

    def __str__(self) -> str:
        header, rows = audit_layout(self)
        lines = [f"| {' | '.join(cell.strip() for cell in row)} |" for row in (header, *rows)]
        lines.insert(1, "|---" + "|---:" * (len(header) - 1) + "|")
        return "\n".join([self.verdict, "", *lines, "", *self.meaning])

    def entry(self) -> dict[str, Any]:
        """As a manifest stores it."""
        stored = asdict(self) | {"verdict": self.verdict, "guarantee": NO_GUARANTEE}
        del stored["not_kept"]
        return stored


def audit_layout(audit: Audit) -> tuple[list[str], list[tuple[str, ...]]]:
    """Header and rows of a table: a row a measure, a column a set, all shares in percent."""
    sets = audit.sets
    rows: list[tuple[str, ...]] = []

    def add(name: str, cells: list[str]) -> None:
        if any(cells):
            rows.append((name, *(cell or "-" for cell in cells)))

    copies = [found.copies for found in sets.values()]
    for name, field in (("exact copies", "exact"), ("near copies", "near"), ("traceable", "traceable")):
        add(name, [f"{getattr(own, field):,} of {own.records:,}" if own else "" for own in copies])
    for view in audit.own.gaps:
        gaps = [found.gaps.get(view) for found in sets.values()]
        add(f"nearer to training, {view}", [gap.nearer.shown(_percent) if gap else "" for gap in gaps])
        add(
            "  by chance",
            ["{:.0f} to {:.0f}".format(*(100 * c for c in g.chance)) if g else "" for g in gaps],
        )
        add("  gap", [gap.gap.shown(_percent) if gap else "" for gap in gaps])
    for name in audit.own.attacks:
        found = [each.attacks.get(name) for each in sets.values()]
        areas = [each.area.shown("{:.3f}".format) if each else "" for each in found]
        add(f"{_titled(name)}: area", areas)
        for place, rate in enumerate(("1", "0.1")):
            add(f"  found at {rate} %", [_rate(each, place) if each else "" for each in found])
    if audit.canaries:
        others = [""] * (len(sets) - 1)
        add("canaries: fitted better", [audit.canaries.fitted.shown(_percent), *others])
        add("  nearer to the set", [audit.canaries.closer.shown(_percent), *others])
        add("  area", [audit.canaries.area.shown("{:.2f}".format), *others])
    return ["measure", *sets], rows


def _percent(value: float) -> str:
    return f"{round(100 * value) + 0}"


def _titled(attack: str) -> str:
    """An attack by its name in words.

    Example:
        >>> _titled("distance, pixels"), _titled("loss"), _titled("control")
        ('distance attack by pixels', 'loss attack', 'control')
    """
    name, _, view = attack.partition(", ")
    return name if name == CONTROL else f"{name} attack" + f" by {view}" * bool(view)


def _listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence; of more than three the first two, and how many there are besides.

    Example:
        >>> _listed(["a"]), _listed(["a", "b"]), _listed(["a", "b", "c", "d"])
        ('a', 'a and b', 'a, b and 2 more')
    """
    shown = [*words] if len(words) < 4 else [*words[:2], f"{len(words) - 2} more"]
    return " and ".join([*([", ".join(shown[:-1])] if shown[1:] else []), *shown[-1:]])


def _rate(found: Attack, place: int) -> str:
    rate = found.rates[place]
    return rate.shown(lambda value: f"{100 * value:.1f}") if rate else f"{found.others} are too few"

"""The shards of a bank as pieces of work: each alone, or a chain of those that follow from each other."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from torch import Tensor

from lqm.api.engines import results
from lqm.banks import BankWriter
from lqm.engine.forecast import Forecast
from lqm.engine.progress import Progress
from lqm.executors import Do, Executor, Piece, Work
from lqm.utils.cache import Packed

Key = tuple[int, ...]
State = Mapping[str, Tensor]


def chains(missing: Sequence[Key], before: Callable[[Key], Key | None]) -> list[list[Key]]:
    """Missing shards, in order, those together that follow from each other without a gap.

    Args:
        missing: their numbers.
        before: the number of the shard that one follows from, if there is one.

    Example:
        >>> chains([(0,), (1,), (3,), (4,)], lambda key: (key[0] - 1,) if key[0] % 3 else None)
        [[(0,), (1,)], [(3,), (4,)]]
    """
    found: list[list[Key]] = []
    for key in missing:
        if found and before(key) == found[-1][-1]:
            found[-1].append(key)
        else:
            found.append([key])
    return found


def pieces_of(
    missing: Sequence[Key],
    before: Callable[[Key], Key | None],
    read: Callable[[Key], State],
    what: str,
    blocks: Callable[[], int] = lambda: 1,
) -> Iterator[Piece]:
    """The pieces that make shards; a chain that begins in the middle is given what it goes on from.

    Args:
        missing: the numbers of the shards.
        before: the number of the shard that one follows from, if there is one.
        read: a shard that is there.
        what: what a shard is, in messages.
        blocks: into how many pieces a shard is divided, asked for when the executor takes the first one.
    """
    parts = blocks()
    for chain in chains(missing, before):
        earlier = before(chain[0])
        state = {} if earlier is None else dict(read(earlier))
        name = f"{what} {'-'.join(map(str, chain[0]))}"
        for part in range(parts):
            notes = {"keys": [list(key) for key in chain], "block": part, "blocks": parts}
            yield Piece(f"{name}, block {part}" if parts > 1 else name, Packed(state, notes))


def in_chains(
    make: Callable[[Key, State, int | None], dict[str, Tensor]], kept: Callable[[State], State]
) -> Do:
    """What does such pieces.

    Args:
        make: a shard from its number and from what it goes on from; one block of it, if that is given.
        kept: what the next shard of a chain goes on from, out of a shard.
    """

    def do(given: Packed) -> Iterator[Packed]:
        state: State = given.tensors
        notes = given.notes
        for key in notes["keys"]:
            made = make(tuple(key), state, notes["block"] if notes["blocks"] > 1 else None)
            yield Packed(made, {"key": key, "blocks": notes["blocks"]})
            state = kept(made)

    return do


def fill(
    writer: BankWriter,
    executor: Executor,
    work: Work,
    pieces: Iterator[Piece],
    bar: Progress,
    forecast: Forecast,
    metrics: Callable[[State], dict[str, float]] = lambda shard: {},
) -> None:
    """Let an executor make shards, and write each as it comes.

    Raises:
        LqmError: when pieces have failed; all others are written first.
    """
    parts: dict[Key, list[State]] = {}
    done = 0
    for _, found in results(executor, work, pieces, forecast, "piece"):
        key = tuple(found.notes["key"])
        parts.setdefault(key, []).append(found.tensors)
        if len(parts[key]) < found.notes["blocks"]:
            continue
        writer.write(key, {name: tensor for part in parts.pop(key) for name, tensor in part.items()})
        done += 1
        several = {"workers": executor.workers} if executor.workers > 1 else {}
        bar.update(done, metrics(found.tensors) | several)

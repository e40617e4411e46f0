"""The shards of a bank as pieces of work: each alone, or a chain of those that follow from each other."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from torch import Tensor

from lqm.api.engines import report_lost
from lqm.banks import BankWriter
from lqm.engine.forecast import Forecast
from lqm.engine.progress import Progress
from lqm.executors import Do, Executor, InProcess, Lost, Piece, Work
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
    missing: Sequence[Key], before: Callable[[Key], Key | None], read: Callable[[Key], State], what: str
) -> Iterator[Piece]:
    """The pieces that make shards; a chain that begins in the middle is given what it goes on from."""
    for chain in chains(missing, before):
        earlier = before(chain[0])
        state = {} if earlier is None else dict(read(earlier))
        name = f"{what} {'-'.join(map(str, chain[0]))}"
        yield Piece(name, Packed(state, {"keys": [list(key) for key in chain]}))


def in_chains(make: Callable[[Key, State], dict[str, Tensor]], kept: Callable[[State], State]) -> Do:
    """What does such pieces.

    Args:
        make: a shard from its number and from what it goes on from.
        kept: what the next shard of a chain goes on from, out of a shard.
    """

    def do(given: Packed) -> Iterator[Packed]:
        state: State = given.tensors
        for key in given.notes["keys"]:
            made = make(tuple(key), state)
            yield Packed(made, {"key": key})
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
    lost: dict[str, str] = {}
    done = 0
    for piece, found in executor.map(work, pieces):
        if isinstance(found, Lost):
            lost[piece.name] = found.sentence
            continue
        writer.write(tuple(found.notes["key"]), found.tensors)
        done += 1
        if done == 1 and not isinstance(executor, InProcess):
            forecast.begin(done)  # the first has waited for its process to start
        several = {"workers": executor.workers} if executor.workers > 1 else {}
        bar.update(done, metrics(found.tensors) | several)
    report_lost(lost, "piece")

"""One piece after another, in this process."""

from collections.abc import Iterable, Iterator

from lqm.executors.executor import Lost, Piece, Work, computing_with
from lqm.utils.cache import Packed


class InProcess:
    """Does pieces as they come; an error ends the work, as it would without an executor."""

    slots = workers = 1

    def map(self, work: Work, pieces: Iterable[Piece]) -> Iterator[tuple[Piece, Packed | Lost]]:
        """The results of pieces, in order."""
        with computing_with(work.threads):
            for piece in pieces:
                for result in work.do(piece.given):
                    yield piece, result

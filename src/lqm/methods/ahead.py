"""Targets made ahead: the real side of the next step is looked at beside the update of this one."""

from concurrent.futures import Future, ThreadPoolExecutor

from lqm.methods.targets import Target, Targets


class TargetsAhead:
    """The targets of `targets`, each made in a second thread while S is updated by the one before it.

    No target depends on S, so what a run comes to is the same. The updates of a step share its target. The
    encoders draw nothing by themselves (`Encoders.draws`), since all threads share torch's own generator.

    Args:
        targets: makes them, one after another; nobody else may ask it.
        steps: of the run; none is made for a step after the last.
    """

    def __init__(self, targets: Targets, steps: int) -> None:
        self._targets, self._steps = targets, steps
        self._thread = ThreadPoolExecutor(1, "targets")
        self._made: dict[int, Future[Target]] = {}

    def at(self, step: int, round_: int) -> Target:
        """The target for an update of a step; that of the next step is begun."""
        wanted = [step, step + 1] if step + 1 < self._steps else [step]
        self._made = {n: self._made.get(n) or self._thread.submit(self._targets.at, n, 0) for n in wanted}
        return self._made[step].result()

    def forget(self) -> None:
        """Drop what was made."""
        self._made.clear()
        self._thread.submit(self._targets.forget).result()

"""Targets made ahead: the real side of the next step is looked at beside the update of this one."""

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context

import torch

from lqm.methods.targets import Target, Targets
from lqm.utils.limits import working_memory

# Seconds after which whoever waits for a target looks whether the run is to stop.
_PATIENCE = 0.1


def made_ahead(targets: Targets, steps: int, device: torch.device) -> Targets:
    """The same targets, made ahead where a second core may do so and no limit of memory was chosen."""
    several = _threads() > 1 and device.type == "cpu" and working_memory() is None
    return TargetsAhead(targets, steps) if several else targets


def _threads() -> int:
    return torch.get_num_threads()


class TargetsAhead:
    """The targets of `targets`, each made in a second thread while S is updated by the one before it.

    No target depends on S, so what a run comes to is the same. The updates of a step share its target. The
    encoders draw nothing by themselves (`Encoders.draws`), since all threads share torch's own generator.

    Args:
        targets: makes them, one after another; nobody else may ask it.
        steps: of the run; none is made ahead for a step after the last.
    """

    def __init__(self, targets: Targets, steps: int) -> None:
        self._targets, self._steps = targets, steps
        self._thread = ThreadPoolExecutor(1, "targets")
        self._made: dict[int, Future[Target]] = {}

    def at(self, step: int, round_: int) -> Target:
        """The target for an update of a step; that of the next step is begun."""
        wanted = [step, step + 1] if step + 1 < self._steps else [step]
        self._made = {n: self._made.get(n) or self._begun(n) for n in wanted}
        made = self._made[step]
        try:
            while not made.done():
                with suppress(TimeoutError):
                    made.exception(_PATIENCE)
        except BaseException:
            self._drop()
            raise
        return made.result()

    def forget(self) -> None:
        """Drop what was made."""
        self._drop()
        self._thread.submit(self._targets.forget).result()

    def _begun(self, n: int) -> Future[Target]:
        # A limit of memory holds in this context, and is to hold in the other thread.
        return self._thread.submit(copy_context().run, self._targets.at, n, 0)

    def _drop(self) -> None:
        """Forget all targets; one that is not yet begun is never made."""
        for made in self._made.values():
            made.cancel()
        self._made.clear()

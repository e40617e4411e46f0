"""How many networks of an evaluation are trained side by side where nobody has said it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import psutil
import torch

from lqm.condensed import CondensedSet
from lqm.evaluation.evaluator import Evaluator
from lqm.evaluation.protocol import Protocol

# What an activation of a network that learns takes on one core, as measured, and how many seconds of training
# are worth a process of their own.
_SECONDS, _WORTH = 4.5e-9, 20.0
# Bytes that are kept of each activation, and how often its work counts: forward, and backward twice.
_BYTES, _PASSES = 6, 3


class Places(NamedTuple):
    """How many networks at a time, and with how many threads each."""

    jobs: int
    threads: int


def side_by_side(
    evaluator: Evaluator,
    condensed: CondensedSet,
    data: Any,
    rules: Protocol,
    *,
    usual: int,
    networks: Sequence[str],
    sets: Sequence[str],
    device: torch.device,
) -> Places:
    """Networks of images that take long are trained side by side, each with its share of the cores.

    Two networks on a core each are done before one after the other on both: no thread waits for another. What
    a score depends on, the threads, follows from the cores and the protocol, not from the memory that is free
    or from how many networks are asked for, as long as there is more than one.

    Args:
        evaluator: of this kind of data.
        condensed: the set that is evaluated.
        data: the real data.
        rules: the protocol, with as many networks as are asked for.
        usual: how many it has by itself.
        networks: kinds of them.
        sets: training sets.
        device: where to compute.
    """
    cores = torch.get_num_threads()
    of_set = [rules.full_networks if name == "full" else rules.networks for name in sets]
    asked = len(networks) * sum(of_set)
    if evaluator.activations is None or device.type != "cpu" or min(cores, asked) < 2:
        return Places(1, cores)
    work = max(
        evaluator.activations(data, replace(rules, network=kind), condensed, False) / rules.networks
        for kind in networks
    )
    if work * _SECONDS < _WORTH:
        return Places(1, cores)
    threads = max(1, cores // max(2, usual))
    return Places(min(cores // threads, asked, _in_memory(condensed, rules, work)), threads)


def _in_memory(condensed: Any, rules: Any, work: float) -> int:
    """How many processes there is memory for, each with the data and what a step keeps for its gradient."""
    records = len(condensed.records()[1])
    of_record = work / (_PASSES * records * rules.epochs_for(records, full=False))
    size = psutil.Process().memory_info().rss + rules.batch * of_record * _BYTES
    return max(1, int(psutil.virtual_memory().available // size))

"""What is wrong with the memories that a stream of tasks has condensed."""

from collections.abc import Sequence
from pathlib import Path

import torch

from lqm.condensed import CondensedNodes
from lqm.evaluation.faults import faults_of_lengths
from lqm.evaluation.streams import read_stream, stored_matrices
from lqm.graphs.continual import ContinualPlan, Repeat
from lqm.graphs.lengths import lengths_beside


def stream_faults(plan: ContinualPlan, repeats: Sequence[Repeat], folder: Path | None) -> tuple[str, ...]:
    """A line for each fault of a repeat's memory, beside the training nodes; as stored of a finished run."""
    if folder and len(stored_matrices(folder)) >= len(repeats):
        return tuple(read_stream(folder).get("warnings", ()))
    if plan.request.method.condense is None:
        return ()
    stream = plan.stream
    real = stream.population(plan.request.memory.hops)
    found = []
    for number, repeat in enumerate(repeats):
        name = f"repeat {number + 1} of {len(repeats)}: " * (len(repeats) > 1)
        features = torch.cat([memory.features for memory in repeat.memories])
        labels = torch.cat([memory.labels for memory in repeat.memories])
        whole = CondensedNodes(features, labels, stream.class_names, {})
        found += [name + line for line in faults_of_lengths(lengths_beside(whole, real), "nodes")]
    return tuple(found)

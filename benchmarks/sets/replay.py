"""What a memory is worth to a continual learner: python -m benchmarks.sets.replay --out runs/replay.

The digits come two classes at a time; one network with ten outputs learns them, and after each task it is
tested on all classes so far. One JSON line a memory and seed; what has a line is not done again.
`tools/measured.py` makes the tables.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812
import tyro
from torch import Tensor

import lqm
from lqm.engine.randomness import generator, seeded
from lqm.images.networks import make_network
from lqm.replay import CondensedMemory
from lqm.utils.lines import append_lines, read_lines

MEMORIES = ("none", "reservoir", "random", "condensed", "condensed, shrunk", "joint")
TASKS, CLASSES, BATCH = 5, 10, 32
_NETWORK = "convnet:width=16:depth=2"
# The digits' recipe for ten a class, with fewer steps of a narrower network.
_SETTINGS = {"steps": 150, "network": "convnet:width=32:depth=2", "learning_rate": 3.0}

Labelled = tuple[Tensor, Tensor]


class Memory(Protocol):
    """What the learner needs of a memory."""

    def update(self, strategy: Labelled) -> None:
        """Take up the data of a task."""

    def kept(self) -> Labelled:
        """Images and labels to rehearse."""


class Reservoir:
    """A uniform sample of all that has come (Vitter 1985), or all of it."""

    def __init__(self, size: int | None, draws: torch.Generator) -> None:
        self._size, self._draws, self._count = size, draws, 0
        self._kept: list[tuple[Tensor, Tensor]] = []

    def update(self, strategy: Labelled) -> None:
        """Take up the data of a task, one after the other."""
        for pair in zip(*strategy, strict=True):
            self._count += 1
            if self._size is None or len(self._kept) < self._size:
                self._kept.append(pair)
                continue
            place = int(torch.randint(self._count, (1,), generator=self._draws))
            if place < self._size:
                self._kept[place] = pair

    def kept(self) -> Labelled:
        """The sample."""
        images, labels = zip(*self._kept, strict=True)
        return torch.stack(images), torch.stack(labels)


class Condensed:
    """A `CondensedMemory` as the learner sees it."""

    def __init__(self, memory: CondensedMemory) -> None:
        self.update, self._memory = memory.update, memory

    def kept(self) -> Labelled:
        """The synthetic images."""
        images, labels = self._memory.buffer.tensors  # type: ignore[attr-defined]
        return images, labels


def main(
    out: Path, seeds: int = 5, per_class: int = 10, epochs: int = 10, memories: tuple[str, ...] = MEMORIES
) -> None:
    """Learn the stream with every memory and seed.

    Args:
        out: folder of the lines.
        seeds: of network, batches, and memory.
        per_class: images that a memory has of each class in the end.
        epochs: of each task.
        memories: which ones.
    """
    torch.set_num_threads(1)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "replay.jsonl"
    kept = {(line["memory"], line["seed"]) for line in read_lines(path, None)}
    for seed in range(seeds):
        for name in memories:
            if (name, seed) not in kept:
                line = {"memory": name, "seed": seed, "per_class": per_class, "epochs": epochs}
                append_lines(path, [line | _learned(_memory(name, per_class * CLASSES, seed), seed, epochs)])


def _memory(name: str, size: int, seed: int) -> Memory | None:
    if name == "none":
        return None
    if name in ("reservoir", "joint"):
        return Reservoir(size if name == "reservoir" else None, generator(seed, "reservoir"))
    method = "dm" if name.startswith("condensed") else name
    return Condensed(
        CondensedMemory(
            size,
            total_classes=None if "shrunk" in name else CLASSES,
            method=method,
            settings=_SETTINGS if method == "dm" else None,
            augmentation=lqm.load_source("digits").augmentation,
            seed=seed,
        )
    )


def _learned(memory: Memory | None, seed: int, epochs: int) -> dict[str, object]:
    """Accuracies after each task, and the processor seconds of the memory and of learning."""
    source = lqm.load_source("digits", show_progress=False)
    with seeded(seed, "replay network"):
        network = make_network(_NETWORK, source.shape, CLASSES)
    optimizer = torch.optim.SGD(network.parameters(), 0.05, momentum=0.9)
    draws, after, updating, began = generator(seed, "replay batches"), [], 0.0, time.process_time()
    for task in range(TASKS):
        new = _of_task(source.train, task)
        old = memory.kept() if memory is not None and task else None
        network.train()
        for batch in _batches(new, old, epochs, draws):
            loss = torch.stack([F.cross_entropy(network(source.normalised(x)), y) for x, y in batch]).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if memory is not None:
            before = time.process_time()
            memory.update(new)
            updating += time.process_time() - before
        after.append(_accuracy(network.eval(), source, task))
    seconds = {"memory_seconds": updating, "learning_seconds": time.process_time() - began - updating}
    return {"after": after, **seconds}


def _of_task(images: lqm.Images, task: int) -> Labelled:
    mine = images.labels // (CLASSES // TASKS) == task
    return images.images[mine], images.labels[mine]


def _batches(
    new: Labelled, old: Labelled | None, epochs: int, draws: torch.Generator
) -> Iterator[list[Labelled]]:
    """Batches of a task, each beside one of as many images to rehearse if there are any."""
    for _ in range(epochs):
        for chosen in torch.randperm(len(new[1]), generator=draws).split(BATCH):
            batch = [(new[0][chosen], new[1][chosen])]
            if old is not None:
                places = torch.randint(len(old[1]), (BATCH,), generator=draws)
                batch.append((old[0][places], old[1][places]))
            yield batch


@torch.no_grad()
def _accuracy(network: torch.nn.Module, source: lqm.ImageSource, task: int) -> float:
    """On the test images of all classes so far."""
    seen = source.test.labels < (task + 1) * (CLASSES // TASKS)
    right = network(source.normalised(source.test.images[seen])).argmax(dim=1) == source.test.labels[seen]
    return right.double().mean().item()


if __name__ == "__main__":
    tyro.cli(main)

"""Do configurations rank alike on few images and on all? python -m benchmarks.sets.proxy --out runs/proxy.

Every configuration is trained on a condensed set, on as many random images and on all training images but
those for validation; one JSON line each. What has a line is not done again. Seeds come in turn, and so do
configurations: what is there when it is stopped is complete for the first ones. `tools/measured.py` makes the
tables.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import torch
import tyro

import lqm
from benchmarks.sets.configurations import COUNT, configurations
from lqm.engine.compute import Compute
from lqm.engine.randomness import generator
from lqm.images.evaluation import EvaluationProtocol, fresh_network, teach
from lqm.images.sources import Images, ImageSource
from lqm.images.training import logits_of
from lqm.utils.lines import append_lines, read_lines

SETS = ("condensed", "random", "full")
# Settings by which one core condenses CIFAR-10 in minutes; the digits have theirs in a recipe.
_CIFAR = {"steps": 100, "network": "convnet:width=32", "real_batch": 32}


def main(
    out: Path,
    source: Literal["digits", "cifar10"] = "digits",
    seeds: int = 3,
    count: int = COUNT,
    per_class: int = 10,
    epochs: int = 60,
    full_epochs: int = 20,
    real_per_class: int | None = None,
    test: int | None = None,
) -> None:
    """Train all configurations on all sets.

    Args:
        out: folder of the lines and of the condensed sets.
        source: what is condensed.
        seeds: of condensation, choice of random images, networks and their training.
        count: of configurations.
        per_class: condensed or random images of each class.
        epochs: on these.
        full_epochs: on all training images.
        real_per_class: at most so many training images of each class are all there are.
        test: at most so many test images.
    """
    torch.set_num_threads(1)
    out.mkdir(parents=True, exist_ok=True)
    whole = _reduced(lqm.load_source(source, show_progress=False), real_per_class, test)
    data, path = whole.for_validation(), out / f"proxy-{source}.jsonl"
    kept = {_key(line) for line in read_lines(path, None)}
    # What torch prepares at its first step is no part of the first configuration's seconds.
    _trained(data.test, data, whole, configurations(1)[0], 0)
    for seed in range(seeds):
        sets: dict[str, Callable[[], tuple[Images, float]]] = {
            "full": lambda: (data.train, 0.0),
            "random": lambda seed=seed: _made(whole, out, seed, per_class, {"method": "random"}),
            "condensed": lambda seed=seed: _made(
                whole,
                out,
                seed,
                per_class,
                {"method": "dm", "settings": _CIFAR} if source == "cifar10" else {},
            ),
        }
        made: dict[str, tuple[Images, float]] = {}
        for number, protocol in enumerate(configurations(count)):
            for name in SETS:
                if (name, seed, number) in kept:
                    continue
                if name not in made:
                    made[name] = sets[name]()
                images, seconds = made[name]
                trained = replace(protocol, epochs=full_epochs if name == "full" else epochs)
                line = {"source": source, "set": name, "seed": seed, "configuration": number}
                line |= {"images": len(images.labels), "set_seconds": seconds}
                append_lines(path, [line | _trained(images, data, whole, trained, seed)])


def _key(line: dict[str, Any]) -> tuple[str, int, int]:
    return line["set"], line["seed"], line["configuration"]


def _reduced(source: ImageSource, per_class: int | None, test: int | None) -> ImageSource:
    """The source with fewer images, always the same ones."""
    if per_class is not None:
        draws = generator(0, "proxy images")
        places = torch.cat(
            [
                members[torch.randperm(len(members), generator=draws)[:per_class]]
                for members in source.train.places_by_class(len(source.class_names))
            ]
        )
        source = replace(source, train=Images(source.train.images[places], source.train.labels[places]))
    if test is not None:
        source = replace(source, test=Images(source.test.images[:test], source.test.labels[:test]))
    return source


def _made(
    source: ImageSource, out: Path, seed: int, per_class: int, how: dict[str, Any]
) -> tuple[Images, float]:
    """A small set of training images that are not for validation, and the processor seconds that it took."""
    began = time.process_time()
    folder = out / f"{source.name}-{how.get('method', 'dm')}-{seed}"
    found = lqm.condense(
        source, per_class=per_class, validation=True, seed=seed, out=folder, show_progress=False, **how
    )
    assert isinstance(found, lqm.CondensedImages)
    seconds = out / f"{folder.name}.seconds"
    if not seconds.exists():
        seconds.write_text(f"{time.process_time() - began}")
    return Images(*found.records()), float(seconds.read_text())


def _trained(
    images: Images, data: ImageSource, whole: ImageSource, protocol: EvaluationProtocol, seed: int
) -> dict[str, Any]:
    """The protocol, seconds of training, and accuracies on validation and on test images."""
    device, began, worked = torch.device("cpu"), time.monotonic(), time.process_time()
    network = fresh_network(data, protocol.network, seed, 0).to(device)
    teach(network, images, data, protocol, seed=seed, index=0, full=False, compute=Compute())
    took = {"seconds": time.monotonic() - began, "processor_seconds": time.process_time() - worked}
    parts = {"validation": data.test, "test": whole.test}
    right = {
        name: logits_of(network, part.images, data).argmax(dim=1).cpu() == part.labels
        for name, part in parts.items()
    }
    shares = {name: each.double().mean().item() for name, each in right.items()}
    return {"protocol": asdict(protocol), **took, **shares}


if __name__ == "__main__":
    tyro.cli(main)

"""Condensing images that are larger than the memory: the peak of memory beside the size of the data.

    python -m benchmarks.scale.larger_than_memory --gigabytes 1 5 20

Images of 64x64x3 pixels in ten classes are made in a file, and condensed by a process of its own, so that its
peak of memory is its own. The smaller sizes are condensed once more with all images in memory, which gives
the same set. The file is deleted afterwards.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.scale.child import Cost, run

_CLASSES, _SHAPE, _TEST, _CHUNK = 10, (3, 64, 64), 1000, 1000
_LIMIT = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[1, 5, 20])
    parser.add_argument("--most-in-memory", type=float, default=5, help="GB that are tried in memory too")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--folder", type=Path, help="where the file of images is put")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        path, work = options.child
        if work.isdigit():
            _make(Path(path), int(work))
        else:
            _condense(Path(path), in_memory=work == "memory", steps=options.steps)
        return
    print("| GB | images | peak from a file, GiB | seconds | peak in memory, GiB | seconds |")
    print("|---|---|---|---|---|---|")
    met = True
    for size in options.gigabytes:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            path = Path(folder) / "images.safetensors"
            count = int(size * 1e9 / np.prod(_SHAPE))
            _run([__spec__.name, "--child", str(path), str(count)])
            stored = _run([__spec__.name, "--child", str(path), "file", "--steps", str(options.steps)])
            met &= stored.peak <= _LIMIT
            beside = "| | |"
            if size <= options.most_in_memory:
                held = _run([__spec__.name, "--child", str(path), "memory", "--steps", str(options.steps)])
                met &= held.output == stored.output
                beside = f"| {held.peak:.2f} | {held.seconds:.0f} |"
        print(f"| {size:g} | {count:,} | {stored.peak:.2f} | {stored.seconds:.0f} {beside}", flush=True)
    sys.exit(0 if met else 1)


def _run(words: list[str]) -> Cost:
    return run([sys.executable, "-m", *words], keep_output=True)


def _make(path: Path, count: int) -> None:
    """Noise around a level of grey of its class, written as it is made."""
    import torch

    from lqm.utils.tensor_drafts import TensorDraft

    labels = {
        f"{part}.labels": torch.arange(own) % _CLASSES for part, own in (("train", count), ("test", _TEST))
    }
    counts = {"train.images": count, "test.images": _TEST}
    draws = np.random.Generator(np.random.SFC64(0))
    levels = (16 * np.arange(_CHUNK) % (16 * _CLASSES)).astype(np.uint8)
    with path.open("w+b") as file:
        draft = TensorDraft(file, labels, counts, _SHAPE, np.dtype(np.uint8), {})
        for first in range(0, count + _TEST, _CHUNK):
            noise = np.frombuffer(draws.bytes(_CHUNK * int(np.prod(_SHAPE))), np.uint8) & 63
            images = noise.reshape(_CHUNK, *_SHAPE) + levels[:, None, None, None]
            for image in images[: count + _TEST - first]:
                draft.add(image)
        draft.finish()


def _condense(path: Path, *, in_memory: bool, steps: int) -> None:
    import lqm
    from lqm.images.sources import Images, ImageSource
    from lqm.utils.tensors import TensorFile

    lqm.tune_allocator()
    file = TensorFile(path, "make it again")
    parts = [
        Images(file.stored(f"{part}.images")[:] if in_memory else file.stored(f"{part}.images"), labels)
        for part in ("train", "test")
        for labels in [file[f"{part}.labels"]]
    ]
    source = ImageSource("noise", *parts, tuple(str(label) for label in range(_CLASSES)))
    made = lqm.condense(
        source,
        method="dm",
        per_class=10,
        settings={"steps": steps, "network": "convnet:width=32"},
        compile="off",
        show_progress=False,
    )
    print(json.dumps(hashlib.sha256(made.data.numpy().tobytes()).hexdigest()))


if __name__ == "__main__":
    main()

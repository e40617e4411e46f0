"""Small runs of everything that computes, whose results must not change unless a change means to.

Each case is a few steps on the digits, in fp32, not compiled. `record.py` stores what they give.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from scipy.sparse import random_array
from torch import Tensor

import lqm
from lqm.condensed.export import export

Tensors = dict[str, Tensor]
Case = Callable[[Path], Tensors]

_NETWORK = "convnet:width=8:depth=2"
_IMAGES: dict[str, Any] = {"steps": 3, "real_batch": 16, "network": _NETWORK}
_IDM: dict[str, Any] = {
    "mosaic": 2,
    "queue_interval": 2,
    "queue_limit": 4,
    "students": 2,
    "student_steps": 2,
    "student_batch": 32,
}
_SKETCH = {"real_batch": 40, "network": _NETWORK}
# As in the papers' code; the defaults have a case of their own.
_PAPER: dict[str, Any] = {"learning_rate": 1e-3, "lengths": "free"}
_RAW: dict[str, Any] = {"features": "own"}
_NODES: dict[str, Any] = {"steps": 3, "width": 32} | _PAPER
_DISTANCES = ("mean", "lqm", "energy")
_RULES = ("random", "herding", "k-centre", "k-means")
_GRAPH = "digits-knn"


def _condense(source: object, **options: Any) -> lqm.CondensedSet:
    kind = {} if "budget" in options else {"compile": "off", "precision": "fp32"}
    if options.get("method") in _RULES:
        kind = {}
    return lqm.condense(source, show_progress=False, **kind, **options)


def _images(method: str, distance: str | None = "lqm", per_class: int = 2, **settings: Any) -> Case:
    own = _IMAGES | (_IDM if method == "idm" else {}) if distance else {}

    def run(folder: Path) -> Tensors:
        made = _condense(
            "digits", method=method, distance=distance, per_class=per_class, settings=own | settings
        )
        return {"data": made.data, "labels": made.labels}

    return run


def _nodes(method: str, distance: str | None = "lqm", **settings: Any) -> Case:
    own = _NODES if distance else _RAW

    def run(folder: Path) -> Tensors:
        made = _condense(_GRAPH, method=method, distance=distance, budget=23, settings=own | settings)
        return {"data": made.data, "labels": made.labels}

    return run


def _colour_images(folder: Path) -> Tensors:
    """All augmentations, on images of three channels that are read from a file."""
    draws = np.random.default_rng(0)
    arrays = {
        f"{kind}_{part}": value
        for part, size in (("train", 60), ("test", 12))
        for kind, value in (
            ("x", draws.integers(0, 256, (size, 12, 12, 3), dtype=np.uint8)),
            ("y", np.arange(size) % 3),
        )
    }
    np.savez(folder / "colour.npz", **arrays)
    augmentation = ("color", "crop", "cutout", "flip", "scale", "rotate")
    settings = _IMAGES | {"steps": 5, "learning_rate": 1.0}
    made = _condense(folder / "colour.npz", per_class=2, augmentation=augmentation, settings=settings)
    return {"data": made.data, "labels": made.labels}


def _sparse_nodes(folder: Path) -> Tensors:
    """A graph whose features are mostly 0, read from a file."""
    draws = np.random.default_rng(0)
    edges, features = (
        random_array(shape, density=0.02, rng=draws).tocsr() for shape in ((200, 200), (200, 99))
    )
    parts = {
        f"{name}_{part}": getattr(matrix, part)
        for name, matrix in (("adj", edges), ("attr", features))
        for part in ("data", "indices", "indptr", "shape")
    }
    np.savez(folder / "sparse.npz", labels=np.arange(200) % 4, **parts)
    return {"data": _condense(folder / "sparse.npz", budget=9, settings=_NODES).data}


def _sketch_of_images(method: str, distance: str, per_class: int = 2) -> Case:
    def run(folder: Path) -> Tensors:
        lqm.sketch(
            "digits",
            out=folder / "sketch",
            method=method,
            encoders=3,
            max_per_class=8,
            compile="off",
            settings=_SKETCH,
            show_progress=False,
        )
        settings = {"steps": 4, "learning_rate": 1.0} | ({"mosaic": 2} if method == "idm" else {})
        made = _condense(
            "digits", distance=distance, per_class=per_class, sketch=folder / "sketch", settings=settings
        )
        return {"data": made.data}

    return run


def _sketch_of_nodes(folder: Path) -> Tensors:
    settings = {"width": 32}
    lqm.sketch(
        _GRAPH, out=folder / "sketch", encoders=3, max_per_class=8, settings=settings, show_progress=False
    )
    settings = _PAPER | {"steps": 4}
    return {"data": _condense(_GRAPH, budget=23, sketch=folder / "sketch", settings=settings).data}


def _own_network(folder: Path) -> Tensors:
    """A network of the user's own, with dropout and batch norm."""

    def network(shape: tuple[int, int, int], classes: int) -> torch.nn.Module:
        flat = torch.Size(shape).numel()
        layers = torch.nn.Linear(flat, 12), torch.nn.BatchNorm1d(12), torch.nn.ReLU(), torch.nn.Dropout(0.3)
        return torch.nn.Sequential(torch.nn.Flatten(), *layers, torch.nn.Linear(12, classes))

    settings = {"steps": 3, "real_batch": 16}
    made = lqm.condense("digits", network=network, per_class=2, settings=settings, show_progress=False)
    return {"data": made.data}


def _stream(method: str, **settings: Any) -> Case:
    memory = {"budget": 6} if method not in ("finetuning", "joint") else {}
    condensed = _NODES if method in ("cat", "puma") else _RAW if memory else {}
    as_cat = {"classifier_rate": 0.005, "retrain": False} if memory and method != "puma" else {}

    def run(folder: Path) -> Tensors:
        learning = {"epochs": 5, "classifier": "gcn:width=16:depth=2"} | as_cat
        found = lqm.continual(
            _GRAPH,
            method=method,
            classes_per_task=4,
            repeats=2,
            settings=learning | condensed | settings,
            show_progress=False,
            **memory,
        )
        kept = [part.data for parts in found.memories for part in parts]
        return {"matrices": found.matrices.nan_to_num(-1.0)} | ({"memories": torch.cat(kept)} if kept else {})

    return run


def _evaluate(source: str, **options: Any) -> Case:
    def run(folder: Path) -> Tensors:
        made = _condense(source, **options)
        protocol = "cat-500" if "budget" in options else "cross-200"
        beside = "random-raw" if "budget" in options else "random"
        found = lqm.evaluate(made, protocol=protocol, show_progress=False, baselines=beside)
        (scores,) = found.by_network.values()
        return {
            name: torch.tensor(
                [*score.accuracies, score.before.cramer_von_mises, score.after.cramer_von_mises]
            )
            for name, score in zip(("condensed", "random"), scores.values(), strict=True)
        }

    return run


def _exports(source: str, **options: Any) -> Case:
    """What other tools read: the tensors of the safetensors export and the arrays of the NumPy one."""

    def run(folder: Path) -> Tensors:
        made = _condense(source, **options)
        tensors = load_file(export(made, "torch", folder / "set"))
        with np.load(export(made, "npz", folder / "set")) as arrays:
            numeric = {name: part for name, part in arrays.items() if part.dtype.kind in "fiu"}
            return tensors | {f"npz.{name}": torch.from_numpy(part) for name, part in numeric.items()}

    return run


CASES: Mapping[str, Case] = {
    **{f"{method}-{by}": _images(method, by) for method in ("dm", "datadam") for by in _DISTANCES},
    **{f"idm-{by}": _images("idm", by, 1, steps=5) for by in _DISTANCES},
    "idm-without-mosaic": _images("idm", mosaic=1),
    "idm-mosaic-3": _images("idm", per_class=1, mosaic=3),
    "dm-per-class": _images("dm", stepping="one-by-one"),
    "dm-batch-norm": _images("dm", network=f"{_NETWORK}:norm=batch"),
    "datadam-attention-by-distance": _images("datadam", attention="distance", power=1.0),
    **{f"dm-from-{rule}": _images("dm", start=rule, start_steps=3) for rule in ("noise", *_RULES[1:])},
    "idm-from-herding": _images("idm", per_class=1, start="herding", start_steps=3),
    "random-images": _images("random", None),
    **{f"{rule}-images": _images(rule, None, steps=3, batch=32, network=_NETWORK) for rule in _RULES[1:]},
    "colour-images": _colour_images,
    "own-network": _own_network,
    "dm-sketch-lqm": _sketch_of_images("dm", "lqm"),
    "dm-sketch-mean": _sketch_of_images("dm", "mean"),
    "datadam-sketch": _sketch_of_images("datadam", "lqm"),
    "idm-sketch": _sketch_of_images("idm", "lqm", 1),
    **{f"{method}-{by}": _nodes(method, by) for method in ("cat", "puma") for by in _DISTANCES},
    "cat-lengths": _nodes("cat", lengths="real"),
    "random-nodes-propagated": _nodes("random", None, features="propagated"),
    "stream-random-propagated": _stream("random", features="propagated"),
    "cat-batch": _nodes("cat", real_batch=8),
    "cat-deep": _nodes("cat", hops=2, depth=2, activation="tanh"),
    "cat-window": _nodes("cat", steps=6, reuse=2, window=2),
    "cat-sparse": _sparse_nodes,
    **{f"cat-from-{rule}": _nodes("cat", start=rule) for rule in ("noise", *_RULES[1:])},
    **{f"{rule}-nodes": _nodes(rule, None) for rule in _RULES},
    "cat-sketch": _sketch_of_nodes,
    **{f"stream-{name}": _stream(name) for name in ("finetuning", "joint", "cat", "puma", "random", "ssm")},
    "stream-er-gnn": _stream("er-gnn"),
    "stream-ssm-neighbours": _stream("ssm", neighbours=2),
    "stream-pseudo-labels": _stream("puma", pseudo_labels="validation"),
    "evaluate-images": _evaluate("digits", per_class=2, settings=_IMAGES),
    "evaluate-nodes": _evaluate(_GRAPH, budget=23, settings=_NODES),
    "export-images": _exports("digits", per_class=2, settings=_IMAGES),
    "export-mosaic": _exports("digits", method="idm", per_class=1, settings=_IMAGES | _IDM),
    "export-nodes": _exports(_GRAPH, budget=23, settings=_NODES),
}

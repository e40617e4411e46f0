"""The tensors of a condensed set, checked before anything is done with them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from lqm.condensed.whitening import wrong_whitening
from lqm.utils.errors import ArtifactError
from lqm.utils.sentences import first_line

IMAGES, NODES, ROWS, SOFT_LABELS = "images", "features", "rows", "soft_labels"
_NAMES = {
    IMAGES: (IMAGES, "labels"),
    ROWS: (ROWS, "labels", "mean", "scale"),
    NODES: (NODES, "labels", "edges"),
}


def kind_of(tensors: Mapping[str, Tensor]) -> str:
    """What the records are called in a file of a condensed set; nodes if nothing else is there."""
    return next((kind for kind in (IMAGES, ROWS) if kind in tensors), NODES)


def read_tensors(content: bytes, path: Path, manifest: Mapping[str, Any], remedy: str) -> dict[str, Tensor]:
    """The tensors in a file, which fit each other and the manifest.

    Raises:
        ArtifactError: naming the file and the first tensor that is wrong.
    """
    try:
        tensors = load(content)
    except (SafetensorError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise ArtifactError(f"{path} can't be read as safetensors ({first_line(error)}); {remedy}") from error
    kind = kind_of(tensors)
    for name in _NAMES[kind]:
        if name not in tensors:
            raise ArtifactError(f"{path} has no '{name}', which every set of {kind} has; {remedy}")
    wrong = {IMAGES: _wrong_images, ROWS: _wrong_rows, NODES: _wrong_nodes}[kind]
    if problem := _wrong_labels(tensors[kind], tensors["labels"], kind, manifest) or wrong(tensors, manifest):
        raise ArtifactError(f"{path} can't be used: its {problem}; {remedy}")
    return tensors


def _wrong_labels(data: Tensor, labels: Tensor, kind: str, manifest: Mapping[str, Any]) -> str:
    """What is wrong with the records and labels of a set of any kind, if something is."""
    axes, shape = (4, "[M, C, H, W]") if kind == IMAGES else (2, "[M, F]")
    if data.dtype != torch.float32 or data.ndim != axes or data.numel() == 0:
        return f"'{kind}' {_described(data)}, and should be float32 of shape {shape}, none of them 0"
    if not data.isfinite().all():
        return f"'{kind}' hold NaN or infinite numbers"
    if labels.dtype != torch.int64 or labels.shape != data.shape[:1]:
        return f"'labels' {_described(labels)}, and should be int64 of shape [{len(data)}]"
    classes, least = len(manifest["class_names"]), -1 if kind == NODES else 0
    if labels.min() < least or labels.max() >= classes:
        return (
            f"'labels' go from {labels.min()} to {labels.max()}; with {classes} class names they should be "
            f"{least} to {classes - 1}"
        )
    return ""


def _wrong_images(tensors: Mapping[str, Tensor], manifest: Mapping[str, Any]) -> str:
    images = tensors[IMAGES]
    if images.min() < 0 or images.max() > 1:
        return f"'images' go from {images.min():.4g} to {images.max():.4g}, and pixels should be in [0, 1]"
    if (factor := manifest.get("mosaic", 1)) > min(images.shape[-2:]):
        return f"'images' are too small for the {factor} x {factor} cells that the manifest's 'mosaic' says"
    if problem := _wrong_soft_labels(tensors, manifest):
        return problem
    for name, values in manifest.get("preprocessing", {}).items():
        if name in ("mean", "std") and len(values) != images.shape[1]:
            return (
                f"'images' have {images.shape[1]} channels, and the manifest's 'preprocessing.{name}' has "
                f"{len(values)} numbers"
            )
    return wrong_whitening(tensors, manifest, images[0].numel())


def _wrong_soft_labels(tensors: Mapping[str, Tensor], manifest: Mapping[str, Any]) -> str:
    """What is wrong with the labels that are shares of all classes, if something is."""
    soft = tensors.get(SOFT_LABELS)
    if (soft is not None) != manifest.get("training", {}).get(SOFT_LABELS, False):
        return f"'{SOFT_LABELS}' are there though the manifest does not say so, or the other way round"
    if soft is None:
        return ""
    classes, images = len(manifest["class_names"]), len(tensors[IMAGES])
    records = images * manifest.get("mosaic", 1) ** 2
    if soft.dtype != torch.float32 or soft.shape not in ((images, classes), (records, classes)):
        rows = f"{images}" if records == images else f"{images} or {records}"
        return f"'{SOFT_LABELS}' {_described(soft)}, and should be float32 of shape [{rows}, {classes}]"
    if not (soft.isfinite().all() and soft.min() >= 0 and ((soft.sum(dim=1) - 1).abs() < 1e-3).all()):
        return f"'{SOFT_LABELS}' are no shares: each row should be of numbers from 0 to 1 whose sum is 1"
    return ""


def _wrong_rows(tensors: Mapping[str, Tensor], manifest: Mapping[str, Any]) -> str:
    width, names = tensors[ROWS].shape[1], manifest.get("feature_names", ())
    if len(names) != width:
        return f"'{ROWS}' have {width} features, and the manifest has {len(names)} 'feature_names'"
    for name in ("mean", "scale"):
        tensor = tensors[name]
        if tensor.dtype != torch.float64 or tensor.shape != (width,):
            return f"'{name}' {_described(tensor)}, and should be float64 of shape [{width}]"
        if not tensor.isfinite().all() or (name == "scale" and (tensor <= 0).any()):
            return f"'{name}' holds numbers that are no {name} of a feature"
    return ""


def _wrong_nodes(tensors: Mapping[str, Tensor], manifest: Mapping[str, Any]) -> str:
    edges, nodes = tensors["edges"], len(tensors[NODES])
    if edges.dtype != torch.int64 or edges.ndim != 2 or len(edges) != 2:
        return f"'edges' {_described(edges)}, and should be int64 of shape [2, E]"
    if edges.numel() and (edges.min() < 0 or edges.max() >= nodes):
        span = f"'edges' go from {edges.min()} to {edges.max()}"
        return f"{span}; with {nodes} nodes they should be 0 to {nodes - 1}"
    return ""


def _described(tensor: Tensor) -> str:
    return f"are {str(tensor.dtype).removeprefix('torch.')} of shape {list(tensor.shape)}"

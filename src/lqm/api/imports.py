"""Import: a set that other software made becomes one that lqm evaluates, compares and shows."""

import hashlib
from dataclasses import fields
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import torch
from pydantic import Field

from lqm.api.checking import check_options
from lqm.api.domains import domain_of
from lqm.api.requests import SourceRequest
from lqm.condensed import CondensedImages
from lqm.condensed.artefact import MANIFEST, Manifest, read_manifest
from lqm.condensed.described import IMPORTED
from lqm.engine import environment, resolve_device
from lqm.images.domain import IMAGES
from lqm.images.imports import Given, ImportSettings, fitted, read_given
from lqm.recipes import fitting_recipe
from lqm.utils.errors import ArtifactError, ConfigError
from lqm.utils.files import file_hash
from lqm.utils.limits import limited_to
from lqm.utils.log import warn
from lqm.utils.memory import memory_for_reading
from lqm.utils.names import choose
from lqm.utils.paths import as_path
from lqm.utils.settings import check, make_settings

if TYPE_CHECKING:
    from lqm.images.sources import ImageSource
    from lqm.utils.given import Array

_Item = Annotated[int, Field(ge=0, lt=2**31, description="a whole number, at least 0")]
_LABELS = {"hard": False, "soft": True}


def import_set(
    data: "str | Path | tuple[Array, Array]",
    *,
    source: "str | Path | ImageSource",
    labels: str = "hard",
    normalised: bool = False,
    zca: bool = False,
    clip: bool = False,
    rate: float | None = None,
    mosaic: int = 1,
    item: int | None = None,
    protocol: str | None = None,
    out: str | Path | None = None,
    data_dir: str | Path | None = None,
    size: int | None = None,
    test_fraction: float | None = None,
    max_memory: str | int | None = None,
    show_progress: bool = True,
) -> CondensedImages:
    """Turn images and labels that other software made into a condensed set.

    Args:
        data: a `.npz`, `.pt` or `.parquet` file, a folder of class folders, or one that holds
            `images_best.pt` and `labels_best.pt`; or a pair of arrays or tensors, images and labels.
        source: the real images that the set stands for, as for `condense`.
        labels: `hard`, class numbers, or `soft`: rows of shares, or of logits, which go through softmax.
        normalised: whether the images are as networks see them: the source's mean and deviation of each
            channel, or its whitening, are undone.
        zca: whether networks see the images whitened, by the source's training images.
        clip: whether to cut pixels that lie outside [0, 1]; they are refused otherwise.
        rate: the learning rate that was learned with the images.
        mosaic: each image is so many by so many smaller ones.
        item: which set, where a file holds several, as those of DC and DM do.
        protocol: how the set is evaluated unless another one is asked for; else as others of the source.
        out: the folder to save to.
        data_dir: where named sources are.
        size: see `load_source`.
        test_fraction: see `load_source`.
        max_memory: the most that the content of a file may take, such as `4GB`.
        show_progress: whether to show how far the source is read.

    Raises:
        LqmError: when the files can't be used, or don't fit the source.
    """
    check_options(out=out, data_dir=data_dir, size=size, test_fraction=test_fraction)
    check("item", item, _Item | None)
    soft = choose(labels, _LABELS, "kind of labels")
    settings = make_settings(
        ImportSettings,
        {"normalised": normalised, "zca": zca, "clip": clip, "soft": soft, "rate": rate, "mosaic": mosaic},
    )
    asked = None if protocol is None else choose(protocol, IMAGES.evaluator.protocols, "protocol")
    request = SourceRequest(
        source=source,
        data_dir=data_dir,
        size=size,
        test_fraction=test_fraction,
        show_progress=show_progress,
    )
    if domain_of(request) is not IMAGES:
        raise ConfigError(f"'{source}' is no source of images, and sets of other records can't be imported")
    with limited_to(max_memory):
        given = _of_pair(data) if isinstance(data, tuple | list) else read_given(as_path(data, "data"), item)
        with memory_for_reading(source):
            real = IMAGES.load(request)
        made = fitted(given, real, settings)
    counts = made.labels.bincount(minlength=len(made.class_names))
    per_class = ceil(len(made.labels) / len(made.class_names))
    if counts.min() != counts.max():
        warn(
            f"the classes have {counts.min()} to {counts.max()} images; real ones beside it will be "
            f"{per_class} of each class"
        )
    device = resolve_device("auto")
    chosen = asked or IMAGES.evaluator.protocols[_protocol(made, real, per_class, device)]
    IMAGES.evaluator.require_suited(made, chosen)
    made.manifest.update(
        source=real.record,
        method=IMPORTED,
        distance=None,
        per_class=per_class,
        seed=0,
        settings=_file_record(given) | _given(settings) | ({} if item is None else {"item": item}),
        steps=0,
        seconds=0.0,
        recipe=None,
        origin=real.origin,
        evaluation=chosen.record,
        environment=environment(device),
    )
    if out is None:
        return made
    _require_own(as_path(out, "out"), made.manifest)
    return made.save(out)


def _require_own(folder: Path, manifest: Manifest) -> None:
    """Refuse a folder with another set than this one, which may have been imported before."""
    if not (folder / MANIFEST).is_file():
        return
    before = read_manifest(folder)
    if any(before.get(name) != manifest[name] for name in ("method", "source", "settings")):
        raise ArtifactError(f"{folder} holds another set; choose another folder by --out, or delete it")


def _of_pair(data: "tuple[Any, Any] | list[Any]") -> Given:
    """Arrays or tensors in memory."""
    if len(data) != 2:
        raise ConfigError(f"data has {len(data)} parts; it should be a path, or a pair of images and labels")
    images, labels = (
        part.detach().cpu().numpy() if isinstance(part, torch.Tensor) else np.asarray(part) for part in data
    )
    return Given(images, labels, "data")


def _protocol(made: CondensedImages, source: "ImageSource", per_class: int, device: torch.device) -> str:
    """The name of the protocol for the source's sets, or of the one that uses a learned rate."""
    own = fitting_recipe(source.recipes, IMPORTED, per_class, cpu=device.type == "cpu").protocol
    if made.learning_rate is None:
        return own
    return (
        "learned-200" if own == "quick-200" else "learned-1000" if made.soft_labels is None else "soft-1000"
    )


def _file_record(given: Given) -> dict[str, Any]:
    """The name and the SHA-256 of a file; of several, that of the lines which `sha256sum` writes of them."""
    if not given.files:
        digest = hashlib.sha256(given.images.tobytes() + given.labels.tobytes()).hexdigest()
        return {"sha256": digest}
    if len(given.files) == 1:
        return {"file": given.files[0].name, "sha256": file_hash(given.files[0])}
    root = Path(given.place) if Path(given.place).is_dir() else Path(given.place).parent
    lines = sorted(f"{file_hash(path)}  {path.relative_to(root).as_posix()}\n" for path in given.files)
    digest = hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()
    return {"file": Path(given.place).name or "folder", "sha256": digest}


def _given(settings: ImportSettings) -> dict[str, Any]:
    """The settings that are not the usual ones, as a manifest records them."""
    return {
        field.name: getattr(settings, field.name)
        for field in fields(settings)
        if getattr(settings, field.name) != field.default
    }

"""Where decoded images stay: in memory if they are few, else in a file of the cache."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lqm.images.sources.found import Found
from lqm.images.sources.labelled import Images
from lqm.images.sources.stack import InMemory
from lqm.utils.cache import Draft, Packed, cache_folder, drafted, load_kept
from lqm.utils.cache_files import cache_limit
from lqm.utils.errors import ArtifactError, DataError
from lqm.utils.limits import max_memory, size_text, stays_in_file
from lqm.utils.log import warn
from lqm.utils.stored_arrays import LazyArray, Records
from lqm.utils.tensor_drafts import TensorDraft

KIND = "images"
LAZILY = ("train.images", "test.images")
_REMEDY = "give a smaller --size, set LQM_CACHE to a folder with room, or raise --max-memory"


class InCache(TensorDraft):
    """Images that are written to a new file of the cache as they come."""

    def __init__(self, draft: Draft, room: "ImageRoom", image: NDArray[np.generic]) -> None:
        self._draft = draft
        metadata = draft.metadata({"class_names": room.class_names})
        super().__init__(draft.file, room.beside, room.counts, image.shape, image.dtype, metadata)

    def add(self, record: NDArray[np.generic]) -> None:
        """The next image."""
        with _writing(self._draft):
            super().add(record)

    def widen(self, channels: int) -> None:
        """Make all images that came colour ones."""
        with _writing(self._draft):
            super().widen(channels)

    def found(self) -> Found:
        """All images, which stay in the file."""
        with _writing(self._draft):
            self.finish()
            path = self._draft.keep()
        return unpack(load_kept(path, self._draft.key, LAZILY))


class ImageRoom:
    """Makes room for the images of a set, as much as they take.

    Args:
        key: of the set in the cache.
        labels: of the training and of the test images.
        class_names: the names of the classes.
        opened: closes what is opened for it, and deletes what is not finished.
    """

    def __init__(
        self,
        key: str,
        labels: tuple[Tensor, Tensor | None],
        class_names: tuple[str, ...],
        opened: ExitStack,
    ) -> None:
        parts = {"train": labels[0]} | ({} if labels[1] is None else {"test": labels[1]})
        self.beside = {f"{part}.labels": own for part, own in parts.items()}
        self.counts = {f"{part}.images": len(own) for part, own in parts.items()}
        self.class_names, self._key, self._labels, self._opened = class_names, key, labels, opened

    def make(self, total: int, image: NDArray[np.generic], place: str) -> InMemory | InCache:
        """Room for so many images such as this one, which has a place.

        Raises:
            DataError: when they are too many for the memory, and there is no room in the cache.
        """
        size = total * image.nbytes
        if not stays_in_file(size):
            return InMemory(total, image, place)
        try:
            draft = self._opened.enter_context(drafted(KIND, self._key))
            if size > cache_limit():
                raise ArtifactError(f"it may take {size_text(cache_limit())}, by LQM_CACHE_LIMIT")
            if shutil.disk_usage(draft.temporary.parent).free < size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return InCache(draft, self, image)
        except (OSError, ArtifactError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            if size > (limit := max_memory()):
                raise DataError(
                    f"{total:,} images such as {place} would take {size_text(size)}, above the limit of "
                    f"{size_text(limit)} of memory, and can't be kept in {_folder()} ({why}); {_REMEDY}"
                ) from error
            warn(f"the {total:,} images are held in memory: {_folder()} can't be written ({why})")
            return InMemory(total, image, place)

    def found(self, room: InMemory | InCache) -> Found:
        """The set, once all images have come."""
        if isinstance(room, InCache):
            return room.found()
        train, test = self._labels
        images = room.images
        held_out = None if test is None else Images(images[len(train) :], test)
        return Found(Images(images[: len(train)], train), held_out, self.class_names)


def pack(found: Found) -> Packed | None:
    """What a file of the cache has of a set; None if it stays in one already."""
    tensors: dict[str, Tensor] = {}
    for part, images in (("train", found.train), ("test", found.test)):
        if images is not None:
            if isinstance(images.images, LazyArray):
                return None
            tensors |= {f"{part}.images": images.images, f"{part}.labels": images.labels}
    return Packed(tensors, {"class_names": found.class_names})


def unpack(packed: Packed) -> Found:
    """The set that a file of the cache has."""
    every: dict[str, Records] = {**packed.tensors, **packed.stored}
    train, test = (
        Images(every[f"{part}.images"], packed.tensors[f"{part}.labels"])
        if f"{part}.images" in every
        else None
        for part in ("train", "test")
    )
    assert train
    return Found(train, test, tuple(packed.notes["class_names"]))


def _folder() -> str:
    try:
        return str(cache_folder() / KIND)
    except ArtifactError:
        return "the cache"


@contextmanager
def _writing(draft: Draft) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ArtifactError(
            f"the images can't be kept in {draft.temporary.parent} ({error.strerror or error}); {_REMEDY}"
        ) from error

"""Images as PNG files: one, or all of a condensed set on one sheet."""

from pathlib import Path

from torch import Tensor

from lqm.condensed.drawing import as_image, drawn_rows, encoded, sheet_size
from lqm.condensed.images import CondensedImages
from lqm.utils.errors import ArtifactError
from lqm.utils.files import write_atomically
from lqm.utils.limits import require_memory

_CELL_PIXELS = 48


def contact_sheet(condensed: CondensedImages, path: Path) -> None:
    """Write all images as one PNG, a row a class."""
    rows = [condensed.images[condensed.labels == label] for label in range(len(condensed.class_names))]
    width, height = sheet_size(rows, _CELL_PIXELS)
    require_memory(3 * width * height, f"one image of all of {condensed.path or 'this set'}")
    write_atomically(path, encoded(drawn_rows(rows, _CELL_PIXELS)))


def as_png(image: Tensor) -> bytes:
    """An 8-bit PNG file of an image: grey, colours, or colours and opacity."""
    if len(image) not in (1, 3, 4):
        raise ArtifactError(
            f"an image of {len(image)} channels can't be a PNG file, which has 1, 3 or 4; export to npz"
        )
    return encoded(as_image(image))

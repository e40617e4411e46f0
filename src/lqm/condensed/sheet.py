"""Images as PNG files: one, or all of a condensed set on one sheet."""

from io import BytesIO
from pathlib import Path

from PIL import Image
from torch import Tensor

from lqm.condensed.images import CondensedImages
from lqm.utils.errors import ArtifactError
from lqm.utils.files import write_atomically
from lqm.utils.limits import require_memory

_CELL_PIXELS = 48
_GAP_PIXELS = 4


def contact_sheet(condensed: CondensedImages, path: Path) -> None:
    """Write all images as one PNG, a row a class."""
    rows = [condensed.images[condensed.labels == label] for label in range(len(condensed.class_names))]
    zoom = -(-_CELL_PIXELS // condensed.images.shape[-1])
    cell = condensed.images.shape[-1] * zoom + _GAP_PIXELS
    width, height = (cell * count + _GAP_PIXELS for count in (max(map(len, rows)), len(rows)))
    require_memory(3 * width * height, f"one image of all of {condensed.path or 'this set'}")
    sheet = Image.new("RGB", (width, height), "white")
    for row, images in enumerate(rows):
        for column, image in enumerate(images):
            tile = as_colours(image).resize((cell - _GAP_PIXELS,) * 2, Image.Resampling.NEAREST)
            sheet.paste(tile, (_GAP_PIXELS + column * cell, _GAP_PIXELS + row * cell))
    write_atomically(path, _encoded(sheet))


def as_png(image: Tensor) -> bytes:
    """An 8-bit PNG file of an image: grey, colours, or colours and opacity."""
    if len(image) not in (1, 3, 4):
        raise ArtifactError(
            f"an image of {len(image)} channels can't be a PNG file, which has 1, 3 or 4; export to npz"
        )
    return _encoded(as_image(image))


def as_image(image: Tensor) -> Image.Image:
    """An image with the channels that it has: grey, colours, or colours and opacity."""
    pixels = (image * 255).round().byte().permute(1, 2, 0).numpy()
    return Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)


def as_colours(image: Tensor) -> Image.Image:
    """An image of one channel as grey, of three as colour."""
    return as_image(image[:3]).convert("RGB")


def _encoded(image: Image.Image) -> bytes:
    buffer = BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()

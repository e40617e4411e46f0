"""Images as PNG, one or many of them on a sheet."""

from collections.abc import Sequence
from io import BytesIO

from PIL import Image
from torch import Tensor

_GAP_PIXELS = 4


def sheet_size(rows: Sequence[Tensor], least: int) -> tuple[int, int]:
    """Width and height of a sheet of rows of images; see `drawn_rows`."""
    cell = _cell(rows, least) + _GAP_PIXELS
    return cell * max(map(len, rows)) + _GAP_PIXELS, cell * len(rows) + _GAP_PIXELS


def drawn_rows(rows: Sequence[Tensor], least: int) -> Image.Image:
    """Rows of images, [n, C, H, W] each, on one sheet; every image is `least` pixels wide, or a bit wider."""
    side = _cell(rows, least)
    sheet = Image.new("RGB", sheet_size(rows, least), "white")
    for row, images in enumerate(rows):
        for column, image in enumerate(images):
            tile = as_colours(image).resize((side, side), Image.Resampling.NEAREST)
            left, top = (_GAP_PIXELS + n * (side + _GAP_PIXELS) for n in (column, row))
            sheet.paste(tile, (left, top))
    return sheet


def as_image(image: Tensor) -> Image.Image:
    """An image with the channels that it has: grey, colours, or colours and opacity."""
    pixels = (image * 255).round().byte().permute(1, 2, 0).numpy()
    return Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)


def as_colours(image: Tensor) -> Image.Image:
    """An image of one channel as grey, of three as colour."""
    return as_image(image[:3]).convert("RGB")


def encoded(image: Image.Image) -> bytes:
    """A PNG file."""
    buffer = BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()


def _cell(rows: Sequence[Tensor], least: int) -> int:
    width = rows[0].shape[-1]
    return int(width * -(-least // width))

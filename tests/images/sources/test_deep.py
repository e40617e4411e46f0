"""Images of more than 8 bits a channel, which Pillow cuts to 8 bits without a word."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from lqm.images.sources import load_source
from lqm.utils.errors import DataError
from tests.images.sources.making import png, write


def deep_png(colour, channels):
    """A PNG of 8x8 pixels of 16 bits, written by hand: Pillow can't."""

    def chunk(name, content):
        both = name + content
        return struct.pack(">I", len(content)) + both + struct.pack(">I", zlib.crc32(both))

    rows = b"".join(b"\0" + bytes(range(16 * channels)) for _ in range(8))
    header = struct.pack(">IIBBBBB", 8, 8, 16, colour, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            chunk(b"IDAT", zlib.compress(rows)),
            chunk(b"IEND", b""),
        ]
    )


def deep_tiff(order, planar=1):
    """A TIFF of 8x8 pixels of 3 channels of 16 bits."""
    pixels = bytes(range(64)) * 6
    tags = [(256, 3, 1, 8), (257, 3, 1, 8), (258, 3, 3, None), (259, 3, 1, 1), (262, 3, 1, 2)]
    tags += [(273, 4, 1, None), (277, 3, 1, 3), (278, 3, 1, 8), (279, 4, 1, len(pixels)), (284, 3, 1, planar)]
    start = 8 + 2 + 12 * len(tags) + 4
    content = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(f"{order}IH", 8, len(tags))
    for tag, kind, count, value in tags:
        value = {258: start, 273: start + 6}.get(tag, value)
        packed = (value, 0) if kind == 3 and count == 1 else (value,)
        content += struct.pack(f"{order}HHI{'HH' if len(packed) == 2 else 'I'}", tag, kind, count, *packed)
    return content + bytes(4) + struct.pack(f"{order}HHH", 16, 16, 16) + pixels


def deep_jpeg2000():
    file = io.BytesIO()
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(file, "JPEG2000", no_jp2=True)
    content = bytearray(file.getvalue())
    assert content[:4] == b"\xff\x4f\xff\x51"
    for channel in range(3):
        assert content[42 + 3 * channel] == 7
        content[42 + 3 * channel] = 15
    return bytes(content)


def deep_avif():
    file = io.BytesIO()
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(file, "AVIF")
    content = bytearray(file.getvalue())
    content[content.index(b"av1C") + 6] |= 0x40
    start = content.index(b"pixi") + 8
    content[start + 1 : start + 4] = bytes([10, 10, 10])
    return bytes(content)


DEEP = {
    "png rgb": deep_png(2, 3),
    "png grey": deep_png(0, 1),
    "png grey with alpha": deep_png(4, 2),
    "png rgba": deep_png(6, 4),
    "tiff little": deep_tiff("<"),
    "tiff big": deep_tiff(">"),
    "tiff in planes": deep_tiff("<", 2),
    "ppm": b"P6 8 8 65535\n" + bytes(range(64)) * 6,
    "ppm of 9 bits": b"P6 8 8 256\n" + bytes(8 * 8 * 6),
    "ppm as text": b"P3 8 8 1023\n" + b"1 " * 192,
    "jpeg 2000": deep_jpeg2000(),
    "avif": deep_avif(),
}


@pytest.mark.parametrize("kind", DEEP)
def test_an_image_of_more_than_8_bits_is_refused_by_name(tmp_path, random, kind):
    pixels = random.integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)
    write(tmp_path / "mine.parquet", [*map(png, pixels[:5]), DEEP[kind]], [0, 1, 0, 1, 0, 1])
    with pytest.raises(DataError, match=r"row 5 of .*more than 8 bits a channel.*convert"):
        load_source(tmp_path / "mine.parquet", show_progress=False)


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "PPM", "JPEG2000", "AVIF", "BMP", "GIF", "WEBP", "JPEG"])
def test_images_of_8_bits_are_read(tmp_path, random, kind):
    contents = []
    for pixels in random.integers(0, 256, (6, 8, 8, 3), dtype=np.uint8):
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, kind)
        contents.append(file.getvalue())
    write(tmp_path / "mine.parquet", contents, [0, 1, 0, 1, 0, 1])
    assert load_source(tmp_path / "mine.parquet", show_progress=False).shape == (3, 8, 8)

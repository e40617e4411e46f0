"""Images of more than 8 bits a channel, which Pillow cuts to 8 bits without a word."""

from PIL import Image, PpmImagePlugin, TiffImagePlugin

from lqm.utils.errors import DataError

_BITS_PER_SAMPLE = 258


def refuse_deep(image: Image.Image, place: str, content: bytes = b"") -> None:
    """Refuse an image whose channels have more than 8 bits, by its mode or by the header of its file.

    Args:
        image: the image, opened; one whose pixels are loaded already is known by its mode alone.
        place: what to call it.
        content: the bytes of the file, for the formats whose depth Pillow does not keep.
    """
    if _is_deep(image, content):
        raise DataError(
            f"{place} has more than 8 bits a channel (16 or 32 bits, mode {image.mode}); convert it to 8 bits"
        )


def _is_deep(image: Image.Image, content: bytes) -> bool:
    if image.mode.startswith(("I", "F")):
        return True
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        bits = image.tag_v2.get(_BITS_PER_SAMPLE, (1,))
        return max(bits if isinstance(bits, tuple) else (bits,), default=1) > 8
    if isinstance(image, PpmImagePlugin.PpmImageFile):
        return any(isinstance(tile.args, tuple) and _number(tile.args[-1]) > 255 for tile in image.tile)
    if image.format == "PNG":
        return any(";16" in str(tile.args) for tile in getattr(image, "tile", ()))
    if image.format == "JPEG2000":
        return _deep_jpeg2000(content)
    if image.format == "AVIF":
        return _deep_avif(content)
    return False


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _deep_jpeg2000(content: bytes) -> bool:
    """By the first segment of the codestream, SIZ: 3 bytes a channel, of which the first is depth - 1."""
    start = content.find(b"\xff\x4f\xff\x51")
    if start < 0 or len(content) < start + 42:
        return False
    channels = int.from_bytes(content[start + 40 : start + 42], "big")
    return any(depth & 0x7F > 7 for depth in content[start + 42 : start + 42 + 3 * channels : 3])


def _deep_avif(content: bytes) -> bool:
    """By the boxes `av1C`, of one image or of its tiles: a flag says high bit depth (10 or 12)."""
    start = content.find(b"av1C")
    while start >= 0:
        if len(content) > start + 6 and content[start + 4] == 0x81 and content[start + 6] & 0x40:
            return True
        start = content.find(b"av1C", start + 4)
    return False

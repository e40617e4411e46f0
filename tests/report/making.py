"""Sets and pages of them that are made in a moment, and what a page says, read again."""

import base64
import json
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from PIL import Image

import lqm
from lqm.api.evaluation_result import evaluator_of
from lqm.evaluation.cases import Case, read_cases
from lqm.images.evaluation import EvaluationProtocol

SETTINGS = {"steps": 4, "network": "convnet:width=4", "real_batch": 16}
PROTOCOL = EvaluationProtocol(
    "tiny",
    epochs=20,
    networks=2,
    network="convnet:width=8",
    full_networks=1,
    full_steps=12,
    learning_rate=0.1,
)


def tiny_source(classes=3, each=8, channels=1, side=8, names=None, seed=0):
    """Images of noise, some brighter than others; made in Python, so that no command finds them again."""
    drawn = torch.randint(
        0,
        200,
        (classes * each, channels, side, side),
        generator=torch.Generator().manual_seed(seed),
        dtype=torch.uint8,
    )
    labels = torch.arange(classes).repeat_interleave(each)
    images = drawn + (50 * labels // classes).byte()[:, None, None, None]
    return lqm.ImageSource(
        name="mine",
        train=lqm.Images(images, labels),
        test=lqm.Images(images.flip(3), labels),
        class_names=tuple(names or (f"class {label}" for label in range(classes))),
    )


def chosen(source, folder, per_class=2, seed=0):
    """A set of real images, in no time."""
    return lqm.condense(
        source, method="random", per_class=per_class, seed=seed, out=folder, show_progress=False
    )


def case_of(label, condensed, folder="run"):
    """A set as it is looked at beside others."""
    return Case(label, condensed, Path(folder), evaluator_of(condensed))


def cases_of(folders):
    """Sets of folders, named beside each other."""
    return read_cases(folders, evaluator_of)


def rewritten(folder, **changes):
    """The set with another manifest."""
    condensed = lqm.load(folder)
    replace(condensed, manifest=condensed.manifest | changes).write(Path(folder))


class Parsed(HTMLParser):
    """Every element of a page with its attributes, its text, and that of scripts, styles and code."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.text, self.scripts, self.styles, self.code = [], [], [], [], []
        self._within = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._within = tag
        if tag in ("script", "style", "code"):
            {"script": self.scripts, "style": self.styles, "code": self.code}[tag].append("")

    def handle_endtag(self, tag):
        self._within = ""

    def handle_data(self, data):
        if self._within in ("script", "style"):
            {"script": self.scripts, "style": self.styles}[self._within][-1] += data
            return
        if self._within == "code":
            self.code[-1] += data
        self.text.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def data(self):
        """What the charts are drawn from; nothing but strict JSON is taken."""
        (place,) = [i for i, script in enumerate(self.of("script")) if script.get("id") == "data"]
        return json.loads(self.scripts[place], parse_constant=_never)


def read_page(path):
    return Parsed(Path(path).read_text(encoding="utf-8"))


def _never(constant):
    raise AssertionError(f"{constant} is no JSON, and JSON.parse stops at it")


def decoded(uri):
    """The pixels of an image in a page, [C, H, W]; grey ones have one channel."""
    head, _, text = uri.partition(",")
    assert head == "data:image/webp;base64"
    pixels = np.array(Image.open(BytesIO(base64.b64decode(text, validate=True))))
    grey = pixels.ndim == 2 or (pixels[..., :1] == pixels[..., 1:3]).all()
    return torch.from_numpy(np.atleast_3d(pixels)[..., :1] if grey else pixels).permute(2, 0, 1)


def bytes_of(image):
    """The 8-bit pixels of an image in [0, 1]."""
    return (image * 255).round().byte()


def unpacked(text, rows):
    return np.frombuffer(base64.b64decode(text, validate=True), "<f4").reshape(rows, -1)

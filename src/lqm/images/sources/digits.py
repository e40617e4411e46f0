"""The embedded source: scikit-learn's handwritten digits."""

import torch
from sklearn.datasets import load_digits

from lqm.images.sources.found import Found, Reading, finish
from lqm.images.sources.labelled import Images
from lqm.images.sources.source import OPERATIONS_WITHOUT_FLIP, ImageSource


def digits(reading: Reading) -> ImageSource:
    """The 1,797 handwritten digits of scikit-learn, 8x8, every fifth of each class held out for testing."""
    bunch = load_digits()
    labels = torch.tensor(bunch.target, dtype=torch.int64)
    images = torch.tensor(bunch.images, dtype=torch.float32).unsqueeze(1) / 16
    held_out = torch.zeros(len(labels), dtype=torch.bool)
    for label in range(10):
        held_out[(labels == label).nonzero().flatten()[4::5]] = True
    found = Found(
        train=Images(images[~held_out], labels[~held_out]),
        test=Images(images[held_out], labels[held_out]),
        class_names=tuple(str(name) for name in bunch.target_names),
    )
    return finish(found, reading, augmentation=OPERATIONS_WITHOUT_FLIP, recipes="digits")

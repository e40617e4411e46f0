"""What gradient matching and experts are for, at a size that takes seconds."""

from dataclasses import replace

import pytest
import torch

import lqm
from lqm.images.evaluation import PROTOCOLS, score
from lqm.images.sources import Images

PROTOCOL = replace(PROTOCOLS["quick-200"], networks=2)
SMALL = {"network": "convnet:width=16:depth=2", "real_batch": 32, "learning_rate": 0.1}


def accuracy(condensed, source):
    """The same networks, trained in the same order, for every set."""
    images = Images(*condensed.records())
    found = score(lambda j: images, source, PROTOCOL, seed=0, device=torch.device("cpu"))
    return sum(found.accuracies) / len(found.accuracies)


@pytest.fixture(scope="module")
def by_chance(digits):
    return accuracy(lqm.condense(digits, method="random", per_class=1, show_progress=False), digits)


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("dc", {"steps": 40}),
        ("dsa", {"steps": 40}),
        ("dance", {"steps": 20, "mosaic": 1, "pairs": 2, "expert_epochs": 4}),
    ],
)
def test_one_image_a_class_beats_a_random_real_one(digits, by_chance, method, settings):
    condensed = lqm.condense(
        digits, method=method, per_class=1, settings={**SMALL, **settings}, show_progress=False
    )
    assert accuracy(condensed, digits) > by_chance + 0.03

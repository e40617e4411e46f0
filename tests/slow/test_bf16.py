"""What lower precision does to a set: nothing that another seed would not do too."""

import statistics

import pytest
import torch

import lqm
from lqm.engine.probes import try_bf16
from lqm.images.evaluation import EvaluationProtocol, score
from lqm.images.sources import Images

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

PROTOCOL = EvaluationProtocol("short", epochs=100, networks=3, network="convnet:width=32", learning_rate=0.1)


def accuracies(digits, precision):
    """Of sets of three seeds, each judged by three networks."""
    found = []
    for seed in range(3):
        settings = {"steps": 150, "network": "convnet:width=32", "real_batch": 64}
        options = {"seed": seed, "precision": precision, "settings": settings, "show_progress": False}
        condensed = lqm.condense(digits, per_class=3, **options)
        images = Images(condensed.images, condensed.labels)
        judged = score(lambda j, p=images: p, digits, PROTOCOL, seed=seed, device=torch.device("cpu"))
        found.append(statistics.mean(judged.accuracies))
    return found


def test_a_set_learned_in_bf16_is_worth_as_much(digits):
    if problem := try_bf16("cpu").problem:
        pytest.skip(problem)
    exact, rounded = accuracies(digits, "fp32"), accuracies(digits, "bf16")
    assert rounded != exact
    assert statistics.mean(exact) > 0.7
    spread = max(0.01, max(exact) - min(exact))
    assert abs(statistics.mean(rounded) - statistics.mean(exact)) <= spread

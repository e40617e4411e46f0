"""What can't be used is refused in a sentence, before any folder is made."""

import pytest
import torch

import lqm
from lqm.utils.errors import ConfigError

TINY = {"steps": 2, "real_batch": 8, "network": "convnet:width=4:depth=1"}


def own_network(shape, classes):
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(torch.Size(shape).numel(), classes))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"seed": "a"}, "seed = 'a'.*"),
        ({"seed": 1.5}, "seed = 1.5"),
        ({"checkpoint_seconds": "x"}, "checkpoint_seconds = 'x'"),
        ({"settings": {"start": "noise", "init": "random"}}, "start.*init.*leave start out"),
    ],
)
def test_condense(tmp_path, options, reason):
    with pytest.raises(ConfigError, match=reason):
        lqm.condense("digits", out=tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("source", "options", "reason"),
    [
        ("digits", {"network": own_network}, "network that has a name.*leave the network of your own out"),
        ("digits", {"order": "shuffled"}, "order is for a stream.*classes_per_task"),
        ("digits-knn", {"split_seed": 3}, "split_seed is for a stream.*classes_per_task"),
        ("digits", {"seed": None}, "seed = None"),
    ],
)
def test_sketch(tmp_path, source, options, reason):
    with pytest.raises(ConfigError, match=reason):
        lqm.sketch(source, out=tmp_path / "sketch", encoders=2, show_progress=False, **options)
    assert not (tmp_path / "sketch").exists()


def test_gradients_are_matched_by_the_weights_that_learn():
    """A network of the user's own may have frozen layers."""

    def half_frozen(shape, classes):
        network = torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.Linear(64, 8), torch.nn.ReLU(), torch.nn.Linear(8, classes)
        )
        network[1].requires_grad_(False)
        return network

    settings = {"steps": 1, "real_batch": 8, "outer": 2, "inner": 1}
    made = lqm.condense(
        "digits", method="dc", network=half_frozen, per_class=1, settings=settings, show_progress=False
    )
    assert made.images.isfinite().all()


def test_a_bank_of_experts_is_listed_and_named_for_what_it_is(tmp_path, type_in):
    bank = tmp_path / "runs" / "bank"
    settings = {"network": TINY["network"]}
    lqm.experts("digits", out=bank, networks=2, epochs=1, settings=settings, show_progress=False)
    code, printed, _ = type_in("runs", tmp_path / "runs")
    assert code == 0
    assert "experts" in printed
    assert "done" in printed
    assert "broken" not in printed
    code, _, error = type_in("evaluate", bank)
    assert code == 1
    assert "--experts" in error

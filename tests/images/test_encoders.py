"""Where encoders come from: interpolated pairs, networks that train on S, and how augmentations are drawn."""

import pytest
import torch

from lqm.api.experts import experts
from lqm.banks import Experts
from lqm.images.augment import OPERATIONS, draw_several
from lqm.images.encoders import InterpolatedEncoders, interpolated
from lqm.images.networks import Logits, make_network
from lqm.images.problem import ImageProblem

CPU = torch.device("cpu")
NETWORK = "convnet:width=4:depth=2"


@pytest.fixture(scope="module")
def problem(tmp_path_factory, digits):
    out = tmp_path_factory.mktemp("encoders") / "experts"
    bank = experts(digits, out=out, networks=3, epochs=1, network=NETWORK, show_progress=False)
    return ImageProblem(
        class_names=digits.class_names,
        counts=(1,) * 10,
        seed=0,
        device=CPU,
        source=digits,
        experts=lambda: bank,
    )


def weights_of(encoder):
    return encoder.network.state_dict()


def equal(one, other):
    return all(one[name].equal(other[name]) for name in one) and one.keys() == other.keys()


def test_the_ends_of_an_interpolation_are_the_weights_themselves():
    first, last = (make_network("convnet:width=4:norm=batch", (1, 8, 8), 3).state_dict() for _ in range(2))
    assert equal(interpolated(first, last, 1.0), first)
    assert equal(interpolated(first, last, 0.0), last)
    half = interpolated(first, last, 0.5)
    for name, part in half.items():
        assert part.dtype == first[name].dtype
        torch.testing.assert_close(part.double(), (first[name].double() + last[name].double()) / 2)


def test_an_encoder_lies_between_the_first_and_last_weights_of_one_expert(problem):
    bank: Experts = problem.experts()
    mixed = InterpolatedEncoders(problem, NETWORK, 3)
    trained = InterpolatedEncoders(problem, NETWORK, 3, Logits, last=True)
    used = set()
    for n in range(12):
        last = weights_of(trained.at(n))
        (expert,) = (e for e in range(3) if equal(bank.snapshot(e, 1).below("weights"), last))
        used.add(expert)
        first = bank.snapshot(expert, 0).below("weights")
        shares = []
        for name, part in weights_of(mixed.at(n)).items():
            moved = last[name] - first[name]
            shares.append(((last[name] - part) / moved)[moved.abs() > 1e-3])
        shares = torch.cat([part.flatten() for part in shares])
        torch.testing.assert_close(shares, shares[:1].expand_as(shares), atol=1e-2, rtol=0)
        assert 0 <= shares.mean() <= 1
    assert used == {0, 1, 2}, "and all experts are drawn"


def test_fewer_pairs_draw_among_the_first_experts_and_the_same_number_draws_the_same(problem):
    bank: Experts = problem.experts()
    encoders = InterpolatedEncoders(problem, NETWORK, 1, last=True)
    for n in range(5):
        assert equal(weights_of(encoders.at(n)), bank.snapshot(0, 1).below("weights"))
    mixed = InterpolatedEncoders(problem, NETWORK, 3)
    assert equal(weights_of(mixed.at(4)), weights_of(mixed.at(4)))
    assert not equal(weights_of(mixed.at(4)), weights_of(mixed.at(5)))


def test_several_operations_are_flip_colour_one_of_three_and_cutout_in_that_order():
    draws, middle = torch.Generator().manual_seed(0), set()
    for _ in range(60):
        first, second, drawn, fourth = (one.operation for one in draw_several(OPERATIONS, draws))
        assert (first, second, fourth) == ("flip", "color", "cutout")
        middle.add(drawn)
    assert middle == {"crop", "scale", "rotate"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["cutout", "color", "crop"], ["color", "crop", "cutout"]),
        (["color", "crop"], ["color", "crop"]),
        (["cutout", "flip"], ["flip", "cutout"]),
        ([], []),
    ],
)
def test_operations_that_are_not_named_are_left_out(given, expected):
    drawn = draw_several(given, torch.Generator().manual_seed(0), rows=5)
    assert [one.operation for one in drawn] == expected
    assert all(len(one.parameters) == 5 for one in drawn)

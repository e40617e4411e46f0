"""DC, DSA, DCC and DSAC against a plain loop over the definition, with the same draws."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from benchmarks.ratios.plain_gradients import PlainGradients, gradient_of
from lqm.engine.randomness import seeded
from lqm.images.methods.gradients import DCCSettings, DCSettings, DSACSettings, DSASettings, build
from lqm.images.networks import Logits, make_network
from lqm.images.problem import ImageProblem
from lqm.methods.batch import Batch
from lqm.methods.objectives.gradients import GRADIENT_DISTANCES, GradientMatching
from lqm.utils.errors import ConfigError

CPU = torch.device("cpu")
SEED, PER_CLASS, OUTER, INNER, REAL = 5, 2, 3, 2, 12
RATE, MOMENTUM, NETWORK_RATE, TRAIN_BATCH = 0.3, 0.5, 0.05, 8
NETWORK = "convnet:width=6:depth=2"


def make_problem(source, per_class=PER_CLASS):
    counts = (per_class,) * len(source.class_names)
    return ImageProblem(class_names=source.class_names, counts=counts, seed=SEED, device=CPU, source=source)


def make_settings(kind, **more):
    values = {
        "outer": OUTER,
        "inner": INNER,
        "real_batch": REAL,
        "learning_rate": RATE,
        "momentum": MOMENTUM,
        "network_rate": NETWORK_RATE,
        "train_batch": TRAIN_BATCH,
        "network": NETWORK,
    }
    return kind(**values | more)


def make_pair(source, settings):
    """Our method and the plain loop."""
    ours = build(make_problem(source), settings)
    return ours, PlainGradients(source, PER_CLASS, SEED, settings)


def naive_row_cosine(real, synthetic):
    total = 0.0
    for one, other in zip(real, synthetic, strict=True):
        if one.ndim == 1:
            continue
        for row in range(one.shape[0]):
            a, b = one[row].reshape(-1), other[row].reshape(-1)
            total = total + 1 - a.dot(b) / (a.norm() * b.norm() + 1e-6)
    return total


@pytest.mark.parametrize("network", [NETWORK, f"{NETWORK}:norm=batch"])
@pytest.mark.parametrize(("kind", "augmented"), [(DCSettings, False), (DSASettings, True)])
def test_two_steps_are_those_of_the_plain_loop(digits, kind, augmented, network):
    ours, plain = make_pair(digits, make_settings(kind, network=network))
    assert plain.settings.augmented == augmented
    before = plain.images.detach().clone()
    assert before.equal(ours.synthetic.images)
    for i in range(2):
        assert ours.step(i)["loss"] == pytest.approx(plain.step(i), rel=1e-4)
    torch.testing.assert_close(ours.synthetic.images, plain.images, atol=2e-5, rtol=1e-5)
    assert (plain.images - before).abs().mean() > 0.01


@pytest.mark.parametrize(("kind", "augmented"), [(DCCSettings, False), (DSACSettings, True)])
def test_gradients_are_summed_after_the_warm_up(digits, kind, augmented):
    settings = make_settings(kind, warm_up=1)
    assert settings.augmented == augmented
    assert [settings.sums(step, 0) for step in range(2)] == [False, True]
    ours, plain = make_pair(digits, settings)
    for i in range(2):
        assert ours.step(i)["loss"] == pytest.approx(plain.step(i), rel=1e-4)
    torch.testing.assert_close(ours.synthetic.images, plain.images, atol=2e-5, rtol=1e-5)
    by_class = build(make_problem(digits), make_settings(kind, granularity="class"))
    assert [by_class.step(i) for i in range(2)][1] != plain.step(1)


def test_the_warm_up_is_of_the_first_ten_updates_of_its_steps():
    settings = DCCSettings()
    assert [settings.sums(*place) for place in ((0, 0), (249, 9), (249, 10), (250, 0))] == [
        False,
        False,
        True,
        True,
    ]
    assert not any(DCSettings().sums(step, 20) for step in (0, 999))


def test_of_one_class_the_sum_is_the_class(digits):
    problem = make_problem(digits)
    with seeded(0, "network"):
        encoder = problem.encoder_factory(NETWORK, Logits).of(make_network(NETWORK, digits.shape, 10))
    own, other = (
        Batch(digits.normalised(digits.by_class[3][part]), [3], [4]) for part in (range(4), range(4, 8))
    )
    objective = GradientMatching()
    summed = objective.loss(encoder, objective.target(encoder, [own], torch.Generator()), other)
    gradients = [gradient_of(encoder.network, batch.inputs, torch.full((4,), 3)) for batch in (own, other)]
    assert summed.item() == pytest.approx(naive_row_cosine(*gradients).item(), rel=1e-5)


@pytest.mark.parametrize(
    ("per_class", "loops"),
    [
        (1, (1, 1)),
        (5, (1, 1)),
        (10, (10, 50)),
        (20, (20, 25)),
        (49, (40, 15)),
        (50, (50, 10)),
        (80, (50, 10)),
    ],
)
def test_the_loops_are_those_of_the_papers_table_unless_they_are_given(per_class, loops):
    assert DCSettings().loops(per_class) == loops
    assert DCSettings(outer=7).loops(per_class) == (7, loops[1])
    assert DSASettings(outer=7, inner=3).loops(per_class) == (7, 3)


@pytest.mark.parametrize(
    ("per_class", "loops"), [(1, (10, 5)), (10, (10, 50)), (20, (10, 50)), (50, (50, 10))]
)
def test_summed_gradients_have_loops_of_their_own(per_class, loops):
    assert DCCSettings().loops(per_class) == loops


def test_dc_begins_with_noise_and_dsa_with_real_images(digits):
    noise = build(make_problem(digits, 5), make_settings(DCSettings)).synthetic.images.detach()
    assert noise.mean().item() == pytest.approx(0, abs=0.05)
    assert noise.std().item() == pytest.approx(1, abs=0.05)
    real = build(make_problem(digits), make_settings(DSASettings)).result()
    for image, label in zip(real.images, real.labels, strict=True):
        assert (digits.by_class[int(label)][:] - image).abs().flatten(1).amax(dim=1).min() < 1e-5


def draw_gradients():
    draws = torch.Generator().manual_seed(0)
    shapes = [(4, 3, 3, 3), (4,), (5, 8), (5,)]
    return [tuple(torch.randn(*shape, generator=draws) for shape in shapes) for _ in range(2)]


def test_gradient_distances_are_their_definitions():
    real, synthetic = draw_gradients()
    one, other = (torch.cat([part.reshape(-1) for part in parts]) for parts in (real, synthetic))
    cosine = F.cosine_similarity(one, other, dim=0)
    expected = {
        "row-cosine": naive_row_cosine(real, synthetic),
        "squared": sum((a - b) ** 2 for a, b in zip(one.tolist(), other.tolist(), strict=True)),
        "cosine": 1 - cosine,
        "conv-squared": (real[0] - synthetic[0]).square().sum(),
        "conv-absolute": (real[0] - synthetic[0]).abs().sum(),
    }
    assert set(expected) == set(GRADIENT_DISTANCES)
    for name, value in expected.items():
        assert GRADIENT_DISTANCES[name](real, synthetic).item() == pytest.approx(float(value), rel=1e-4)


def test_biases_and_norms_play_no_part_in_the_row_cosine_and_rows_of_zeros_count_one_each():
    real, synthetic = draw_gradients()
    changed = tuple(part * 7 if part.ndim == 1 else part for part in synthetic)
    distance = GRADIENT_DISTANCES["row-cosine"]
    assert distance(real, changed).equal(distance(real, synthetic))
    zeros = tuple(torch.zeros_like(part).requires_grad_() for part in real)
    found = distance(real, zeros)
    assert found.item() == 4 + 5
    found.backward()
    assert all(part.grad is None or part.grad.isfinite().all() for part in zeros)


@pytest.mark.parametrize("name", GRADIENT_DISTANCES)
def test_the_same_images_on_both_sides_have_no_gradient_distance(digits, name):
    problem = make_problem(digits)
    with seeded(0, "network"):
        network = make_network(NETWORK, digits.shape, 10)
    encoder = problem.encoder_factory(NETWORK, Logits).of(network)
    images = torch.cat([digits.normalised(own[:3]) for own in digits.by_class[:2]])
    batch = Batch(images, [0, 1], [3, 3])
    objective = GradientMatching(name)
    target = objective.target(encoder, [batch], torch.Generator())
    torch.testing.assert_close(
        objective.loss(encoder, target, batch), torch.zeros(1), atol=1e-3, rtol=0, check_device=False
    )
    assert not any(part.requires_grad for part in target)


def test_a_network_without_convolutions_is_refused_where_these_are_compared():
    gradient = (torch.ones(3, 4), torch.ones(3))
    with pytest.raises(ConfigError, match="no convolution"):
        GRADIENT_DISTANCES["conv-squared"](gradient, gradient)

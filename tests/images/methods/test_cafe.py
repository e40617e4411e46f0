"""CAFE and CAFE+DSA against a plain loop over the definition, with the same draws."""

from dataclasses import replace

import pytest
import torch

import lqm
from benchmarks.ratios.plain_cafe import PlainCAFE, cafe_loss, layers_of
from lqm.distances import DISTANCES
from lqm.engine.randomness import seeded
from lqm.images.methods.cafe import CAFEDSASettings, CAFESettings, build
from lqm.images.networks import make_network
from lqm.images.networks.activations import LayerMaps
from lqm.images.sources import Images, ImageSource
from lqm.methods.batch import Batch
from lqm.methods.objectives.discrimination import DiscriminativeMatching
from lqm.methods.objectives.features import FeatureMatching
from lqm.utils.errors import ConfigError
from tests.images.methods.making import problem_of

SEED, PER_CLASS, REAL, QUERY = 5, 2, 12, 8
RATE, MOMENTUM, NETWORK_RATE, TRAIN_BATCH = 0.03, 0.5, 0.1, 8
OUTER, INNER, WINDOW, STEADY, MOVED = 5, 4, 2, 0.03, 0.03
STEPS = 5
# Instance norm turns rounding into noise where maps have but four places, as after two poolings of a digit.
NETWORK, DEEPER = "convnet:width=6:depth=2", "convnet:width=6:depth=3:norm=batch"
WEIGHTS = {NETWORK: (0.1, 1.0, 1.0, 1.0), DEEPER: (0.1, 0.1, 1.0, 1.0, 1.0)}


def make_problem(source, distance="mean"):
    return problem_of(source, PER_CLASS, distance, SEED)


def make_settings(kind=CAFESettings, **more):
    values = {
        "steps": STEPS,
        "real_batch": REAL,
        "learning_rate": RATE,
        "momentum": MOMENTUM,
        "network_rate": NETWORK_RATE,
        "train_batch": TRAIN_BATCH,
        "network": NETWORK,
        "outer": OUTER,
        "inner": INNER,
        "query_batch": QUERY,
        "accuracy_window": WINDOW,
        "outer_range": STEADY,
        "inner_range": MOVED,
    }
    return kind(**values | more)


def naive_loss(network, real, synthetic):
    return cafe_loss(network, real, synthetic, CAFESettings().layer_weight, CAFESettings().class_weight)


@pytest.mark.parametrize("network", WEIGHTS)
@pytest.mark.parametrize(("kind", "augmented"), [(CAFESettings, False), (CAFEDSASettings, True)])
def test_two_steps_are_those_of_the_plain_loop(digits, kind, augmented, network):
    settings = make_settings(kind, network=network)
    assert settings.augmented == augmented
    ours = build(make_problem(digits), settings)
    plain = PlainCAFE(digits, PER_CLASS, SEED, settings)
    before = plain.images.detach().clone()
    # The rate is halved after three fifths of the five steps.
    for i in (2, 3):
        assert ours.step(i)["loss"] == pytest.approx(plain.step(i), rel=1e-4)
    torch.testing.assert_close(ours.synthetic.images, plain.images, atol=2e-5, rtol=1e-4)
    assert (plain.images - before).abs().mean() > 0.05


def naive_discrimination(real, synthetic):
    """The sum over real images of -log softmax of their dot products with the centres of the classes."""
    centres = [own.mean(dim=0) for own in synthetic]
    total = 0.0
    for label, own in enumerate(real):
        scores = torch.stack([own.detach() @ centre for centre in centres], dim=1)
        total = total + (scores.logsumexp(dim=1) - scores[:, label]).sum()
    return total


def objective_of(method):
    return method.passes[0].objective


def encoder_and_batches(digits, method_distance="mean", network=NETWORK, **more):
    """CAFE's objective, an encoder, and two batches of three classes of different size."""
    problem = make_problem(digits, method_distance)
    with seeded(0, "network"):
        fresh = make_network(network, digits.shape, 10).requires_grad_(False)
    encoder = problem.encoder_factory(network, LayerMaps).of(fresh)
    objective = objective_of(build(problem, make_settings(network=network, **more)))

    def batch(first, sizes):
        parts = [digits.by_class[c][first : first + size] for c, size in enumerate(sizes)]
        return Batch(digits.normalised(torch.cat(parts)), range(3), sizes)

    return objective, encoder, batch


def by_class(batch):
    return batch.by_class(batch.inputs)


@pytest.mark.parametrize("distance", ["mean", "lqm"])
@pytest.mark.parametrize("network", [NETWORK, "convnet:width=6:depth=1", "lenet", "vgg11", "resnet18"])
def test_layer_terms_are_0_when_s_is_the_real_batch(digits, distance, network):
    objective, encoder, batch = encoder_and_batches(digits, distance, network, class_weight=0)
    real = batch(0, [PER_CLASS] * 3)
    target = objective.target(encoder, [real], torch.Generator())
    same = objective.loss(encoder, target, real)
    torch.testing.assert_close(same, torch.zeros(3), atol=1e-4, rtol=0)
    assert (objective.loss(encoder, target, batch(40, [PER_CLASS] * 3)) > 0.1).all()


def test_the_real_images_of_classes_may_come_apart_or_together(digits):
    objective, encoder, batch = encoder_and_batches(digits)
    real, synthetic = batch(0, [7, 4, 9]), batch(40, [PER_CLASS] * 3)
    apart = [Batch(own, [c], [len(own)]) for c, own in enumerate(by_class(real))]
    found = [
        objective.loss(encoder, objective.target(encoder, parts, torch.Generator()), synthetic)
        for parts in ([real], apart)
    ]
    torch.testing.assert_close(*found)
    expected = naive_loss(encoder.network, by_class(real), by_class(synthetic))
    assert found[0].sum().item() == pytest.approx(expected.item(), rel=1e-5)


def test_another_distance_takes_the_place_of_the_mean_in_every_layer(digits):
    objective, encoder, batch = encoder_and_batches(digits, "lqm")
    real, synthetic = batch(0, [6, 6, 6]), batch(40, [PER_CLASS] * 3)
    found = objective.loss(encoder, objective.target(encoder, [real], torch.Generator()), synthetic)
    layers = [[layers_of(encoder.network, own) for own in by_class(side)] for side in (real, synthetic)]
    expected = 0.01 * naive_discrimination(*([own[-1] for own in side] for side in layers))
    for place, weight in enumerate(WEIGHTS[NETWORK]):
        for own, other in zip(*layers, strict=True):
            for x, y in zip(own[place].flatten(1).T, other[place].flatten(1).T, strict=True):
                low, high = x.sort().values[[1, 4]]
                near = y.sort().values
                expected = expected + weight * ((near[0] - low) ** 2 + (near[1] - high) ** 2) / 2
    assert found.sum().item() == pytest.approx(float(expected), rel=1e-4)


def test_synthetic_images_move_so_that_their_centres_tell_real_ones_apart(digits):
    _, encoder, batch = encoder_and_batches(digits)
    matching = FeatureMatching(DISTANCES["mean"], [2] * 3, weigh=lambda losses: 0 * losses[-1])
    objective = DiscriminativeMatching(matching, 0.01)
    target = objective.target(encoder, [batch(0, [20] * 3)], torch.Generator())
    assert not any(own.requires_grad for own in target.embeddings)
    images = batch(40, [2] * 3).inputs.requires_grad_()
    losses = []
    for _ in range(3):
        loss = objective.loss(encoder, target, Batch(images, range(3), [2] * 3)).sum()
        (gradient,) = torch.autograd.grad(loss, images)
        images = (images - 0.3 * gradient).detach().requires_grad_()
        losses.append(loss.item())
    assert losses[2] < losses[1] < losses[0]


def count_loops(digits, **settings):
    """Updates of S and epochs of the network in a step; S is one batch."""
    trained, updates = [], []

    class Counting(torch.nn.Conv2d):
        def forward(self, images):
            if torch.is_grad_enabled() and self.weight.requires_grad:
                trained.append(len(images))
            return super().forward(images)

    def make(shape, classes):
        layers = Counting(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 36, classes)
        return torch.nn.Sequential(*layers)

    problem = replace(make_problem(digits), network=make)
    method = build(problem, make_settings(train_batch=100, **settings))
    update = method.synthetic.update
    method.synthetic.update = lambda: (updates.append(1), update())
    method.step(0)
    assert set(trained) <= {2, 10 * PER_CLASS}, "two images are shown to a network when it is made"
    return len(updates), trained.count(10 * PER_CLASS)


# All images of each class are looked at, and the network hardly changes, so that its accuracy never moves.
STILL = {"network_rate": 1e-20, "query_batch": 10_000}


def test_loops_are_capped_where_accuracies_never_move(digits):
    assert count_loops(digits, **STILL, accuracy_window=3, outer=7, inner=6) == (3, 2 * 6)
    assert count_loops(digits, **STILL, accuracy_window=3, outer=7, inner=6, outer_range=0) == (7, 6 * 6)
    assert count_loops(digits, **STILL, accuracy_window=9, outer=4, inner=2) == (4, 3 * 2)
    assert count_loops(digits, **STILL, outer=1) == (1, 0)


def test_training_ends_when_accuracies_have_moved_and_a_step_when_they_are_steady(digits):
    moving = {"network_rate": 0.1, "query_batch": 10_000, "inner_range": 0.0}
    assert count_loops(digits, **moving, accuracy_window=2, outer=5, inner=9, outer_range=1.0) == (2, 2)
    assert count_loops(digits, **moving, accuracy_window=4, outer=5, inner=9, outer_range=0.0) == (5, 4 * 4)


def test_the_accuracy_before_the_last_update_is_logged(digits):
    logged = build(make_problem(digits), make_settings()).step(0)
    assert 0 <= logged["network_accuracy"] <= 1


def test_the_rate_is_halved_after_60_80_and_90_percent_of_the_steps():
    steps = [0, 1199, 1200, 1599, 1600, 1799, 1800, 1999]
    rates = [CAFESettings().rate(step) for step in steps]
    assert rates == [0.1, 0.1, 0.05, 0.05, 0.025, 0.025, 0.0125, 0.0125]
    assert [make_settings(learning_rate=1.0).rate(step) for step in range(STEPS)] == [1, 1, 1, 0.5, 0.25]


def condense(source, **options):
    small = {"steps": 2, "real_batch": 8, "network": NETWORK, "outer": 1, "query_batch": 4}
    settings = {**small, **options.pop("settings", {})}
    return lqm.condense(source, per_class=1, settings=settings, show_progress=False, **options)


def test_a_run_can_t_be_made_longer_since_its_rates_follow_from_its_length(digits, tmp_path):
    condense(digits, method="cafe", out=tmp_path / "run")
    with pytest.raises(ConfigError, match="steps"):
        condense(digits, method="cafe", out=tmp_path / "run", settings={"steps": 3})


@pytest.mark.parametrize("method", ["cafe", "cafe-dsa"])
def test_the_distance_is_the_mean_unless_another_is_given(digits, method):
    assert condense(digits, method=method).manifest["distance"]["name"] == "mean"
    assert condense(digits, method=method, distance="lqm").manifest["distance"]["name"] == "lqm"


@pytest.mark.parametrize(("classes", "size"), [(2, 9), (13, 16)])
def test_any_number_of_classes_and_any_size(classes, size):
    draws = torch.Generator().manual_seed(0)
    labels = torch.arange(classes).repeat_interleave(5)
    images = Images(torch.rand(len(labels), 3, size, size, generator=draws), labels)
    source = ImageSource("own", images, images, tuple(map(str, range(classes))))
    method = build(make_problem(source), make_settings(CAFEDSASettings, outer=2, inner=1))
    assert method.step(0)["loss"] > 0
    assert method.result().images.shape == (classes * PER_CLASS, 3, size, size)


def test_a_network_without_maps_is_refused(digits):
    with pytest.raises(ConfigError, match=r"no layers to match.*convnet"):
        build(make_problem(digits), make_settings(network="mlp"))

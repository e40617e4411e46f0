"""Trajectory matching against a plain loop, finite differences, and what must hold of any trajectory."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from lqm.methods.batch import Lesson
from lqm.methods.objectives.trajectory import Stretch, TrajectoryMatching, all_weights, named_parts

CLASSES, PER_CLASS, RATE = 3, 2, 0.3


class Encoder:
    """All that the objective asks of one."""

    def __init__(self, network):
        self.network = network


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Softplus(), nn.Flatten(), nn.Linear(64, CLASSES))
    return Encoder(layers.double())


def weights_of(network):
    return all_weights(network, dict(network.named_parameters())).detach()


def make_lesson(*, soft=False, rate=RATE):
    draws = torch.Generator().manual_seed(1)
    images = torch.randn(CLASSES * PER_CLASS, 1, 6, 6, generator=draws, dtype=torch.float64).requires_grad_()
    labels = torch.arange(CLASSES).repeat_interleave(PER_CLASS)
    if soft:
        logits = torch.randn(len(labels), CLASSES, generator=draws, dtype=torch.float64)
        labels = logits.softmax(dim=1).requires_grad_()
    sizes = [PER_CLASS] * CLASSES
    return Lesson(images, range(CLASSES), sizes, labels, torch.tensor([rate]).double().requires_grad_())


def make_stretch(network, steps, batch=4, seed=2):
    draws = torch.Generator().manual_seed(seed)
    start = weights_of(network)
    end = start + 0.1 * torch.randn(len(start), generator=draws, dtype=torch.float64)
    places = [torch.randperm(CLASSES * PER_CLASS, generator=draws)[:batch] for _ in range(steps)]
    return Stretch(start, end, [(chosen, lambda images: images.flip(3)) for chosen in places])


def arrived(network, stretch, lesson):
    """A student's plain SGD, by PyTorch's own optimiser."""
    network.load_state_dict({n: p.clone() for n, p in named_parts(network, stretch.start).items()})
    optimizer = torch.optim.SGD(network.parameters(), lr=lesson.rate.item())
    for places, change in stretch.batches:
        optimizer.zero_grad()
        F.cross_entropy(
            network(change(lesson.inputs[places].detach())), lesson.targets[places].detach()
        ).backward()
        optimizer.step()
    return weights_of(network)


@pytest.mark.parametrize("two_pass", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_the_loss_is_that_of_a_plain_sgd(encoder, two_pass, soft):
    lesson, stretch = make_lesson(soft=soft), make_stretch(encoder.network, 5)
    found = TrajectoryMatching(two_pass=two_pass).loss(encoder, stretch, lesson)
    end = arrived(encoder.network, stretch, lesson)
    expected = (end - stretch.end).square().sum() / (stretch.start - stretch.end).square().sum()
    assert found.shape == (1,)
    assert found.item() == pytest.approx(expected.item(), rel=1e-9)


@pytest.mark.parametrize("two_pass", [False, True])
def test_the_loss_is_nothing_at_the_target_and_one_where_the_student_stays(encoder, two_pass):
    lesson, stretch = make_lesson(), make_stretch(encoder.network, 4)
    reached = stretch._replace(end=arrived(encoder.network, stretch, lesson))
    objective = TrajectoryMatching(two_pass=two_pass)
    assert objective.loss(encoder, reached, lesson).item() == pytest.approx(0, abs=1e-12)
    assert objective.loss(encoder, stretch, make_lesson(rate=0.0)).item() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("soft", [False, True])
def test_the_exact_gradient_is_that_of_finite_differences(encoder, soft):
    stretch, given = make_stretch(encoder.network, 3), make_lesson(soft=soft)
    targets = [given.targets] if soft else []

    def loss(images, rate, *labels):
        lesson = Lesson(images, given.classes, given.sizes, labels[0] if labels else given.targets, rate)
        return TrajectoryMatching().loss(encoder, stretch, lesson)

    assert torch.autograd.gradcheck(loss, (given.inputs, given.rate, *targets), atol=1e-6, rtol=1e-4)


def gradients(encoder, steps, *, two_pass, soft=True, rate=RATE):
    lesson = make_lesson(soft=soft, rate=rate)
    TrajectoryMatching(two_pass=two_pass).loss(
        encoder, make_stretch(encoder.network, steps), lesson
    ).backward()
    return [part.grad for part in (lesson.inputs, lesson.rate, lesson.targets) if part.requires_grad]


@pytest.mark.parametrize("soft", [False, True])
def test_of_one_step_the_two_pass_gradient_is_the_exact_one(encoder, soft):
    exact, two_pass = (gradients(encoder, 1, two_pass=way, soft=soft) for way in (False, True))
    for one, other in zip(exact, two_pass, strict=True):
        assert one.abs().max() > 0
        torch.testing.assert_close(other, one)


def test_of_more_steps_it_leaves_out_what_a_record_changes_later(encoder):
    exact, two_pass = (gradients(encoder, 8, two_pass=way) for way in (False, True))
    for one, other in zip(exact, two_pass, strict=True):
        assert not torch.allclose(one, other, rtol=1e-2)
    small = [gradients(encoder, 8, two_pass=way, rate=0.01)[0].flatten() for way in (False, True)]
    assert 0.95 < F.cosine_similarity(*small, dim=0) < 1 - 1e-6


def test_two_passes_are_the_formula_of_their_paper(encoder):
    """dL/dx_i = 2/D * (rate * (end - start) + rate^2 * G)' * dg_i/dx_i, summed over the steps."""
    lesson, stretch = make_lesson(), make_stretch(encoder.network, 3)
    (found, *_) = gradients(encoder, 3, two_pass=True, soft=False)
    weights, steps, total = stretch.start, [], 0
    for places, change in stretch.batches:
        weights = weights.detach().requires_grad_()
        logits = torch.func.functional_call(
            encoder.network, named_parts(encoder.network, weights), (change(lesson.inputs[places]),)
        )
        (own,) = torch.autograd.grad(
            F.cross_entropy(logits, lesson.targets[places]), weights, create_graph=True
        )
        steps.append(own)
        total = total + own.detach()
        weights = weights - RATE * own.detach()
    along = 2 * (RATE * (stretch.end - stretch.start) + RATE**2 * total)
    along = along / (stretch.start - stretch.end).square().sum()
    expected = sum(torch.autograd.grad(own @ along, lesson.inputs, retain_graph=True)[0] for own in steps)
    torch.testing.assert_close(found, expected)


def test_weights_are_one_vector_and_back(encoder):
    network = encoder.network
    parts = named_parts(network, weights_of(network))
    assert [*parts] == [name for name, _ in network.named_parameters()]
    assert all(parts[name].equal(parameter) for name, parameter in network.named_parameters())

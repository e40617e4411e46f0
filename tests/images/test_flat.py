"""Adaptive SAM with the surrogate gap against plain NumPy, and what it is at its limits."""

import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from lqm.engine.randomness import generator, seeded
from lqm.images.flat import FlatGradients
from lqm.images.networks import ConvNet
from lqm.images.students import Student, draw_real


def make(norm="instance"):
    with seeded(0, "flat"):
        return ConvNet((1, 8, 8), 10, width=4, depth=2, norm=norm)


def batch_of(digits, number=0):
    return draw_real(digits, 64, generator(0, "batch", number), torch.device("cpu"))


def gradients(network, images, labels):
    """The gradient by all parameters as one vector in double precision."""
    exact = copy.deepcopy(network).double()
    loss = F.cross_entropy(exact(images.double()), labels)
    return flat(torch.autograd.grad(loss, list(exact.parameters())))


def flat(tensors):
    return torch.cat([tensor.detach().flatten() for tensor in tensors]).double().numpy()


def moved(network, step):
    """The network with a vector added to its parameters."""
    other = copy.deepcopy(network).double()
    parts = torch.as_tensor(step).split([weight.numel() for weight in other.parameters()])
    with torch.no_grad():
        for weight, part in zip(other.parameters(), parts, strict=True):
            weight += part.view_as(weight)
    return other


def by_definition(network, images, labels, rho, alpha):
    """(g2, v, g2 - alpha v), by the definitions."""
    w, g = flat(network.parameters()), gradients(network, images, labels)
    e = rho * w**2 * g / (np.linalg.norm(np.abs(w) * g) + 1e-12)
    g2 = gradients(moved(network, e), images, labels)
    cosine = g @ g2 / (np.linalg.norm(g) * np.linalg.norm(g2))
    v = g - cosine * np.linalg.norm(g) * g2 / np.linalg.norm(g2)
    return g2, v, g2 - alpha * v


def turned(network, images, labels, rho, alpha):
    """What the optimiser gets, as one vector."""

    def loss():
        return F.cross_entropy(network(images), labels)

    network.zero_grad()
    loss().backward()
    FlatGradients(rho, alpha).replace(network, loss)
    return flat(weight.grad for weight in network.parameters())


@pytest.mark.parametrize(("rho", "alpha"), [(0.01, 0.3), (0.5, 1.0), (0.5, 0.0)])
def test_gradients_are_those_of_the_definition(digits, rho, alpha):
    network, batch = make(), batch_of(digits)
    _, _, expected = by_definition(network, *batch, rho, alpha)
    found = turned(network, *batch, rho, alpha)
    assert np.linalg.norm(found - expected) < 1e-5 * np.linalg.norm(expected)
    assert np.linalg.norm(found - gradients(network, *batch)) > 1e-3 * np.linalg.norm(expected)


def test_the_gap_is_orthogonal_to_the_gradient_uphill_and_without_it_adaptive_sam_is_left(digits):
    network, batch = make(), batch_of(digits)
    sam, both = (turned(network, *batch, 0.5, alpha) for alpha in (0.0, 1.0))
    g2, v, _ = by_definition(network, *batch, 0.5, 0.0)
    np.testing.assert_allclose(sam, g2, atol=1e-5 * np.linalg.norm(g2))
    gap = sam - both
    assert np.linalg.norm(gap) > 0.01 * np.linalg.norm(sam)
    assert abs(gap @ sam) < 1e-5 * np.linalg.norm(gap) * np.linalg.norm(sam)
    np.testing.assert_allclose(gap, v, atol=1e-5 * np.linalg.norm(g2))


@pytest.mark.parametrize("norm", ["instance", "batch"])
def test_without_a_step_up_it_is_plain_sgd_bit_for_bit(digits, norm):
    """Running statistics of batch norms included, though the network sees the batch twice."""
    plain = Student(make(norm), momentum=0.5)
    flat_one = Student(make(norm), momentum=0.5, flat=FlatGradients(rho=0.0, alpha=0.0))
    for number in range(3):
        for student in (plain, flat_one):
            student.learn(*batch_of(digits, number))
    expected = plain.state()
    assert all(tensor.equal(expected[name]) for name, tensor in flat_one.state().items())


def test_a_step_of_sgd_goes_along_these_gradients_from_the_weights_themselves(digits):
    network, batch = make(), batch_of(digits)
    before = flat(network.parameters())
    _, _, direction = by_definition(network, *batch, 0.5, 0.3)
    student = Student(network, momentum=0.0, weight_decay=0.0, flat=FlatGradients(rho=0.5, alpha=0.3))
    student.set_rate(0.1)
    student.learn(*batch)
    np.testing.assert_allclose(flat(network.parameters()), before - 0.1 * direction, atol=1e-6)
    assert not any(name.startswith("momentum") for name in student.state())

"""Second derivatives in cheaper ways are torch's own."""

from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.profiler import ProfilerActivity, profile

from lqm.images.networks import make_network
from lqm.methods.twice import differentiated_twice

_NETWORKS = ["convnet:width=8", "convnet:width=8:pooling=max", "convnet:width=8:norm=layer", "lenet"]


class Odd(nn.Module):
    """Convolutions and poolings of every kind, which are called as one may call them."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, stride=2, padding=1, bias=False)
        self.second = nn.Conv2d(4, 8, 3, padding=(2, 1), dilation=(2, 1), groups=2)
        self.third = nn.Conv2d(8, 4, 3, padding="same")
        self.last = nn.Linear(4 * 4 * 4 + 4 * 5 * 5 + 4 * 4, 10)

    def forward(self, images):
        maps = self.third(self.second(self.first(images)).sigmoid()).sigmoid()
        pooled = [
            F.avg_pool2d(maps, kernel_size=(2, 2)),
            F.avg_pool2d(F.pad(maps, (0, 1, 0, 1)), 2, ceil_mode=True),
            F.avg_pool2d(maps, 3, stride=2, padding=1)[..., :2, :2],
        ]
        return self.last(torch.cat([part.flatten(1) for part in pooled], dim=1))


def _network(spec):
    torch.manual_seed(0)
    network = Odd() if spec == "odd" else make_network(spec, (3, 32, 32), 10)
    return network.double().eval()


def _second(network, images, around, by):
    labels = torch.arange(len(images)) % 10
    weights = list(network.parameters())
    with around:
        logits = network(images)
    gradient = torch.autograd.grad(F.cross_entropy(logits, labels), weights, create_graph=True)
    draws = torch.Generator().manual_seed(1)
    value = sum(
        (part * torch.randn(part.shape, generator=draws, dtype=part.dtype)).sum() + part.square().sum()
        for part in gradient
    )
    return [
        *gradient,
        *torch.autograd.grad(value, [images, *(weights if by == "all" else [])], materialize_grads=True),
    ]


@pytest.mark.parametrize("by", ["images", "all"])
@pytest.mark.parametrize("spec", [*_NETWORKS, "odd"])
def test_gradients_of_gradients_are_those_of_torch(spec, by):
    network = _network(spec)
    side = 16 if spec == "odd" else 32
    images = torch.randn(3, 3, side, side, dtype=torch.double, requires_grad=True)
    found = _second(network, images, differentiated_twice(images, constant=by == "images"), by)
    expected = _second(network, images, nullcontext(), by)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10)


def test_second_derivatives_by_weights_that_are_constant_are_not_found():
    network, images = _network("convnet:width=8"), torch.randn(3, 3, 32, 32, dtype=torch.double)
    images.requires_grad_()
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        _second(network, images, differentiated_twice(images, constant=True), "images")
    counts = {event.key: event.count for event in seen.key_averages()}
    # Three layers forward, again along the weights' gradients, and two along the maps' gradients.
    assert counts["aten::conv2d"] == 3 + 3 + 2
    # Three of the first gradient, three by the input of a gradient, three of the forward pass.
    assert counts["aten::convolution_backward"] == 3 + 3 + 3
    # Three norms of the first gradient, and three of the forward pass.
    assert counts["aten::native_group_norm_backward"] == 3 + 3


def test_in_a_lower_precision_all_stays_as_it_is():
    network, images = _network("convnet:width=8").float(), torch.randn(3, 3, 32, 32, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        cheaper, plain = (
            _second(network, images, around, "images")
            for around in (differentiated_twice(images, constant=True), nullcontext())
        )
    for one, other in zip(cheaper, plain, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)

import copy
import functools

import pytest
import torch
from safetensors.torch import load, save
from torch import nn

from lqm.images.networks import ConvNet, Network, factory_name, make_network
from lqm.utils.errors import ConfigError
from tests.images.networks.making import in_chunks

SHAPE = (1, 8, 8)


class Small(nn.Module):
    """A usual module: its first declared linear layer is its last in execution."""

    def __init__(self, shape, classes):
        super().__init__()
        self.head = nn.Linear(5, classes)
        self.body = nn.Sequential(
            nn.Conv2d(shape[0], 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 5)
        )
        self.dropout = nn.Dropout(0.5)

    def forward(self, images):
        return self.head(self.dropout(self.body(images).tanh()))


class Ending(nn.Module):
    """A linear network with something after its last layer."""

    def __init__(self, after):
        super().__init__()
        self.linear = nn.Linear(64, 10)
        self.after = after

    def forward(self, images):
        return self.after(self.linear(images.flatten(1)))


def test_the_features_are_the_input_of_the_last_linear_layer():
    network = make_network(Small, SHAPE, 10).eval()
    assert isinstance(network, Network)
    module = network.features.module
    images = torch.randn(6, *SHAPE)
    assert network.classifier is module.head
    assert network(images).equal(module(images))
    assert network.embed(images).equal(module.body(images).tanh())
    torch.testing.assert_close(network.classifier(network.embed(images)), network(images))
    assert network.features(images).equal(network.embed(images))


def test_features_have_gradients_of_images_and_of_weights():
    network = make_network(Small, SHAPE, 10)
    images = torch.randn(6, *SHAPE, requires_grad=True)
    network.embed(images).square().sum().backward()
    assert (images.grad.flatten(1).abs().sum(dim=1) > 0).all()
    assert network.features.module.body[0].weight.grad.abs().sum() > 0
    assert network.classifier.weight.grad is None


def test_every_parameter_is_there_once():
    network = make_network(Small, SHAPE, 10)
    module = network.features.module
    assert len(list(network.parameters())) == len(list(module.parameters()))
    assert len(network.state_dict()) == len(module.state_dict())
    assert [m for m in network.modules() if isinstance(m, nn.Linear)] == [module.head, module.body[4]]


def test_the_state_goes_to_bytes_and_back():
    network, other = (make_network(Small, SHAPE, 10).eval() for _ in range(2))
    images = torch.randn(3, *SHAPE)
    assert not other(images).equal(network(images))
    other.load_state_dict(load(save(network.state_dict())))
    assert other(images).equal(network(images))
    assert other.embed(images).equal(network.embed(images))


def test_a_copy_is_a_network_of_its_own():
    network = make_network(Small, SHAPE, 10).eval()
    copied = copy.deepcopy(network)
    images = torch.randn(3, *SHAPE)
    assert copied.classifier is copied.features.module.head
    assert copied.classifier is not network.classifier
    assert copied.embed(images).equal(network.embed(images))
    with torch.no_grad():
        copied.features.module.body[4].weight.zero_()
    assert not copied.embed(images).equal(network.embed(images))
    assert copied.double().embed(images.double()).dtype == torch.float64


def test_embedding_leaves_no_hooks_and_modes_are_kept():
    def frozen(shape, classes):
        module = Small(shape, classes)
        module.body[1].eval()
        return module

    network = make_network(frozen, SHAPE, 10)
    network.embed(torch.randn(2, *SHAPE))
    assert not any(m._forward_pre_hooks for m in network.modules())
    assert network.training
    assert network.features.module.head.training
    assert not network.features.module.body[1].training


def test_the_probe_changes_no_running_statistics():
    network = make_network(Small, SHAPE, 10)
    assert network.features.module.body[1].num_batches_tracked == 0


def test_chunks_and_batch_norm():
    network = make_network(lambda shape, classes: Small(shape, classes), SHAPE, 10)
    network.features.module.dropout.p = 0.0
    images = torch.randn(300, *SHAPE)
    torch.testing.assert_close(in_chunks(network, images), network.embed(images))
    network.eval()
    torch.testing.assert_close(in_chunks(network, images), network.embed(images))


def test_a_linear_layer_that_is_used_twice_counts_where_it_is_last():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(64, 64)

        def forward(self, images):
            return self.linear(self.linear(images.flatten(1)).relu())

    network = make_network(lambda shape, classes: Twice(), SHAPE, 64)
    images = torch.randn(2, *SHAPE)
    assert network.embed(images).equal(network.classifier(images.flatten(1)).relu())


def test_a_network_is_used_as_it_is():
    made = []

    def factory(shape, classes):
        made.append(ConvNet(shape, classes, width=4))
        return made[0]

    assert make_network(factory, SHAPE, 10) is made[0]


REFUSED = [
    (lambda shape, classes: Ending(nn.Softmax(dim=1)), "last linear layer"),
    (lambda shape, classes: Ending(lambda logits: logits * 2), "last linear layer"),
    (lambda shape, classes: nn.Sequential(nn.Conv2d(1, 10, 8), nn.Flatten()), "no linear layer"),
    (
        lambda shape, classes: nn.Sequential(nn.Flatten(), nn.Linear(64, 3)),
        "[2, 3]",
    ),
    (lambda shape, classes: Ending(lambda logits: (logits, None)), " tuple "),
    (lambda shape, classes: nn.Linear(8, 10), "[2, 1, 8, 10]"),
]


@pytest.mark.parametrize(("factory", "sentence"), REFUSED)
def test_a_module_without_a_last_linear_layer_is_refused_in_one_sentence(factory, sentence):
    with pytest.raises(ConfigError) as caught:
        make_network(factory, SHAPE, 10)
    assert sentence in str(caught.value)
    assert f"{Network.__name__} with features and classifier" in str(caught.value)


def failing(shape, classes):
    raise ValueError("I take no grey\nat all")


@pytest.mark.parametrize(
    ("factory", "sentence"),
    [
        (failing, r"own:failing .*\(1, 8, 8\).*10 classes.*I take no grey"),
        (lambda: None, "function of shape and classes"),
        (lambda shape, classes: "convnet", r"\bstr\b.*torch module"),
        (lambda shape, classes: nn.Linear(7, 10), r"\(1, 8, 8\).*mat1 and mat2"),
        (nn.Linear(8, 10), "function of shape and classes"),
    ],
)
def test_a_factory_that_fails_is_one_sentence(factory, sentence):
    with pytest.raises(ConfigError, match=sentence) as caught:
        make_network(factory, SHAPE, 10)
    assert "\n" not in str(caught.value)


def test_factories_have_names_for_records():
    assert factory_name(failing) == "own:failing"
    assert factory_name(Small) == "own:Small"
    assert factory_name(functools.partial(failing)) == "own:partial"

import pytest
import torch
from torch import nn

from lqm.engine.randomness import seeded
from lqm.images.networks import ConvNet, make_network
from lqm.utils.errors import ConfigError
from tests.images.networks.making import in_chunks


@pytest.mark.parametrize(
    ("shape", "width", "features"),
    [
        ((3, 32, 32), 128, 2048),
        ((1, 28, 28), 128, 2048),
        ((1, 8, 8), 64, 64),
        ((3, 64, 64), 16, 1024),
        ((4, 9, 9), 5, 5),
    ],
)
def test_latent_features_are_those_of_the_field(shape, width, features):
    network = ConvNet(shape, 10, width)
    images = torch.randn(2, *shape)
    assert network.embed(images).shape == (2, features)
    assert network(images).shape == (2, 10)


def test_parameters_at_cifar_are_about_320_thousand():
    assert sum(p.numel() for p in ConvNet((3, 32, 32), 10).parameters()) == 320_010


def test_the_default_is_made_layer_by_layer_as_the_field_makes_it():
    torch.manual_seed(0)
    network = ConvNet((3, 32, 32), 10)
    torch.manual_seed(0)
    layers = []
    for channels in (3, 128, 128):
        convolution = nn.Conv2d(channels, 128, 3, padding=1)
        layers += [convolution, nn.GroupNorm(128, 128), nn.ReLU(), nn.AvgPool2d(2)]
    expected = nn.Sequential(*layers, nn.Flatten(), nn.Linear(2048, 10))
    assert [type(layer) for layer in network.features] == [type(layer) for layer in expected[:-1]]
    for ours, theirs in zip(network.parameters(), expected.parameters(), strict=True):
        assert ours.equal(theirs)
    images = torch.randn(2, 3, 32, 32)
    assert network(images).equal(expected(images))


def test_group_norm_with_a_group_a_channel_is_instance_norm():
    network = ConvNet((1, 16, 16), 2, width=4)
    after_convolution = network.features[0](torch.randn(3, 1, 16, 16))
    expected = torch.nn.functional.instance_norm(after_convolution)
    torch.testing.assert_close(network.features[1](after_convolution), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("norm", ["instance", "group", "layer", "none"])
def test_images_in_a_batch_do_not_touch_each_other_and_chunks_change_nothing(norm):
    network = make_network(f"convnet:width=8:norm={norm}", (1, 8, 8), 10)
    images = torch.randn(600, 1, 8, 8)
    torch.testing.assert_close(in_chunks(network, images), network.embed(images))


def test_batch_norm_sees_all_images_at_once_in_training_and_each_alone_in_evaluation():
    network = make_network("convnet:width=4:norm=batch", (1, 8, 8), 10)
    images = torch.randn(600, 1, 8, 8)
    torch.testing.assert_close(in_chunks(network, images), network.embed(images))
    network.eval()
    together = network.embed(images)
    torch.testing.assert_close(in_chunks(network, images), together)
    torch.testing.assert_close(network.embed(images[:1]), together[:1], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("norm", "kind"),
    [("instance", nn.GroupNorm), ("batch", nn.BatchNorm2d), ("group", nn.GroupNorm), ("layer", nn.LayerNorm)],
)
def test_norms(norm, kind):
    layer = make_network(f"convnet:width=8:norm={norm}", (1, 8, 8), 2).features[1]
    assert isinstance(layer, kind)
    over = {"instance": (2, 3), "batch": (0, 2, 3), "group": None, "layer": (1, 2, 3)}[norm]
    maps = torch.randn(5, 8, 8, 8) * 3 + 1
    normalised = layer(maps)
    if norm == "group":
        maps, normalised, over = maps.view(5, 4, -1), normalised.view(5, 4, -1), (2,)
    mean = maps.mean(dim=over, keepdim=True)
    std = maps.std(dim=over, keepdim=True, correction=0)
    torch.testing.assert_close(normalised, (maps - mean) / std, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("activation", "formula"),
    [
        ("relu", lambda x: x.clamp(min=0)),
        ("leaky", lambda x: torch.where(x > 0, x, 0.01 * x)),
        ("sigmoid", lambda x: 1 / (1 + (-x).exp())),
        ("swish", lambda x: x / (1 + (-x).exp())),
    ],
)
def test_activations_are_layers(activation, formula):
    network = make_network(f"convnet:width=4:norm=none:activation={activation}", (1, 8, 8), 2)
    layer = network.features[1]
    assert isinstance(layer, nn.Module)
    values = torch.linspace(-3, 3, 50)
    torch.testing.assert_close(layer(values), formula(values))


def test_poolings():
    images = torch.randn(2, 1, 8, 8)
    sizes = {}
    for pooling in ("average", "max", "none"):
        network = make_network(f"convnet:width=4:depth=2:pooling={pooling}", (1, 8, 8), 2)
        sizes[pooling] = network.embed(images).shape[1]
        assert network(images).shape == (2, 2)
    assert sizes == {"average": 4 * 2 * 2, "max": 4 * 2 * 2, "none": 4 * 8 * 8}
    assert isinstance(make_network("convnet:pooling=max", (1, 8, 8), 2).features[3], nn.MaxPool2d)


@pytest.mark.parametrize(("size", "largest"), [(8, 3), (9, 3), (11, 3), (28, 5), (32, 5), (64, 6)])
def test_a_depth_that_is_too_large_names_the_largest_that_works(size, largest):
    with pytest.raises(ConfigError, match=rf"depth {largest + 1}\b.*\b{largest}$"):
        make_network(f"convnet:width=4:depth={largest + 1}", (1, size, size), 2)
    network = make_network(f"convnet:width=4:depth={largest}", (1, size, size), 2)
    images = torch.randn(2, 1, size, size)
    assert (network.embed(images) != 0).any()
    assert make_network(f"convnet:width=4:depth={largest + 1}:pooling=none", (1, size, size), 2)(images).any()


def test_group_norm_asks_for_a_width_that_its_groups_divide():
    with pytest.raises(ConfigError, match=r"width.*\b4\b"):
        make_network("convnet:width=6:norm=group", (1, 8, 8), 2)


def test_the_same_seed_gives_the_same_network():
    def weights(step):
        with seeded(0, "network", step):
            return torch.nn.utils.parameters_to_vector(ConvNet((1, 8, 8), 10, width=4).parameters())

    assert weights(1).equal(weights(1))
    assert not weights(1).equal(weights(2))

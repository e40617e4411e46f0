import pytest
import torch

from lqm.engine.randomness import seeded
from lqm.images.networks import ConvNet, embed_in_chunks


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


def test_group_norm_with_a_group_a_channel_is_instance_norm():
    network = ConvNet((1, 16, 16), 2, width=4)
    after_convolution = network.features[0](torch.randn(3, 1, 16, 16))
    expected = torch.nn.functional.instance_norm(after_convolution)
    torch.testing.assert_close(network.features[1](after_convolution), expected, atol=1e-5, rtol=1e-5)


def test_pictures_in_a_batch_do_not_touch_each_other_and_chunks_change_nothing():
    network = ConvNet((1, 8, 8), 10, width=6)
    images = torch.randn(600, 1, 8, 8)
    torch.testing.assert_close(embed_in_chunks(network, images), network.embed(images))


def test_the_same_seed_gives_the_same_network():
    def weights(step):
        with seeded(0, "network", step):
            return torch.nn.utils.parameters_to_vector(ConvNet((1, 8, 8), 10, width=4).parameters())

    assert weights(1).equal(weights(1))
    assert not weights(1).equal(weights(2))

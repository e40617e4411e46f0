import pytest
import torch
from torch import nn

from lqm.images.networks import NETWORKS, check_spec, describe, make_network
from lqm.utils.errors import ConfigError
from tests.images.networks.making import in_chunks

WITH_NORM = ["convnet", "vgg11", "resnet18"]
ALL = [*NETWORKS, *(f"{name}:norm=batch" for name in WITH_NORM)]


def convolution(before, after, kernel, bias=True):
    return before * after * kernel**2 + after * bias


def linear(before, after):
    return before * after + after


# Parameters at CIFAR-10 (3x32x32, 10 classes), from the layers as the field describes them.
PARAMETERS = {
    # 3,072 pixels; two hidden layers of 128.
    "mlp": linear(3072, 128) + linear(128, 128) + linear(128, 10),
    # 32 -> 28 -> 14 -> 10 -> 5: the first linear layer is fed 16 * 5 * 5.
    "lenet": convolution(3, 6, 5)
    + convolution(6, 16, 5)
    + linear(400, 120)
    + linear(120, 84)
    + linear(84, 10),
    # Three poolings: 192 * 4 * 4 features.
    "alexnet": convolution(3, 128, 5)
    + convolution(128, 192, 5)
    + convolution(192, 256, 3)
    + convolution(256, 192, 3)
    + convolution(192, 192, 3)
    + linear(192 * 16, 10),
    # Eight convolutions, each with a scale and a shift a channel; five poolings: 512 * 1 * 1 features.
    "vgg11": sum(
        convolution(before, after, 3) + 2 * after
        for before, after in [(3, 64), (64, 128), (128, 256), (256, 256), (256, 512)] + 3 * [(512, 512)]
    )
    + linear(512, 10),
    # Convolutions without bias, each with a scale and a shift a channel: the stem, two a block, and a 1x1 in
    # the shortcut of each stage but the first.
    "resnet18": convolution(3, 64, 3, bias=False)
    + 2 * 64
    + 4 * (convolution(64, 64, 3, bias=False) + 2 * 64)
    + sum(
        convolution(width // 2, width, 3, bias=False)
        + 3 * convolution(width, width, 3, bias=False)
        + convolution(width // 2, width, 1, bias=False)
        + 5 * 2 * width
        for width in (128, 256, 512)
    )
    + linear(512, 10),
}


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("mlp", 411_146),
        ("lenet", 62_006),
        ("alexnet", 1_872_202),
        ("vgg11", 9_231_114),
        ("resnet18", 11_173_962),
    ],
)
def test_parameters_at_cifar_are_those_of_the_field(name, known):
    with torch.device("meta"):
        network = make_network(name, (3, 32, 32), 10)
    assert sum(p.numel() for p in network.parameters()) == PARAMETERS[name] == known


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("size", [8, 9, 11, 28, 32, 64])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_every_network_takes_every_shape(name, channels, size):
    with torch.device("meta"):
        network = make_network(name, (channels, size, size), 7)
        images = torch.empty(2, channels, size, size)
        assert network.embed(images).shape == (2, network.classifier.in_features)
        assert network(images).shape == (2, 7)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("size", [8, 28, 32])
def test_latent_features_at_the_sizes_of_the_field(name, size):
    features = {
        "convnet": {8: 128, 28: 2048, 32: 2048},
        "mlp": {8: 128, 28: 128, 32: 128},
        "lenet": {8: 84, 28: 84, 32: 84},
        "alexnet": {8: 192, 28: 3072, 32: 3072},
        "vgg11": {8: 512, 28: 512, 32: 512},
        "resnet18": {8: 512, 28: 512, 32: 512},
    }
    with torch.device("meta"):
        assert make_network(name, (1, size, size), 10).classifier.in_features == features[name][size]


def test_resnet_maps_shrink_as_the_field_has_it():
    network = make_network("resnet18", (3, 32, 32), 10)
    sizes = []
    for block in network.features:
        block.register_forward_hook(lambda _, __, maps: sizes.append(tuple(maps.shape[1:])))
    network(torch.randn(1, 3, 32, 32))
    blocks = [(64, 32), (64, 32), (128, 16), (128, 16), (256, 8), (256, 8), (512, 4), (512, 4)]
    assert sizes[3:] == [(width, size, size) for width, size in blocks] + [(512, 1, 1), (512,)]


def plain_resnet(weights, images):
    """The field's ResNet-18 without a class: 3x3 stem, four stages of two blocks, pooling of 4x4, linear."""
    left = list(weights)

    def convolved(maps, stride, padding):
        kernel, scale, shift = left.pop(0), left.pop(0), left.pop(0)
        maps = nn.functional.conv2d(maps, kernel, stride=stride, padding=padding)
        return nn.functional.group_norm(maps, len(kernel), scale, shift)

    maps = convolved(images, 1, 1).relu()
    for stage in range(4):
        for block in range(2):
            stride = 2 if stage > 0 and block == 0 else 1
            residual = convolved(convolved(maps, stride, 1).relu(), 1, 1)
            shortcut = convolved(maps, stride, 0) if stride == 2 else maps
            maps = (residual + shortcut).relu()
    assert maps.shape[-2:] == (4, 4)
    features = nn.functional.avg_pool2d(maps, 4).flatten(1)
    matrix, bias = left
    return features @ matrix.T + bias


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 28, 28), (3, 32, 32)])
def test_resnet_gives_the_logits_of_the_fields(shape):
    torch.manual_seed(0)
    network = make_network("resnet18", shape, 10)
    images = torch.randn(2, *shape)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(0.05 * torch.randn_like(weight))
        expected = plain_resnet(network.parameters(), images)
        torch.testing.assert_close(network(images), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ["vgg11", "resnet18"])
@pytest.mark.parametrize("size", [8, 9, 11])
def test_no_map_of_one_pixel_is_normalised(name, size):
    network = make_network(name, (1, size, size), 10)
    seen = []
    for layer in network.modules():
        if isinstance(layer, nn.GroupNorm):
            layer.register_forward_pre_hook(lambda _, maps: seen.append(maps[0].shape[-1]))
    images = torch.randn(2, 1, size, size)
    assert (network.embed(images)[0] != network.embed(images)[1]).any()
    assert min(seen) >= 2


@pytest.mark.parametrize("spec", ALL)
def test_gradients_reach_the_images(spec):
    network = make_network(spec, (1, 8, 8), 10)
    images = torch.randn(4, 1, 8, 8, requires_grad=True)
    network.embed(images).square().sum().backward()
    assert images.grad.isfinite().all()
    assert (images.grad.flatten(1).abs().sum(dim=1) > 0).all()


@pytest.mark.parametrize(
    ("spec", "rate"),
    [
        ("convnet", 0.2),
        ("mlp", 0.05),
        ("lenet", 0.1),
        ("alexnet", 0.05),
        ("vgg11", 0.001),
        ("resnet18", 0.01),
        ("convnet:norm=batch", 0.05),
        ("vgg11:norm=batch", 0.01),
        ("resnet18:norm=batch", 0.01),
    ],
)
def test_every_network_learns(spec, rate):
    torch.manual_seed(0)
    network = make_network(spec, (1, 8, 8), 4)
    images, labels = torch.randn(8, 1, 8, 8), torch.arange(8) % 4
    optimiser = torch.optim.SGD(network.parameters(), lr=rate, momentum=0.9)
    losses = []
    for _ in range(30):
        loss = nn.functional.cross_entropy(network(images), labels)
        losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert losses[-1] < losses[0] / 3


@pytest.mark.parametrize("spec", ALL)
def test_in_evaluation_every_image_is_alone_and_chunks_change_nothing(spec):
    network = make_network(spec, (1, 8, 8), 10).eval()
    images = torch.randn(300, 1, 8, 8)
    with torch.no_grad():
        together = network.embed(images)
    torch.testing.assert_close(in_chunks(network, images), together, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(in_chunks(network, images[:1]), together[:1], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", ["vgg11", "resnet18"])
def test_batch_norm_sees_all_images_at_once_in_training(name):
    network = make_network(f"{name}:norm=batch", (1, 8, 8), 10)
    images = torch.randn(300, 1, 8, 8)
    with torch.no_grad():
        together = network.embed(images)
    torch.testing.assert_close(in_chunks(network, images), together)


@pytest.mark.parametrize("name", WITH_NORM)
@pytest.mark.parametrize("norm", ["instance", "batch", "group", "layer", "none"])
def test_every_norm_fits_every_network(name, norm):
    network = make_network(f"{name}:norm={norm}", (3, 9, 9), 10)
    assert network(torch.randn(2, 3, 9, 9)).isfinite().all()


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("convnet", "convnet"),
        ("convnet:depth=2:width=64", "convnet:width=64:depth=2"),
        ("convnet:width=128", "convnet:width=128"),
        ("convnet:pooling=max:norm=none:width=08", "convnet:width=8:norm=none:pooling=max"),
        ("vgg11:norm=batch", "vgg11:norm=batch"),
        ("mlp:width=10", "mlp:width=10"),
        ("lenet", "lenet"),
    ],
)
def test_specs_have_one_form(spec, canonical):
    assert check_spec(spec) == canonical == check_spec(canonical)


def test_options_reach_the_network():
    network = make_network("convnet:depth=2:width=6:norm=batch", (1, 8, 8), 3)
    assert network.classifier.in_features == 6 * 2 * 2
    assert sum(isinstance(layer, nn.BatchNorm2d) for layer in network.modules()) == 2


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("", "''"),
        ("convnt", "'convnt'.*'convnet'"),
        ("convnet:widht=4", "convnet 'widht'.*'width'"),
        ("convnet:shape=4", "convnet 'shape'"),
        ("convnet:classes=4", "convnet 'classes'"),
        ("convnet:", "'convnet'.*option=value.*convnet:width=128"),
        ("vgg11:norm", "'norm'.*'vgg11'.*option=value.*vgg11:norm=inst"),
        ("convnet:width=0", "width of convnet.*'0'.*at least 1"),
        ("convnet:width=-3", "width of convnet.*'-3'.*whole number"),
        ("convnet:width=1.5", r"width of convnet.*'1\.5'.*whole number"),
        ("convnet:width=", "width of convnet.*''.*whole number"),
        ("convnet:width=" + "9" * 5000, "whole number"),
        ("convnet:norm=bach", "norm of convnet 'bach'.*'batch'"),
        ("convnet:width=4:width=5", "'convnet'.*'width'.*once"),
        ("lenet:width=4", "'lenet'.*'width=4'.*'lenet'"),
    ],
)
def test_a_wrong_spec_is_one_sentence(spec, sentence):
    for read in (check_spec, describe, lambda spec: make_network(spec, (1, 8, 8), 2)):
        with pytest.raises(ConfigError, match=sentence) as caught:
            read(spec)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("convnet", "ConvNet-3 of width 128"),
        ("convnet:width=64", "ConvNet-3 of width 64"),
        ("convnet:depth=2:norm=batch", "ConvNet-2 of width 128, batch norm"),
        ("convnet:norm=instance", "ConvNet-3 of width 128"),
        ("convnet:activation=swish:pooling=none", "ConvNet-3 of width 128, swish activation, no pooling"),
        ("mlp", "MLP of width 128"),
        ("lenet", "LeNet"),
        ("alexnet", "AlexNet"),
        ("vgg11:norm=batch", "VGG-11, batch norm"),
        ("resnet18", "ResNet-18"),
        ("resnet18:norm=none", "ResNet-18, no norm"),
    ],
)
def test_networks_have_names_for_tables(spec, words):
    assert describe(spec) == words

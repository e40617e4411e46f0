"""DataDAM, against the loss as the paper writes it."""

import pytest
import torch

from lqm.distances import DISTANCES
from lqm.engine.randomness import generator
from lqm.images.augment import augment, draw
from lqm.images.networks import make_network
from lqm.images.networks.attention import Attention
from lqm.images.sources import pick
from lqm.utils.errors import ConfigError
from tests.images.methods.making import built, problem_of

NETWORK = "convnet:width=8"


def layer_outputs(network, images):
    """What each ReLU gives, by walking through the layers."""
    found = []
    for layer in network.features:
        images = layer(images)
        if isinstance(layer, torch.nn.ReLU):
            found.append(images)
    return found, images


@pytest.mark.parametrize("power", [1.0, 2.0, 4.0])
def test_attention_is_the_normalised_sum_of_powers_over_channels(power):
    network = make_network("convnet:width=6", (3, 16, 16), 4)
    images = torch.randn(5, 3, 16, 16)
    *maps, features = Attention(network, power)(images)
    outputs, expected_features = layer_outputs(network, images)
    assert len(maps) == 2, "all but the last layer"
    torch.testing.assert_close(features, expected_features)
    for found, output in zip(maps, outputs[:-1], strict=True):
        for image in range(5):
            values = torch.zeros(output.shape[2] * output.shape[3])
            for channel in output[image]:
                values += channel.abs().flatten() ** power
            torch.testing.assert_close(found[image], values / values.norm())


def learner(digits, **settings):
    values = {"steps": 1, "network": NETWORK, "real_batch": 20, **settings}
    return built("datadam", problem_of(digits), **values)


@pytest.mark.parametrize("attention", ["mean", "distance"])
def test_the_loss_is_the_papers(digits, attention):
    method = learner(digits, attention=attention)
    readouts = Attention(method.problem.fresh_network(NETWORK, "network", 0), 4.0)
    draws = generator(0, "batch", 0)
    batches, transforms = [], []
    for images in digits.by_class:
        batch = digits.normalised(pick(images, 20, draws))
        transforms.append(draw(digits.augmentation, draws))
        batches.append(augment(batch, transforms[-1]))
    synthetic = torch.cat([augment(s, t) for s, t in zip(method.synthetic.images, transforms, strict=True)])
    with torch.no_grad():
        real_layers, own_layers = readouts(torch.cat(batches)), readouts(synthetic)
    total = 0.0
    for c in range(10):
        for number, (t, s) in enumerate(zip(real_layers, own_layers, strict=True)):
            t_c, s_c = t.split(20)[c], s.split(3)[c]
            is_embedding = number == len(real_layers) - 1
            if attention == "mean" and not is_embedding:
                loss = (t_c.mean(dim=0) - s_c.mean(dim=0)).square().sum()
            else:
                lqm = DISTANCES["lqm"]
                loss = lqm.loss(lqm.target(t_c, 3), s_c)
            total += 100 * (0.01 if is_embedding else 1) * loss.item()
    assert method.step(0)["loss"] == pytest.approx(total / 10, rel=1e-4)


def test_a_network_without_maps_is_refused(digits):
    with pytest.raises(ConfigError, match=r"attention maps.*such as convnet"):
        learner(digits, network="mlp")

"""Condensing from a sketch, against a plain loop that looks at all real images with the same encoders."""

from itertools import pairwise

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from safetensors.torch import load_file

import lqm
from lqm.banks import Sketch, encoder_of_step
from lqm.condensed.mosaic import expand
from lqm.distances import DISTANCES
from lqm.images.augment import NUMBERS, OPERATIONS, AugmentationParameters, augment
from lqm.images.experts import SNAPSHOTS, SPACING
from lqm.images.methods import METHODS
from lqm.images.networks import make_network
from lqm.images.networks.attention import Attention
from lqm.images.problem import ImageProblem
from tests.banks.making import plain_loss

CPU = torch.device("cpu")
NETWORK = "convnet:width=8:depth=2"
PER_CLASS, STEPS, MOMENTUM, RATE = 2, 6, 0.5, 0.3


def make_sketch(digits, out, encoders=4, **options):
    return lqm.sketch(
        digits, out=out, encoders=encoders, network=NETWORK, seed=7, show_progress=False, **options
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory, digits):
    return make_sketch(digits, tmp_path_factory.mktemp("dm") / "sketch", max_per_class=PER_CLASS).path


@pytest.fixture(scope="module")
def idm_folder(tmp_path_factory, digits):
    options = {"method": "idm", "settings": {"student_batch": 32}, "max_per_class": 4 * PER_CLASS}
    out = tmp_path_factory.mktemp("idm") / "sketch"
    return make_sketch(digits, out, SNAPSHOTS + 2, **options).path


def load_shard(folder, number):
    """The file of an encoder, as safetensors reads it."""
    (path,) = folder.glob(f"encoder-{number:06d}.*")
    return load_file(path)


def shard_network(shard):
    network = make_network(NETWORK, (1, 8, 8), 10)
    weights = {n.removeprefix("encoder.weights."): t for n, t in shard.items() if ".weights." in n}
    network.load_state_dict(weights)
    return network.requires_grad_(False)


def build(method, digits, distance, folder, **settings):
    """A method that condenses the digits by a sketch."""
    problem = ImageProblem(
        class_names=digits.class_names,
        counts=(PER_CLASS,) * 10,
        distance=DISTANCES[distance],
        seed=0,
        device=CPU,
        sketch=Sketch(folder),
        source=digits,
    )
    return METHODS[method].build(problem, METHODS[method].settings(network=NETWORK, **settings))


def shard_augmentation(shard, label):
    operation = OPERATIONS[int(shard["augmentation.operations"][label])]
    return AugmentationParameters(
        operation, shard["augmentation.numbers"][label : label + 1, : NUMBERS[operation]]
    )


def real_features(digits, network, drawn, label):
    """Of all real images of a class."""
    return network.embed(augment(digits.normalised(digits.train.of_class(label)), drawn))


class PlainSet:
    """Images with momentum, clipped to legal pixels, written out."""

    def __init__(self, images, digits):
        self.images = images.detach().clone()
        self.speed = torch.zeros_like(self.images)
        self.low, self.high = (digits.normalised(torch.full((1, 1), value)).item() for value in (0.0, 1.0))

    def move(self, loss_of):
        leaf = self.images.clone().requires_grad_()
        loss = loss_of(leaf)
        loss.backward()
        self.speed = MOMENTUM * self.speed + leaf.grad
        self.images = (self.images - RATE * self.speed).clamp(self.low, self.high)
        return loss.item()


@pytest.mark.parametrize("distance", ["lqm", "mean"])
def test_dm_from_a_sketch_is_the_plain_loop_over_all_real_images(digits, folder, distance):
    ours = build("dm", digits, distance, folder, learning_rate=RATE, momentum=MOMENTUM)
    plain = PlainSet(ours.synthetic.images, digits)
    before = plain.images.clone()
    for step in range(STEPS):
        shard = load_shard(folder, encoder_of_step(0, step, 4))
        network = shard_network(shard)

        def loss_of(images, shard=shard, network=network):
            total = 0.0
            for label in range(10):
                drawn = shard_augmentation(shard, label)
                real = real_features(digits, network, drawn, label)
                total = total + plain_loss(distance, real, network.embed(augment(images[label], drawn)))
            return total

        assert 10 * ours.step(step)["loss"] == pytest.approx(plain.move(loss_of), rel=1e-3)
    torch.testing.assert_close(ours.synthetic.images.detach(), plain.images, atol=1e-4, rtol=1e-4)
    assert (plain.images - before).abs().max() > 0.01


@pytest.mark.parametrize("distance", ["lqm", "mean"])
def test_idm_from_a_sketch_is_the_plain_loop_over_all_real_images(digits, idm_folder, distance):
    weight = 0.01
    settings = {"learning_rate": RATE, "momentum": MOMENTUM, "class_weight": weight}
    ours = build("idm", digits, distance, idm_folder, **settings)
    plain = PlainSet(ours.synthetic.images, digits)
    accuracies = []
    for step in range(3):
        shard = load_shard(idm_folder, encoder_of_step(0, step, SNAPSHOTS + 2))
        network = shard_network(shard).eval()
        right, seen = shard["encoder.counts"].tolist()
        accuracies.append(right / seen if seen else 0.0)
        losses = []
        for label in range(10):
            drawn = shard_augmentation(shard, label)

            def loss_of(images, shard=shard, network=network, label=label, drawn=drawn):
                synthetic = augment(expand(images[label], 2), drawn)
                real = real_features(digits, network, drawn, label)
                entropy = F.cross_entropy(network(synthetic), torch.full((len(synthetic),), label))
                match = plain_loss(distance, real, network.embed(synthetic))
                return match + weight * 100 * accuracies[-1] * entropy

            losses.append(plain.move(loss_of))
        metrics = ours.step(step)
        assert metrics["loss"] == pytest.approx(sum(losses) / 10, rel=1e-3)
        assert metrics["network_accuracy"] == pytest.approx(accuracies[-1])
    assert max(accuracies) > 0.3, "the term of the class has had its say"
    torch.testing.assert_close(ours.synthetic.images.detach(), plain.images, atol=2e-4, rtol=1e-4)


def test_datadam_from_a_sketch_of_whole_classes_is_a_step_that_sees_them_all(digits, tmp_path):
    """A sketch that is fine enough to keep every real image leaves nothing out."""
    options = {"method": "datadam", "max_per_class": 100}
    made = make_sketch(digits, tmp_path / "sketch", 1, **options)
    ours = build("datadam", digits, "lqm", made.path)
    shard = load_shard(made.path, 0)
    readouts = Attention(shard_network(shard), 4.0)
    total = 0.0
    for label in range(10):
        drawn = shard_augmentation(shard, label)
        real = readouts(augment(digits.normalised(digits.train.of_class(label)), drawn))
        synthetic = readouts(augment(ours.synthetic.images[label].detach(), drawn))
        for number, (t, s) in enumerate(zip(real, synthetic, strict=True)):
            last = number == len(real) - 1
            total += 100 * (0.01 if last else 1) * plain_loss("lqm" if last else "mean", t, s).item()
    assert ours.step(0)["loss"] == pytest.approx(total / 10, rel=1e-4)


def test_encoders_of_dm_are_fresh_networks_each_with_its_transforms(folder):
    shards = [load_shard(folder, number) for number in range(4)]
    weights = {shard["encoder.weights.classifier.weight"].numpy().tobytes() for shard in shards}
    assert len(weights) == 4
    operations = {shard["augmentation.operations"].numpy().tobytes() for shard in shards}
    assert len(operations) > 1, "each has transforms of its own"
    assert (
        len(set(torch.stack([shard["augmentation.operations"] for shard in shards]).flatten().tolist())) > 1
    )


def test_means_are_those_of_all_images_and_grids_are_numpys(digits, folder):
    shard = load_shard(folder, 1)
    network = shard_network(shard)
    for label in range(10):
        real = real_features(digits, network, shard_augmentation(shard, label), label).double().numpy()
        np.testing.assert_allclose(shard[f"mean.0.{label}"], real.mean(axis=0), atol=1e-5)
        levels = (2 * np.arange(6) + 1) / 12
        expected = np.quantile(real, levels, axis=0, method="hazen")
        np.testing.assert_allclose(shard[f"grid.0.{label}"], expected, atol=1e-5)


def accuracy_on_test(digits, shard):
    logits = shard_network(shard).eval()(digits.normalised(digits.test.images))
    return (logits.argmax(dim=1) == digits.test.labels).float().mean().item()


def test_encoders_of_idm_are_snapshots_of_a_network_that_learns_and_then_of_another(digits, idm_folder):
    shards = [load_shard(idm_folder, number) for number in range(SNAPSHOTS + 2)]
    seen = [int(shard["encoder.counts"][1]) for shard in shards]
    assert seen == [32 * SPACING * place for place in (*range(SNAPSHOTS), 0, 1)]
    judged = [accuracy_on_test(digits, shard) for shard in shards]
    assert judged[0] < 0.3
    assert judged[SNAPSHOTS - 1] > judged[1] + 0.1
    assert judged[SNAPSHOTS - 1] > judged[5] > judged[0]
    assert judged[SNAPSHOTS] < 0.3, "a new network"
    own = [int(shard["encoder.counts"][0]) / max(1, count) for shard, count in zip(shards, seen, strict=True)]
    assert own[:SNAPSHOTS] == sorted(own[:SNAPSHOTS]), "its accuracy on what it has learned from rises"
    weights = [shard["encoder.weights.classifier.weight"] for shard in shards]
    moves = [(b - a).norm().item() for a, b in pairwise(weights)]
    assert all(move > 0 for move in moves)
    assert moves[SNAPSHOTS - 1] > 2 * max(moves[: SNAPSHOTS - 1]), "from one trajectory to the next it is far"

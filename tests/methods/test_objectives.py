"""Feature matching, against a loop over classes; calibration, against the mean cross-entropy."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from lqm.distances import DISTANCES
from lqm.methods.batch import Batch
from lqm.methods.objectives.cross_entropy import CrossEntropy
from lqm.methods.objectives.features import FeatureMatching

CLASSES, REAL, COUNTS = [2, 0, 3], [7, 5, 7], [4, 9, 2, 4]
OWN = [COUNTS[label] for label in CLASSES]


class Linear:
    """An encoder of two readouts, the last of which its network classifies."""

    def __init__(self, readouts=2, accuracy=0.5):
        draws = torch.Generator().manual_seed(0)
        self.weights = [torch.randn(6, 5, generator=draws) for _ in range(readouts)]
        self.metrics = {"network_accuracy": accuracy}
        torch.manual_seed(0)
        self.network = torch.nn.Module()
        self.network.classifier = torch.nn.Linear(5, 4)

    def readouts(self, inputs):
        return tuple((inputs @ weight).tanh() for weight in self.weights)

    def encode(self, inputs):
        return tuple(readout.detach() for readout in self.readouts(inputs))


def records(sizes, seed, **options):
    draws = torch.Generator().manual_seed(seed)
    return Batch(torch.randn(sum(sizes), 6, generator=draws, **options), CLASSES, sizes)


def naive(distance, readout, real, synthetic, draws=None):
    """The distance of one readout, class after class."""
    parts = zip(real.inputs.split(list(real.sizes)), synthetic.inputs.split(OWN), strict=True)
    targets = [(distance.target(readout(t).detach(), len(s), draws), s) for t, s in parts]
    return torch.stack([distance.loss(target, readout(s)) for target, s in targets])


@pytest.mark.parametrize("sizes", [REAL, [7, 7, 7]], ids=["each of its size", "two of one size"])
@pytest.mark.parametrize("name", DISTANCES)
def test_features_are_matched_class_by_class_and_so_are_gradients(name, sizes):
    distance, encoder = DISTANCES[name], Linear(readouts=1)
    objective = FeatureMatching(distance, COUNTS)
    real, found = records(sizes, 1), []
    for ours in (True, False):
        synthetic, draws = records(OWN, 2, requires_grad=True), torch.Generator().manual_seed(1)
        unused = draws.get_state()
        if ours:
            loss = objective.loss(encoder, objective.target(encoder, iter([real]), draws), synthetic)
        else:
            loss = naive(distance, lambda x: encoder.readouts(x)[0], real, synthetic, draws)
        loss.sum().backward()
        found.append((loss.detach(), synthetic.inputs.grad))
    assert found[0][0].shape == (3,)
    if sizes == [7, 7, 7] and not draws.get_state().equal(unused):
        pytest.skip("classes of one size share what this distance draws")
    torch.testing.assert_close(found[0][0], found[1][0])
    torch.testing.assert_close(found[0][1], found[1][1])


@pytest.mark.parametrize("cut", [1, 2])
def test_real_records_may_come_in_parts(cut):
    encoder, objective = Linear(), FeatureMatching(DISTANCES["lqm"], COUNTS, weigh=lambda losses: sum(losses))
    real, synthetic = records(REAL, 1), records(OWN, 2)
    inputs = real.inputs.split([sum(REAL[:cut]), sum(REAL[cut:])])
    parts = [Batch(inputs[0], CLASSES[:cut], REAL[:cut]), Batch(inputs[1], CLASSES[cut:], REAL[cut:])]
    losses = [
        objective.loss(encoder, objective.target(encoder, iter(given), torch.Generator()), synthetic)
        for given in ([real], parts)
    ]
    torch.testing.assert_close(*losses)


def test_each_readout_has_a_distance_of_its_own_and_they_are_weighed():
    encoder, mean, lqm = Linear(), DISTANCES["mean"], DISTANCES["lqm"]
    objective = FeatureMatching(
        lqm,
        COUNTS,
        distances=lambda readouts: [mean] * (readouts - 1) + [lqm],
        weigh=lambda losses: 3 * losses[0] + losses[1] / 2,
    )
    real, synthetic = records(REAL, 1), records(OWN, 2)
    found = objective.loss(encoder, objective.target(encoder, iter([real]), torch.Generator()), synthetic)
    first = naive(mean, lambda x: encoder.readouts(x)[0], real, synthetic)
    last = naive(lqm, lambda x: encoder.readouts(x)[1], real, synthetic)
    torch.testing.assert_close(found, 3 * first + last / 2)


@pytest.mark.parametrize("accuracy", [0.0, 0.5])
def test_the_cross_entropy_is_added_by_a_weight_that_the_encoder_has_a_say_in(accuracy):
    encoder = Linear(readouts=1, accuracy=accuracy)
    weigh = lambda encoder: 20 * encoder.metrics["network_accuracy"]  # noqa: E731
    plain, weighed = (FeatureMatching(DISTANCES["lqm"], COUNTS, cross_entropy=w) for w in (None, weigh))
    synthetic = records(OWN, 2)
    target = plain.target(encoder, iter([records(REAL, 1)]), torch.Generator())
    found = weighed.loss(encoder, target, synthetic) - plain.loss(encoder, target, synthetic)
    torch.testing.assert_close(found, 20 * accuracy * entropies(encoder, synthetic))


def entropies(encoder, synthetic):
    """The mean cross-entropy of the records of each class, record by record."""
    found = []
    for own, label in zip(synthetic.inputs.split(OWN), CLASSES, strict=True):
        logits = encoder.network.classifier(encoder.readouts(own)[0])
        found.append(torch.stack([-F.log_softmax(row, dim=0)[label] for row in logits]).mean())
    return torch.stack(found)


def test_calibration_is_the_weighted_cross_entropy_of_each_class():
    class Classifier(Linear):
        def readouts(self, inputs):
            return (self.network.classifier(super().readouts(inputs)[0]),)

    synthetic = records(OWN, 2)
    found = CrossEntropy(weight=3.0).loss(Classifier(1), None, synthetic)
    torch.testing.assert_close(found, 3 * entropies(Linear(1), synthetic))

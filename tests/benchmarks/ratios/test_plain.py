"""The loops that our speed is measured by do the same work: same losses, same images, same weights."""

import pytest
import torch

from benchmarks.ratios.plain import PlainDataDAM, PlainDM, PlainIDM, plain_train
from lqm.distances import DISTANCES
from lqm.engine.randomness import generator, seeded
from lqm.images.methods import METHODS
from lqm.images.networks import make_network
from lqm.images.problem import ImageProblem
from lqm.images.sources import Images
from lqm.images.training import train

CPU = torch.device("cpu")
RATES = {"dm": 30.0, "datadam": 0.03, "idm": 2.0}
PLAIN = {"dm": PlainDM, "datadam": PlainDataDAM, "idm": PlainIDM}
# A queue that is full after the first network that joins it, so that the next one drives the oldest out.
QUEUE = {"queue_interval": 2, "queue_limit": 4, "students": 3, "student_steps": 2, "student_batch": 64}
# Enough weight on the features that their distance shows beside the attention.
OWN = {"dm": {}, "datadam": {"embedding_weight": 0.5}, "idm": QUEUE}


def pair(source, name, distance, **changed):
    """Our method and the plain loop, alike but for what is changed in the latter."""
    values = {"network": "convnet:width=8", "real_batch": 32, "learning_rate": RATES[name], **OWN[name]}
    spec = METHODS[name]
    problem = ImageProblem(
        class_names=source.class_names,
        counts=(3,) * 10,
        distance=DISTANCES[distance],
        seed=0,
        device=CPU,
        source=source,
    )
    ours = spec.build(problem, spec.settings(**values))
    return ours, PLAIN[name](source, distance, 3, 0, spec.settings(**values | changed))


def same(ours, plain):
    return torch.allclose(ours, plain, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("distance", ["mean", "lqm"])
def test_steps_are_those_of_our_methods(digits, name, distance):
    ours, plain = pair(digits, name, distance)
    first = plain.images.detach().clone()
    assert first.equal(ours.synthetic.images)
    for i in range(3):
        assert ours.step(i)["loss"] == pytest.approx(plain.step(i), rel=1e-4)
        assert same(ours.synthetic.images, plain.images)
    # All of them have moved far beyond the tolerance, so a wrong step would show.
    assert (plain.images - first).abs().amax(dim=(2, 3, 4)).min() > 0.02


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("dm", {"momentum": 0.4}),
        ("dm", {"real_batch": 31}),
        ("datadam", {"power": 3.9}),
        ("datadam", {"embedding_weight": 0.51}),
        ("idm", {"class_weight": 0.4}),
        ("idm", {"student_steps": 1}),
        ("idm", {"students": 2}),
        ("idm", {"queue_limit": 5}),
        ("idm", {"queue_interval": 3}),
    ],
)
def test_a_small_change_of_the_work_shows_in_six_steps(digits, name, changed):
    ours, plain = pair(digits, name, "lqm", **changed)
    for i in range(6):
        ours.step(i), plain.step(i)
    assert not same(ours.synthetic.images, plain.images)


def test_training_gives_the_weights_that_ours_gives(digits):
    condensed = Images(digits.train.images[:40], digits.train.labels[:40])

    def learned(way, epochs=3):
        with seeded(0, "network"):
            network = make_network("convnet:width=8", digits.shape, 10)
        # A last batch that is smaller, and an epoch at the lower rate.
        options = {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 5e-4, "batch": 16}
        way(network, condensed, digits, epochs=epochs, **options, draws=generator(0, "batches"))
        return torch.cat([part.detach().flatten() for part in network.parameters()])

    assert same(learned(train), learned(plain_train))
    assert not same(learned(train), learned(plain_train, epochs=4))

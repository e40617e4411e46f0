"""IDM: its mosaics, its queue of networks, its loss and its momentum."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from lqm.condensed.mosaic import expand
from lqm.distances import DISTANCES
from lqm.engine.randomness import generator
from lqm.images.augment import augment, draw
from lqm.images.networks import Embedding
from lqm.images.sources import pick
from lqm.images.students import below
from lqm.images.synthetic import SyntheticImages
from lqm.utils.errors import ConfigError
from tests.images.methods.making import built, problem_of

NETWORK = "convnet:width=8:depth=2"


def learner(digits, per_class=2, distance="lqm", **settings):
    values = {
        "steps": 9,
        "network": NETWORK,
        "real_batch": 20,
        "student_batch": 32,
        "student_steps": 2,
        "queue_interval": 3,
        "queue_limit": 5,
        **settings,
    }
    return built("idm", problem_of(digits, per_class, distance), **values)


def queue_of(method):
    """The networks of the queue, each as it is saved, from the oldest to the newest."""
    state = below(method.state(), "queue")
    places = sorted({int(name.partition(".")[0]) for name in state if name != "made"})
    return [below(state, str(place)) for place in places]


def test_every_cell_of_a_mosaic_is_a_record(digits):
    asked = []

    class Spy(type(DISTANCES["lqm"])):
        def target(self, real, k, generator=None):
            asked.append(k)
            return super().target(real, k, generator)

        def loss(self, target, synthetic):
            assert synthetic.shape[:2] == (1, 12)
            return super().loss(target, synthetic)

    method = learner(digits, per_class=3, distance=Spy("spy"))
    method.step(0)
    assert asked == [12] * 10, "one class after the other, k = 2 x 2 x 3"
    condensed = method.result()
    assert condensed.images.shape == (30, 1, 8, 8)
    assert condensed.manifest["mosaic"] == 2
    assert condensed.records()[0].shape == (120, 1, 8, 8)


def test_the_first_mosaics_hold_real_images_of_the_class_at_half_the_size(digits):
    condensed = learner(digits, per_class=2).result()
    for label in range(10):
        halves = F.avg_pool2d(digits.train.of_class(label), 2)
        for mosaic in condensed.images[condensed.labels == label]:
            for cell in (mosaic[:, :4, :4], mosaic[:, :4, 4:], mosaic[:, 4:, :4], mosaic[:, 4:, 4:]):
                assert (halves - cell).abs().amax(dim=(1, 2, 3)).min() < 1e-6


def test_the_queue_starts_with_3_gets_one_every_interval_and_keeps_to_its_limit(digits):
    method = learner(digits)
    lengths = []
    for i in range(9):
        method.step(i)
        lengths.append(len(queue_of(method)))
    assert lengths == [4, 4, 4, 5, 5, 5, 5, 5, 5]
    assert method.state()["queue.made"] == 3 + 3


def test_two_students_learn_in_each_step(digits):
    method = learner(digits)
    method.step(0)
    assert sorted(int(student["counts"][1]) for student in queue_of(method)) == [0, 0, 64, 64]
    method.step(1)
    assert sum(int(student["counts"][1]) for student in queue_of(method)) == 4 * 64


def encoder_of(method, accuracy):
    """A network that says of itself how often it was right."""
    network = method.problem.fresh_network(NETWORK, "queue", 0).eval().requires_grad_(False)
    return method.problem.encoder_factory(NETWORK, Embedding).of(network, accuracy)


def loss_of(method, label, encoder, number=0):
    """The loss of one class, and its real and its synthetic images as the encoder sees them."""
    source, draws = method.problem.source, generator(0, "x", number)
    real = source.normalised(pick(source.by_class[label], 20, draws))
    transform = draw(source.augmentation, draws)
    real, synthetic = augment(real, transform), augment(expand(method.synthetic.images[label], 2), transform)
    (part,) = method.passes
    target = part.objective.match([([label], [[encoder.encode(real)[0]]])])
    loss = part.objective.loss(encoder, target, method.synthetic.batch([label], [(transform,)]))
    return loss, real, synthetic


@pytest.mark.parametrize("distance", ["mean", "lqm"])
def test_the_loss_of_a_class_is_the_match_and_the_weighted_cross_entropy(digits, distance):
    method = learner(digits, distance=distance, class_weight=0.3)
    encoder = encoder_of(method, accuracy=0.75)
    loss, real, synthetic = loss_of(method, 6, encoder)
    kind, network = DISTANCES[distance], encoder.network
    with torch.no_grad():
        match = kind.loss(kind.target(network.embed(real), 8), network.embed(synthetic))
        entropy = F.cross_entropy(network(synthetic), torch.full((8,), 6))
    torch.testing.assert_close(loss.detach(), (match + 0.3 * 75 * entropy).view(1))


@pytest.mark.parametrize("distance", ["mean", "lqm"])
def test_a_step_has_the_loss_of_the_paper_under_a_network_of_the_queue(digits, distance):
    """Without momentum, nothing but its own update moves a class."""
    method = learner(digits, distance=distance, class_weight=0.3, momentum=0)
    method.step(0)
    state, images = method.state(), method.synthetic.images.detach().clone()
    (drawn,) = torch.randperm(4, generator=generator(0, "students", 1))[:1].tolist()
    student = below(below(state, "queue"), str(drawn))
    network = method.problem.fresh_network(NETWORK, "check", 0).eval()
    network.load_state_dict(below(student, "weights"))
    right, seen = student["counts"].tolist()
    accuracy = right / seen if seen else 0.0
    kind, draws, total = DISTANCES[distance], generator(0, "batch", 1), 0.0
    with torch.no_grad():
        for label in range(10):
            batch = digits.normalised(pick(digits.by_class[label], 20, draws))
            transform = draw(digits.augmentation, draws)
            real, own = augment(batch, transform), augment(expand(images[label], 2), transform)
            total += kind.loss(kind.target(network.embed(real), 8), network.embed(own)).item()
            total += 0.3 * 100 * accuracy * F.cross_entropy(network(own), torch.full((8,), label)).item()
    metrics = method.step(1)
    assert metrics["network_accuracy"] == pytest.approx(accuracy)
    assert metrics["loss"] == pytest.approx(total / 10, rel=1e-4)


def test_an_untrained_network_has_no_say_about_the_class(digits):
    method = learner(digits, class_weight=1e9)
    assert loss_of(method, 0, encoder_of(method, accuracy=0.0))[0].item() < 1e4


def test_a_class_coasts_on_its_momentum_while_others_are_updated(digits):
    method = learner(digits)

    def move(label, number):
        loss_of(method, label, encoder_of(method, 0.0), number)[0].sum().backward()
        method.synthetic.update()
        return method.synthetic.images.detach().clone()

    before = method.synthetic.images.detach().clone()
    once = move(4, 0)
    assert [c for c in range(10) if not once[c].equal(before[c])] == [4]
    twice = move(5, 1)
    moved, expected = twice[4] - once[4], (once[4] - before[4]) * 0.5
    inside = [digits.normalised(torch.full((1, 1), v)) for v in (0.0, 1.0)]
    legal = (twice[4] > inside[0]) & (twice[4] < inside[1]) & (once[4] > inside[0]) & (once[4] < inside[1])
    assert legal.any()
    torch.testing.assert_close(moved[legal], expected[legal], atol=1e-6, rtol=1e-3)


def test_each_class_has_an_update_of_its_own(digits, monkeypatch):
    updates = []
    update = SyntheticImages.update
    monkeypatch.setattr(SyntheticImages, "update", lambda self: updates.append(1) or update(self))
    learner(digits).step(0)
    assert len(updates) == 10


def test_a_mosaic_finer_than_the_image_is_refused(digits):
    with pytest.raises(ConfigError, match=r"mosaic = 5 .* 8 pixels .* 4 cells"):
        learner(digits, mosaic=5)


@pytest.mark.parametrize("mosaic", [1, 3])
def test_other_factors_and_odd_cells(digits, mosaic):
    method = learner(digits, mosaic=mosaic)
    method.step(0)
    assert method.result().records()[0].shape == (20 * mosaic**2, 1, 8, 8)

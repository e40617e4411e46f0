import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from lqm.condensed.mosaic import expand
from lqm.distances import DISTANCES
from lqm.engine.randomness import generator
from lqm.images.augment import augment, draw
from lqm.images.methods.idm import IDM, IDMSettings
from lqm.images.sources import pick
from lqm.utils.errors import ConfigError

CPU = torch.device("cpu")


def learner(digits, per_class=2, distance="lqm", **settings):
    values = {
        "steps": 9,
        "network": "convnet:width=8:depth=2",
        "real_batch": 20,
        "student_batch": 32,
        "student_steps": 2,
        "queue_interval": 3,
        "queue_limit": 5,
        **settings,
    }
    return IDM(digits, DISTANCES[distance], per_class, 0, IDMSettings(**values), CPU)


def test_every_cell_of_a_mosaic_is_a_record(digits):
    asked = []

    class Spy(type(DISTANCES["lqm"])):
        def target(self, real, k, generator=None):
            asked.append(k)
            return super().target(real, k, generator)

        def loss(self, target, synthetic):
            assert synthetic.shape[:2] == (1, 12)
            return super().loss(target, synthetic)

    method = learner(digits, per_class=3)
    method.distance = Spy("spy")
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
        lengths.append(len(method._queue.students))
    assert lengths == [4, 4, 4, 5, 5, 5, 5, 5, 5]
    assert method._queue.state()["made"] == 3 + 3


def test_two_students_learn_in_each_step(digits):
    method = learner(digits)
    method.step(0)
    seen = sorted(student.state()["counts"][1].item() for student in method._queue.students)
    assert seen == [0, 0, 64, 64]


def view_of(method, accuracy=0.0, number=0):
    """What the first network of the queue sees."""
    network = method._queue.students[0].snapshot().network
    return method.see(method.sights.of(network), generator(0, "x", number), accuracy)


@pytest.mark.parametrize("distance", ["mean", "lqm"])
def test_the_loss_of_a_class_is_the_match_and_the_weighted_cross_entropy(digits, distance):
    method = learner(digits, distance=distance, class_weight=0.3)
    view = view_of(method, accuracy=0.75)
    network, draws = view.sight.network, generator(0, "x")
    for label in range(7):
        batch = digits.normalised(pick(digits.by_class[label], 20, draws))
        transform = draw(digits.augmentation, draws)
    real, synthetic = augment(batch, transform), augment(expand(method.images[6], 2), transform)
    kind = DISTANCES[distance]
    with torch.no_grad():
        match = kind.loss(kind.target(network.embed(real), 8), network.embed(synthetic))
        entropy = F.cross_entropy(network(synthetic), torch.full((8,), 6))
    torch.testing.assert_close(method.losses(view, 6).detach(), (match + 0.3 * 75 * entropy).view(1))


def test_an_untrained_network_has_no_say_about_the_class(digits):
    method = learner(digits, class_weight=1e9)
    assert method.losses(view_of(method), 0).item() < 1e4


def test_a_class_coasts_on_its_momentum_while_others_have_their_turn(digits):
    method = learner(digits)

    def move(label, number):
        method.losses(view_of(method, number=number), label).sum().backward()
        method.own.move()
        return method.images.detach().clone()

    before = method.images.detach().clone()
    once = move(4, 0)
    assert [c for c in range(10) if not once[c].equal(before[c])] == [4]
    twice = move(5, 1)
    moved, expected = twice[4] - once[4], (once[4] - before[4]) * 0.5
    inside = [digits.normalised(torch.full((1, 1), v)) for v in (0.0, 1.0)]
    legal = (twice[4] > inside[0]) & (twice[4] < inside[1]) & (once[4] > inside[0]) & (once[4] < inside[1])
    torch.testing.assert_close(moved[legal], expected[legal], atol=1e-6, rtol=1e-3)


def test_networks_learn_once_for_each_view_and_not_for_each_step(digits):
    method = learner(digits, reuse=3, window=2)
    seen = []
    for i in range(7):
        method.step(i)
        seen.append(sum(int(s.state()["counts"][1]) for s in method._queue.students))
    assert seen == [128, 128, 128, 256, 256, 256, 384]


def test_a_mosaic_finer_than_the_image_is_refused(digits):
    with pytest.raises(ConfigError, match="mosaic = 5 can't be used: images 8 pixels wide have room for 4"):
        learner(digits, mosaic=5)


@pytest.mark.parametrize("mosaic", [1, 3])
def test_other_factors_and_odd_cells(digits, mosaic):
    method = learner(digits, mosaic=mosaic)
    method.step(0)
    assert method.result().records()[0].shape == (20 * mosaic**2, 1, 8, 8)

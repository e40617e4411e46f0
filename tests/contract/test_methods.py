"""What every method promises, and with every distance if it matches."""

import pytest
import torch

import lqm
from lqm.distances import DISTANCES
from lqm.distances.mean import Mean
from lqm.engine import run
from lqm.images.methods import METHODS
from lqm.images.sources import Images, ImageSource
from lqm.utils.errors import DivergedError

MATCHING = [name for name, kind in METHODS.items() if kind.matches]
CHOOSING = [name for name in METHODS if name not in MATCHING]
PAIRS = [(method, distance) for method in MATCHING for distance in DISTANCES]
CPU = torch.device("cpu")
SMALL_QUEUE = {"student_batch": 16, "student_steps": 2, "queue_interval": 2, "queue_limit": 4}
SMALL = {
    "dm": {"real_batch": 32},
    "datadam": {"real_batch": 32},
    "idm": {"real_batch": 32, **SMALL_QUEUE},
    **{name: {"batch": 32} for name in CHOOSING},
}


def build(source, method, distance="lqm", per_class=3, seed=0, **settings):
    kind = METHODS[method]
    values = {"steps": 6, "network": "convnet:width=8", **SMALL[method], **settings}
    settings = kind.settings() if method == "random" else kind.settings(**values)
    return kind(source, DISTANCES[distance], per_class, seed, settings, CPU)


@pytest.mark.parametrize(("method", "distance"), PAIRS)
def test_steps_move_the_images_and_the_result_is_a_legal_set(digits, method, distance):
    learner = build(digits, method, distance)
    before = learner.result()
    run(learner, 6, show_progress=False)
    after = learner.result()
    assert not after.images.equal(before.images)
    assert after.images.shape == (30, 1, 8, 8)
    assert after.images.min() >= 0
    assert after.images.max() <= 1
    assert after.labels.tolist() == [c for c in range(10) for _ in range(3)]
    assert after.class_names == digits.class_names


@pytest.mark.parametrize(("method", "distance"), PAIRS)
def test_a_state_taken_up_again_goes_on_bit_for_bit(digits, method, distance):
    straight, first, second = (build(digits, method, distance) for _ in range(3))
    for i in range(4):
        straight.step(i)
    for i in range(2):
        first.step(i)
    state = {name: tensor.clone() for name, tensor in first.state().items()}
    for _ in range(2):
        second.load_state(state)
        for i in range(2, 4):
            second.step(i)
    assert second.result().images.equal(straight.result().images)
    assert second.state().keys() == straight.state().keys()
    assert all(tensor.equal(straight.state()[name]) for name, tensor in second.state().items())


@pytest.mark.parametrize("method", CHOOSING)
def test_what_chooses_gives_distinct_real_images_and_goes_on_bit_for_bit(digits, method):
    straight, first, second = (build(digits, method, per_class=5) for _ in range(3))
    for i in range(4):
        straight.step(i)
    for i in range(2):
        first.step(i)
    second.load_state({name: tensor.clone() for name, tensor in first.state().items()})
    for i in range(2, 4):
        second.step(i)
    condensed = second.result()
    assert condensed.images.equal(straight.result().images)
    for label in range(10):
        real = {tuple(p.flatten().tolist()) for p in digits.train.of_class(label)}
        chosen = {tuple(p.flatten().tolist()) for p in condensed.images[condensed.labels == label]}
        assert len(chosen) == 5
        assert chosen <= real


@pytest.mark.parametrize(("method", "distance"), PAIRS)
def test_the_loss_falls(digits, method, distance):
    """Judged on a network and a batch that no step has seen."""
    own = {"dm": {"learning_rate": 3.0}, "datadam": {"learning_rate": 0.3}, "idm": {"class_weight": 0}}
    shape = {"start": "noise", "network": "convnet:width=16:depth=2"}
    learner = build(digits, method, distance, **shape, **own[method])
    before = [build_loss(learner, i) for i in range(1000, 1004)]
    for i in range(60):
        learner.step(i)
    after = [build_loss(learner, i) for i in range(1000, 1004)]
    assert sum(after) < 0.8 * sum(before)


def build_loss(learner, i):
    """The loss that step i meets, without keeping the step."""
    state = {name: tensor.clone() for name, tensor in learner.state().items()}
    loss = learner.step(i)["loss"]
    learner.load_state(state)
    return loss


@pytest.mark.parametrize("method", METHODS)
def test_taking_up_a_first_state_forgets_all_that_came_after(digits, method):
    learner = build(digits, method, "lqm")
    first = {name: tensor.clone() for name, tensor in learner.state().items()}
    learner.step(0)
    once = learner.result().images
    learner.load_state(first)
    learner.step(0)
    assert learner.result().images.equal(once)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_set_and_another_seed_another(digits, method):
    def learn(seed):
        learner = build(digits, method, "lqm", seed=seed)
        run(learner, 3, show_progress=False)
        return learner.result().images

    assert learn(0).equal(learn(0))
    assert not learn(0).equal(learn(1))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("per_class", [1, 40])
def test_one_record_a_class_and_more_records_than_the_real_batch(digits, method, per_class):
    learner = build(digits, method, "lqm", per_class=per_class)
    run(learner, 2, show_progress=False)
    assert len(learner.result().labels) == 10 * per_class


@pytest.mark.parametrize("method", METHODS)
def test_unequal_classes_colours_and_odd_sizes(method):
    draws = torch.Generator().manual_seed(0)
    labels = torch.tensor([0] * 3 + [1] * 9 + [2] * 40)
    images = Images(torch.rand(52, 3, 11, 11, generator=draws), labels)
    source = ImageSource("odd", images, images, ("few", "some", "many"))
    learner = build(source, method, "lqm")
    run(learner, 3, show_progress=False)
    assert learner.result().images.shape == (9, 3, 11, 11)


@pytest.mark.parametrize("method", MATCHING)
def test_divergence_names_the_class(digits, method):
    class Spoiled(Mean):
        seen = 0

        def loss(self, target, synthetic):
            losses = super().loss(target, synthetic)
            spoiled = torch.arange(Spoiled.seen, Spoiled.seen + len(losses)) == 7
            Spoiled.seen += len(losses)
            return losses.masked_fill(spoiled, torch.inf)

    kind = METHODS[method]
    settings = kind.settings(steps=2, network="convnet:width=4", **SMALL[method])
    with pytest.raises(DivergedError, match="the loss of class '7' became inf at step 1 of 2"):
        run(kind(digits, Spoiled(), 2, 0, settings, CPU), 2, show_progress=False)


@pytest.mark.parametrize("method", METHODS)
def test_the_callers_random_state_is_left_alone(digits, method):
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    run(build(digits, method, "sliced-wasserstein"), 2, show_progress=False)
    assert torch.rand(1).equal(expected)


@pytest.mark.parametrize("method", MATCHING)
def test_a_distance_of_the_users_own_is_accepted(digits, method, tiny):
    class Medians:
        name = "medians"

        def target(self, real, k, generator=None):
            return (real.median(dim=-2).values,)

        def loss(self, target, synthetic):
            return (target[0] - synthetic.median(dim=-2).values).square().sum(dim=-1)

    condensed = lqm.condense(
        digits,
        method=method,
        distance=Medians(),
        per_class=2,
        settings=tiny | SMALL[method],
        show_progress=False,
    )
    assert condensed.manifest["distance"] == {"name": "medians"}


@pytest.mark.parametrize("method", MATCHING)
@pytest.mark.parametrize("start", ["noise", "herding", "k-centre", "k-means"])
def test_any_method_starts_from_anything(digits, method, start):
    learner = build(digits, method, start=start, start_steps=2)
    before = learner.result()
    again = build(digits, method, start=start, start_steps=2)
    assert before.images.equal(again.result().images)
    assert not before.images.equal(build(digits, method).result().images)
    run(learner, 1, show_progress=False)
    assert not learner.result().images.equal(before.images)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "random"])
def test_a_network_of_the_users_own_is_used(digits, method):
    made = []

    def mine(shape, classes):
        made.append(shape)
        return torch.nn.Sequential(
            torch.nn.Conv2d(1, 4, 3),
            torch.nn.ReLU(),
            torch.nn.Conv2d(4, 4, 3),
            torch.nn.ReLU(),
            torch.nn.Dropout(),
            torch.nn.Flatten(),
            torch.nn.Linear(64, classes),
        )

    def learn():
        return lqm.condense(
            digits,
            method=method,
            per_class=2,
            network=mine,
            settings={"steps": 2, **SMALL[method]},
            show_progress=False,
        )

    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    condensed = learn()
    assert torch.rand(1).equal(expected), "the caller's random state is left alone"
    assert condensed.images.equal(learn().images), "dropout follows from the seed too"
    assert made
    assert set(made) == {(1, 8, 8)}
    assert condensed.manifest["settings"]["network"].startswith("own:")

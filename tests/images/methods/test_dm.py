"""DM: its updates, its groups of classes, and its init."""

import sys

import pytest
import torch

import lqm
from lqm.cli.main import main
from lqm.images import problem as problems
from lqm.images.networks import Network
from lqm.images.sources import Images, ImageSource
from lqm.images.synthetic import SyntheticImages
from tests.images.methods.making import built, problem_of

NETWORK = "convnet:width=8:depth=2"


def learner(source, per_class=3, **settings):
    values = {"steps": 4, "network": NETWORK, "real_batch": 20, **settings}
    return built("dm", problem_of(source, per_class, "mean"), **values)


def test_per_class_makes_an_update_for_each_class(digits, monkeypatch):
    moved = []

    def spy(self):
        before = self.images.detach().clone()
        original(self)
        moved.append([c for c in range(10) if not self.images[c].equal(before[c])])

    original = SyntheticImages.update
    monkeypatch.setattr(SyntheticImages, "update", spy)
    learner(digits, momentum=0).step(0)
    assert moved == [list(range(10))]
    moved.clear()
    learner(digits, momentum=0, update="per-class").step(0)
    assert moved == [[c] for c in range(10)]


@pytest.mark.parametrize(
    ("real", "synthetic", "longest"), [(1, 512, 1), (4096, 7, 2), (60, 512, 3), (60, 7, 2), (4096, 512, 10)]
)
def test_groups_of_classes_bound_the_memory_and_change_nothing(digits, monkeypatch, real, synthetic, longest):
    """20 real and 3 synthetic images of each class."""
    whole = learner(digits)
    whole.step(0)
    monkeypatch.setattr(problems, "REAL_AT_ONCE", real)
    monkeypatch.setattr(problems, "SYNTHETIC_AT_ONCE", synthetic)
    seen = []
    batch = SyntheticImages.batch

    def spy(self, classes, transforms=()):
        seen.append(list(classes))
        return batch(self, classes, transforms)

    monkeypatch.setattr(SyntheticImages, "batch", spy)
    in_groups = learner(digits)
    in_groups.step(0)
    assert max(map(len, seen)) == longest
    assert [label for classes in seen for label in classes] == list(range(10))
    torch.testing.assert_close(in_groups.synthetic.images, whole.synthetic.images, atol=1e-6, rtol=1e-5)


def test_a_network_that_normalises_by_its_batch_has_all_classes_in_one_group(digits):
    problem = problem_of(digits)
    assert [len(group) for group in problem.class_groups(NETWORK, 2048, 3)] == [2] * 5
    assert [len(group) for group in problem.class_groups(f"{NETWORK}:norm=batch", 2048, 3)] == [10]


def test_without_momentum_per_class_is_the_same_as_summed(digits):
    """The gradient of a class touches that class alone, and the draws come in the same order."""
    together, apart = (learner(digits, momentum=0, update=update) for update in ("summed", "per-class"))
    assert together.step(0)["loss"] == pytest.approx(apart.step(0)["loss"], rel=1e-5)
    torch.testing.assert_close(together.synthetic.images, apart.synthetic.images, atol=1e-5, rtol=1e-5)


def test_uint8_images_are_condensed_like_the_same_floats(digits):
    whole = (digits.train.images * 255).round()
    labels = digits.train.labels
    sets = [Images(whole.byte(), labels), Images(whole / 255, labels)]
    names = digits.class_names
    first, second = (ImageSource("same", p, p, names, digits.augmentation) for p in sets)
    torch.testing.assert_close(first.mean, second.mean)
    torch.testing.assert_close(first.std, second.std)
    results = []
    for source in (first, second):
        method = learner(source)
        for i in range(3):
            method.step(i)
        results.append(method.result().images)
    torch.testing.assert_close(*results, atol=1e-4, rtol=1e-3)


def test_an_init_other_than_random_is_that_of_the_coreset(digits):
    herding = built("herding", problem_of(digits), steps=5, network=NETWORK)
    for i in range(5):
        herding.step(i)
    init = learner(digits, init="herding", init_steps=5).result()
    torch.testing.assert_close(init.images, herding.result().images)


def test_a_batch_norm_network_sees_all_classes_at_once(digits, monkeypatch):
    sizes = []

    def spy(self, images):
        sizes.append(len(images))
        return self.features(images)

    method = learner(digits, network="convnet:width=8:norm=batch", real_batch=100)
    monkeypatch.setattr(Network, "embed", spy)
    method.step(0)
    assert sizes == [1000, 30]


def test_the_names_that_settings_had_before_are_accepted(digits, monkeypatch, tmp_path):
    small = {"steps": 2, "network": NETWORK, "real_batch": 20}

    def condense(**settings):
        return lqm.condense(digits, per_class=1, settings=small | settings, show_progress=False)

    expected = condense(init="herding", init_steps=3, update="per-class")
    assert condense(start="herding", start_steps=3, stepping="one-by-one").images.equal(expected.images)
    assert not condense().images.equal(expected.images)

    expected = condense(init="noise")
    values = [word for name, value in small.items() for word in ("--set", f"{name}={value}")]
    words = ["condense", "digits", "--per-class", "1", "--start", "noise", "--out", str(tmp_path / "run")]
    monkeypatch.setattr(sys, "argv", ["lqm", *words, *values])
    main()
    assert lqm.load(tmp_path / "run").images.equal(expected.images)

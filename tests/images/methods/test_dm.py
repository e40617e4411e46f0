import pytest
import torch
from lqm.images.methods.synthetic import SyntheticImages

from lqm.distances import DISTANCES
from lqm.images.methods.dm import DM, DMSettings
from lqm.images.sources import Images, ImageSource

CPU = torch.device("cpu")


def learner(source, per_class=3, **settings):
    values = {"steps": 4, "network": "convnet:width=8:depth=2", "real_batch": 20, **settings}
    return DM(source, DISTANCES["mean"], per_class, 0, DMSettings(**values), CPU)


def test_one_by_one_makes_an_update_for_each_class(digits, monkeypatch):
    moved = []

    def spy(self):
        before = self.tensor.detach().clone()
        original(self)
        moved.append([c for c in range(10) if not self.tensor[c].equal(before[c])])

    original = SyntheticImages.move
    monkeypatch.setattr(SyntheticImages, "move", spy)
    learner(digits, momentum=0).step(0)
    assert moved == [list(range(10))]
    moved.clear()
    learner(digits, momentum=0, stepping="one-by-one").step(0)
    assert moved == [[c] for c in range(10)]


@pytest.mark.parametrize(
    ("real", "synthetic", "longest"), [(1, 512, 1), (4096, 7, 2), (60, 512, 3), (60, 7, 2), (4096, 512, 10)]
)
def test_turns_of_classes_bound_the_memory_and_change_nothing(digits, monkeypatch, real, synthetic, longest):
    """20 real and 3 synthetic images of each class."""
    whole = learner(digits)
    whole.step(0)
    monkeypatch.setattr(DM, "real_at_once", real)
    monkeypatch.setattr(DM, "synthetic_at_once", synthetic)
    in_turns = learner(digits)
    assert max(map(len, in_turns.turns)) == longest
    in_turns.step(0)
    torch.testing.assert_close(in_turns.images, whole.images, atol=1e-6, rtol=1e-5)


def test_without_momentum_one_by_one_is_the_same_as_summed(digits):
    """The gradient of a class touches that class alone, and the draws come in the same order."""
    together, apart = (learner(digits, momentum=0, stepping=s) for s in ("summed", "one-by-one"))
    assert together.step(0)["loss"] == pytest.approx(apart.step(0)["loss"], rel=1e-5)
    torch.testing.assert_close(together.images, apart.images, atol=1e-5, rtol=1e-5)


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


def test_a_start_other_than_random_is_that_of_the_coreset(digits):
    from lqm.images.methods.coreset import CoresetSettings, Herding

    settings = CoresetSettings(steps=5, network="convnet:width=8:depth=2")
    herding = Herding(digits, None, 3, 0, settings, CPU)
    for i in range(5):
        herding.step(i)
    start = learner(digits, start="herding", start_steps=5).result()
    torch.testing.assert_close(start.images, herding.result().images)


def test_a_batch_norm_network_sees_all_classes_at_once(digits, monkeypatch):
    sizes = []

    def spy(self, images):
        sizes.append(len(images))
        return self.features(images)

    method = learner(digits, network="convnet:width=8:norm=batch", real_batch=100)
    monkeypatch.setattr("lqm.images.networks.network.Network.embed", spy)
    method.step(0)
    assert sizes == [1000, 30]

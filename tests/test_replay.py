"""A memory of condensed classes, for learners to whom classes come one after the other."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.utils.data import DataLoader, Dataset, TensorDataset

from lqm.condensed.channels import Channels
from lqm.replay import CondensedMemory
from lqm.utils.errors import ArtifactError, ConfigError, DataError

FAST = {"steps": 2, "network": "convnet:width=4:depth=1", "real_batch": 16}


def of_classes(digits, *classes):
    mine = torch.isin(digits.train.labels, torch.tensor(classes))
    return digits.train.images[mine], digits.train.labels[mine]


def counts(memory):
    return {int(label): int((memory.buffer.targets == label).sum()) for label in memory.seen_classes}


class Experience(Dataset):
    """As Avalanche's datasets: `targets`, and items of an image, its label and the number of the task."""

    def __init__(self, images, labels, task=0):
        self.images, self.targets, self.task = images, labels.tolist(), task

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        return self.images[index], self.targets[index], self.task


class Strategy:
    """A learner with Avalanche's attributes, which calls a storage policy when its replay plugin does."""

    def __init__(self, policy, mem_size):
        assert policy.max_size == mem_size
        self.policy, self.train_mb_size, self.rehearsed = policy, 8, []

    def train(self, experience):
        self.experience = experience
        if len(self.policy.buffer) > 0:
            loader = DataLoader(self.policy.buffer, batch_size=self.train_mb_size, shuffle=True)
            self.rehearsed.append(torch.cat([batch[1] for batch in loader]).bincount(minlength=6).tolist())
        self.policy.update(self, num_workers=0, shuffle=True)


def test_a_strategy_of_avalanches_shape_rehearses_earlier_classes(digits):
    memory = CondensedMemory(12, settings=FAST)
    strategy = Strategy(memory, mem_size=12)
    for task in range(3):
        dataset = Experience(*of_classes(digits, 2 * task, 2 * task + 1), task)
        strategy.train(SimpleNamespace(dataset=dataset, current_experience=task))
    assert strategy.rehearsed == [[6, 6, 0, 0, 0, 0], [3, 3, 3, 3, 0, 0]]
    assert counts(memory) == dict.fromkeys(range(6), 2)


def test_later_versions_of_avalanche_call_post_adapt(digits):
    one, other = CondensedMemory(6, method="random"), CondensedMemory(6, method="random")
    experience = SimpleNamespace(dataset=Experience(*of_classes(digits, 3, 5)))
    one.post_adapt(object(), experience)
    other.update(SimpleNamespace(experience=experience))
    assert counts(one) == {3: 3, 5: 3}
    assert torch.equal(one.buffer.tensors[0], other.buffer.tensors[0])


def test_images_are_synthetic_with_pixels_in_range_and_those_of_their_class(digits):
    memory = CondensedMemory(8, settings=FAST | {"learning_rate": 1.0, "steps": 10})
    images, labels = of_classes(digits, 0, 1)
    memory.update((images, labels))
    kept, own = memory.buffer.tensors
    assert kept.min() >= 0
    assert kept.max() <= 1
    assert not any((images == image).flatten(1).all(dim=1).any() for image in kept)
    centres = torch.stack([images[labels == label].mean(dim=0) for label in (0, 1)])
    assert torch.cdist(kept.flatten(1), centres.flatten(1)).argmin(dim=1).equal(own)


@pytest.mark.parametrize("form", ["arrays", "tensors", "dataset"])
def test_all_forms_of_data_give_the_same_memory(digits, form):
    images, labels = of_classes(digits, 0, 1)
    given = {
        "arrays": (images.numpy(), labels.numpy().astype(np.int32)),
        "tensors": (images, labels),
        "dataset": TensorDataset(images, labels),
    }[form]
    memory, expected = CondensedMemory(4, method="random"), CondensedMemory(4, method="random")
    memory.update(given)
    expected.update_from_dataset(Experience(images, labels))
    assert memory.buffer.tensors[0].equal(expected.buffer.tensors[0])


def test_shares_are_equal_as_classes_come_and_the_first_get_what_is_left(digits):
    memory = CondensedMemory(7, settings=FAST)
    memory.update(of_classes(digits, 4))
    assert counts(memory) == {4: 7}
    memory.update(of_classes(digits, 1, 2))
    assert counts(memory) == {4: 3, 1: 2, 2: 2}
    assert memory.seen_classes == (4, 1, 2)
    assert len(memory) == len(memory.buffer) == 7


def test_with_a_known_number_of_classes_nothing_is_given_up(digits):
    memory = CondensedMemory(7, total_classes=3, settings=FAST)
    memory.update(of_classes(digits, 4))
    (before, _) = memory.buffer.tensors
    memory.update(of_classes(digits, 1, 2))
    assert counts(memory) == {4: 3, 1: 2, 2: 2}
    assert memory.buffer.tensors[0][:3].equal(before)


def test_what_is_left_of_a_class_is_chosen_by_herding_among_its_images(digits):
    memory = CondensedMemory(6, method="random")
    memory.update(of_classes(digits, 7))
    whole = memory.buffer.tensors[0].flatten(1)
    memory.resize(None, 2)
    kept = memory.buffer.tensors[0].flatten(1)
    mean = whole.mean(dim=0)
    first = min(whole, key=lambda image: (image - mean).norm())
    second = min(
        (image for image in whole if not image.equal(first)),
        key=lambda image: ((first + image) / 2 - mean).norm(),
    )
    assert kept.equal(torch.stack([first, second]))
    assert memory.max_size == 2


def test_a_share_that_grows_again_is_not_filled_up(digits):
    memory = CondensedMemory(4, method="random")
    memory.update(of_classes(digits, 0, 1))
    memory.resize(None, 2)
    memory.resize(None, 40)
    assert counts(memory) == {0: 1, 1: 1}
    memory.update(of_classes(digits, 2))
    assert counts(memory) == {0: 1, 1: 1, 2: 13}


def test_a_small_class_is_kept_as_it_is(digits):
    images, labels = of_classes(digits, 0, 1)
    few = torch.cat([(labels == 0).nonzero()[:3, 0], (labels == 1).nonzero()[:, 0]])
    memory = CondensedMemory(10, settings=FAST)
    memory.update((images[few], labels[few]))
    assert counts(memory) == {0: 3, 1: 5}
    kept, own = memory.buffer.tensors
    assert {tuple(image.flatten().tolist()) for image in kept[own == 0]} == {
        tuple(image.flatten().tolist()) for image in images[few[:3]]
    }


def test_a_class_that_comes_again_stays_as_it_was_with_a_warning(digits, capsys):
    memory = CondensedMemory(4, total_classes=2, method="random")
    memory.update(of_classes(digits, 0))
    before = memory.buffer.tensors[0]
    memory.update(of_classes(digits, 0, 1))
    assert "classes [0] come again" in capsys.readouterr().err
    assert memory.buffer.tensors[0][:2].equal(before)
    assert counts(memory) == {0: 2, 1: 2}


def test_normalised_data_are_rehearsed_normalised_alike(digits):
    images, labels = of_classes(digits, 0, 1)
    channels = Channels.of(images)
    by = (channels.mean.tolist(), channels.std.tolist())
    plain, normalised = (
        CondensedMemory(4, method="random"),
        CondensedMemory(4, method="random", normalised_by=by),
    )
    plain.update((images, labels))
    normalised.update((channels.apply(images), labels))
    torch.testing.assert_close(normalised.buffer.tensors[0], channels.apply(plain.buffer.tensors[0]))


def test_a_framework_gets_the_dataset_that_it_wants(digits):
    memory = CondensedMemory(4, method="random", wrap=lambda kept: Experience(*kept.tensors, task=9))
    assert len(memory.buffer) == 0
    memory.update(of_classes(digits, 0, 1))
    assert isinstance(memory.buffer, Experience)
    assert memory.buffer.targets == [0, 0, 1, 1]


def test_the_same_seed_gives_the_same_memory_and_another_one_another(digits):
    def kept(seed):
        memory = CondensedMemory(4, settings=FAST, seed=seed)
        memory.update(of_classes(digits, 0, 1))
        return memory.buffer.tensors[0]

    assert kept(1).equal(kept(1))
    assert not kept(1).equal(kept(2))


def test_a_saved_memory_goes_on_as_if_it_had_not_been_saved(digits, tmp_path):
    whole, first = CondensedMemory(6, method="random"), CondensedMemory(6, method="random")
    for memory in (whole, first):
        memory.update(of_classes(digits, 8))
        memory.update(of_classes(digits, 3))
    first.save(tmp_path / "memory.safetensors")
    again = CondensedMemory(99, method="random")
    again.load(tmp_path / "memory.safetensors")
    for memory in (whole, again):
        memory.update(of_classes(digits, 5))
    assert again.max_size == 6
    assert again.seen_classes == (8, 3, 5)
    assert again.buffer.tensors[0].equal(whole.buffer.tensors[0])
    assert set(load_file(tmp_path / "memory.safetensors")) == {"class 3", "class 8", "classes", "max_size"}


def test_what_is_no_memory_is_not_loaded(tmp_path):
    memory, path = CondensedMemory(4), tmp_path / "other.safetensors"
    save_file({"images": torch.zeros(2)}, path)
    with pytest.raises(ArtifactError, match="no state of a memory"):
        memory.load(path)
    path.write_bytes(b"no tensors")
    with pytest.raises(ArtifactError, match="give a file that save wrote"):
        memory.load(path)
    state = {"classes": torch.tensor([1]), "class 1": torch.zeros(9, 1, 8, 8), "max_size": torch.tensor(4)}
    with pytest.raises(ArtifactError, match="damaged"):
        memory.load_state_dict(state)
    with pytest.raises(ArtifactError, match="could not be written"):
        memory.save(tmp_path / "nowhere" / "memory.safetensors")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"max_size": 0}, "max_size = 0"),
        ({"max_size": 4, "total_classes": 0}, "total_classes = 0"),
        ({"max_size": 4, "method": "idm"}, "no method of a memory 'idm'"),
    ],
)
def test_options_that_cant_be_used_are_refused(options, reason):
    with pytest.raises(ConfigError, match=reason):
        CondensedMemory(**options)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (7, "7 has no images; give a dataset"),
        ([1, 2, 3], "item 0 of the dataset is 1"),
        ((torch.zeros(2, 8, 8), torch.zeros(2).long()), r"shape \[2, 8, 8\]"),
        ((torch.zeros(2, 1, 8, 8), torch.zeros(2)), "whole numbers"),
        (([[0.0]], torch.zeros(2)), "give tensors or arrays"),
        ((torch.full((6, 1, 8, 8), 7.5), torch.zeros(6).long()), "outside"),
        ((torch.full((2, 1, 8, 8), -1.0), torch.zeros(2).long()), "outside"),
        ((torch.zeros(2, 1, 8, 8), torch.tensor([0, -1])), "labels from -1"),
    ],
)
def test_data_that_cant_be_used_are_refused_and_the_memory_stays(given, reason):
    memory = CondensedMemory(4, method="random")
    with pytest.raises(DataError, match=reason):
        memory.update(given)
    assert len(memory) == 0


def test_more_classes_than_images_are_refused_and_the_memory_stays(digits):
    memory = CondensedMemory(2, method="random")
    memory.update(of_classes(digits, 0, 1))
    with pytest.raises(ConfigError, match="max_size = 2 is less than one image for each of 3 classes"):
        memory.update(of_classes(digits, 2))
    with pytest.raises(ConfigError, match="max_size = 1 is less"):
        memory.resize(None, 1)
    assert memory.max_size == 2
    assert counts(memory) == {0: 1, 1: 1}

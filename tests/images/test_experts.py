"""Experts against a plain training loop with the same draws."""

from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from safetensors.torch import load_file

from lqm.api.experts import experts
from lqm.engine.randomness import generator, seeded
from lqm.images.augment import augment, draw
from lqm.images.experts import ExpertSettings, snapshot
from lqm.images.experts import epoch as epoch_of
from lqm.images.networks import make_network
from lqm.images.problem import ImageProblem

NETWORK = "convnet:width=4:depth=2"
SEED, BATCH, RATE = 4, 100, 0.05


def make_bank(source, out, networks=2, epochs=3, **settings):
    return experts(
        source,
        out=out,
        networks=networks,
        epochs=epochs,
        network=NETWORK,
        seed=SEED,
        settings={"batch": BATCH, "learning_rate": RATE, **settings},
        show_progress=False,
    )


def read(out, network, epoch):
    (path,) = out.glob(f"snapshot-{network:06d}-{epoch:06d}.*")
    return load_file(path)


def weights_in(stored):
    return {
        name.removeprefix("weights."): part for name, part in stored.items() if name.startswith("weights.")
    }


def plain_training(source, network, epochs, rates, momentum=0.9, weight_decay=5e-4):
    """One training without a stop; yields the weights before it and after each epoch."""
    with seeded(SEED, "trajectory", network):
        model = make_network(NETWORK, source.shape, 10)
    optimizer = torch.optim.SGD(model.parameters(), RATE, momentum=momentum, weight_decay=weight_decay)
    yield {name: part.clone() for name, part in model.state_dict().items()}
    images, labels = source.normalised(source.train.images), source.train.labels
    for epoch in range(epochs):
        optimizer.param_groups[0]["lr"] = rates[epoch]
        order = torch.randperm(
            len(labels), generator=generator(SEED, "trajectory batches", 20 * network + epoch + 1)
        )
        for first in range(0, len(order), BATCH):
            chosen = order[first : first + BATCH]
            optimizer.zero_grad()
            F.cross_entropy(model(images[chosen]), labels[chosen]).backward()
            optimizer.step()
        yield {name: part.clone() for name, part in model.state_dict().items()}


@pytest.mark.parametrize(
    ("schedule", "epochs", "factors"), [("constant", 3, [1, 1, 1]), ("fifths", 6, [1, 1, 1, 1, 0.2, 0.04])]
)
def test_snapshots_are_those_of_a_training_without_a_stop(digits, tmp_path, schedule, epochs, factors):
    """Each was made out of the one before it, weights and momentum, as its file has them."""
    make_bank(digits, tmp_path, epochs=epochs, schedule=schedule)
    for network in range(2):
        rates = [RATE * factor for factor in factors]
        before = None
        for epoch, weights in enumerate(plain_training(digits, network, epochs, rates)):
            found = weights_in(read(tmp_path, network, epoch))
            assert found.keys() == weights.keys()
            for name, part in found.items():
                torch.testing.assert_close(part, weights[name], atol=1e-6, rtol=1e-6)
                assert before is None or not part.equal(before[name]), "snapshots share no memory"
            before = found


def test_experts_learn_and_count_how_often_they_were_right(digits, tmp_path):
    make_bank(digits, tmp_path, networks=1, epochs=6)
    right, seen = torch.stack([read(tmp_path, 0, epoch)["counts"] for epoch in range(7)]).T
    assert seen.tolist() == [epoch * len(digits.train.labels) for epoch in range(7)]
    gained = right.diff() / len(digits.train.labels)
    assert gained[-1] > 0.5
    assert gained[-1] > gained[0]
    model = make_network(NETWORK, digits.shape, 10)
    model.load_state_dict(weights_in(read(tmp_path, 0, 6)))
    with torch.no_grad():
        named = model(digits.normalised(digits.test.images)).argmax(dim=1)
    assert (named == digits.test.labels).float().mean() > 0.5


def test_plain_sgd_has_no_momentum_and_no_decay(digits, tmp_path):
    plain = {"momentum": 0.0, "weight_decay": 0.0}
    make_bank(digits, tmp_path, networks=1, epochs=2, **plain)
    for epoch, weights in enumerate(plain_training(digits, 0, 2, [RATE, RATE], **plain)):
        found = read(tmp_path, 0, epoch)
        assert not any(name.startswith("momentum") for name in found)
        for name, part in weights_in(found).items():
            torch.testing.assert_close(part, weights[name], atol=1e-6, rtol=1e-6)


FLAT = {"optimizer": "gsam", "momentum": 0.0, "weight_decay": 0.0, "augmentation": "dsa", "rho": 0.1}


@pytest.mark.parametrize("settings", [{}, FLAT])
def test_snapshots_differ_and_each_leads_to_the_next_bit_for_bit(digits, tmp_path, settings):
    bank = make_bank(digits, tmp_path, networks=1, epochs=3, **settings)
    shots = [read(tmp_path, 0, epoch) for epoch in range(4)]
    # A bias before an instance norm has a gradient of rounding errors alone.
    names = [name for name, part in shots[0].items() if name.startswith("weights.") and part.ndim > 1]
    assert all(not one[name].equal(next_[name]) for one, next_ in pairwise(shots) for name in names)
    problem = ImageProblem(
        class_names=digits.class_names,
        counts=(1,) * 10,
        seed=SEED,
        device=torch.device("cpu"),
        source=digits,
    )
    chosen = ExpertSettings(network=NETWORK, batch=BATCH, learning_rate=RATE, **settings)
    for epoch in (1, 2, 3):
        again = snapshot(problem, chosen, 0, epoch, bank.snapshot(0, epoch - 1).tensors())
        assert again.keys() == shots[epoch].keys()
        assert all(tensor.equal(shots[epoch][name]) for name, tensor in again.items())


def test_dsa_draws_one_operation_a_batch_with_parameters_of_each_image_s_own(digits):
    problem = ImageProblem(
        class_names=digits.class_names, counts=(1,) * 10, seed=0, device=torch.device("cpu"), source=digits
    )
    settings = ExpertSettings(batch=50, augmentation="dsa")
    found = list(epoch_of(problem, settings, generator(0, "x"), 100))
    draws = generator(0, "x")
    chosen = torch.randperm(len(digits.train.labels), generator=draws)[:100].split(50)
    for (images, labels), places in zip(found, chosen, strict=True):
        expected = augment(
            digits.normalised(digits.train.images[places]), draw(digits.augmentation, draws, rows=50)
        )
        assert images.equal(expected)
        assert labels.equal(digits.train.labels[places])


@pytest.mark.parametrize(
    "settings", [{"augmentation": "color-crop"}, {"augmentation": "dsa"}, {"cutmix": 0.9}, {"momentum": 0.0}]
)
def test_augmentation_and_cutmix_change_the_training_but_not_its_beginning(digits, tmp_path, settings):
    make_bank(digits, tmp_path / "plain", networks=1, epochs=1)
    make_bank(digits, tmp_path / "changed", networks=1, epochs=1, **settings)
    plain, changed = (
        [weights_in(read(tmp_path / name, 0, epoch)) for epoch in (0, 1)] for name in ("plain", "changed")
    )
    assert all(plain[0][name].equal(changed[0][name]) for name in plain[0])
    # A bias before a norm has no gradient.
    weights = [name for name in plain[1] if name.endswith("weight")]
    assert not any(plain[1][name].equal(changed[1][name]) for name in weights)

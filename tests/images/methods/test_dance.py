"""DANCE against a plain loop over the definition, with the same draws and the same experts."""

from dataclasses import fields

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from safetensors.torch import load_file

import lqm
from lqm.api.experts import experts
from lqm.banks import Experts
from lqm.condensed.mosaic import expand
from lqm.distances import DISTANCES
from lqm.engine.randomness import generator
from lqm.images.augment import augment, draw, draw_several
from lqm.images.methods import METHODS
from lqm.images.methods.dance import DANCE, DANCESettings
from lqm.images.networks import Logits, make_network
from lqm.images.problem import ImageProblem
from lqm.methods.batch import Batch
from lqm.methods.objectives.cross_entropy import CrossEntropy
from lqm.utils.old_names import begun_with, current_config

CPU = torch.device("cpu")
SEED, PER_CLASS, REAL, RATE, MOMENTUM, WEIGHT = 3, 2, 12, 0.5, 0.5, 0.7
NETWORK = "convnet:width=6:depth=2"
NETWORKS, EPOCHS = 3, 2


@pytest.fixture(scope="module")
def bank(tmp_path_factory, digits):
    out = tmp_path_factory.mktemp("dance") / "experts"
    experts(digits, out=out, networks=NETWORKS, epochs=EPOCHS, network=NETWORK, show_progress=False)
    return out


def make_problem(source, bank, distance="mean"):
    opened = Experts(bank)
    return ImageProblem(
        class_names=source.class_names,
        counts=(PER_CLASS,) * 10,
        distance=DISTANCES[distance],
        seed=SEED,
        device=CPU,
        source=source,
        experts=lambda: opened,
    )


def read_weights(bank, network, epoch):
    (path,) = bank.glob(f"snapshot-{network:06d}-{epoch:06d}.*")
    stored = load_file(path)
    return {
        name.removeprefix("weights."): part for name, part in stored.items() if name.startswith("weights.")
    }


def make_encoder(weights):
    network = make_network(NETWORK, (1, 8, 8), 10)
    network.load_state_dict(weights)
    return network.eval().requires_grad_(False)


class PlainLoop:
    """Section 9 of the facts about the other methods, written out."""

    def __init__(self, source, first, bank, distance="mean", several=True):
        self.several = several
        self.source, self.bank, self.distance = source, bank, DISTANCES[distance]
        self.images = first.detach().clone()
        self.speed = torch.zeros_like(self.images)
        self.low, self.high = (source.normalised(torch.full((1, 1), v)) for v in (0.0, 1.0))

    def step(self, i):
        draws = generator(SEED, "interpolation", i)
        chosen = int(torch.randint(NETWORKS, (), generator=draws))
        share = float(torch.rand((), generator=draws))
        first, last = (read_weights(self.bank, chosen, epoch) for epoch in (0, EPOCHS))
        mixed = make_encoder({name: share * first[name] + (1 - share) * last[name] for name in first})
        trained = make_encoder(last)
        draws = generator(SEED, "batch", i)
        for label in range(10):
            own = self.source.by_class[label]
            real = self.source.normalised(own[torch.randperm(len(own), generator=draws)[:REAL]])
            drawn = self.drawn(draws)

            target = self.distance.target(mixed.embed(augment(real, *drawn)), 4 * PER_CLASS, draws)

            def match(leaf, label=label, target=target, drawn=drawn):
                return self.distance.loss(target, mixed.embed(augment(expand(leaf[label], 2), *drawn)))

            self.update(match)
        draws = generator(SEED, "calibration", i)
        for label in range(10):
            drawn = self.drawn(draws)

            def calibrate(leaf, label=label, drawn=drawn):
                logits = trained(augment(expand(leaf[label], 2), *drawn))
                return WEIGHT * F.cross_entropy(logits, torch.full((len(logits),), label))

            self.update(calibrate)

    def drawn(self, draws):
        operations = ["color", "crop", "cutout"]
        return draw_several(operations, draws) if self.several else [draw(operations, draws)]

    def update(self, loss_of):
        """One step of SGD over the whole tensor: the momentum of the other classes moves them on."""
        leaf = self.images.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(loss_of(leaf), leaf)
        self.speed = MOMENTUM * self.speed + gradient
        self.images = (self.images - RATE * self.speed).clamp(self.low, self.high)


@pytest.mark.parametrize("at_once", ["several", "one"])
def test_three_steps_are_those_of_the_plain_loop(digits, bank, at_once):
    settings = DANCESettings(
        network=NETWORK,
        real_batch=REAL,
        learning_rate=RATE,
        momentum=MOMENTUM,
        class_weight=WEIGHT,
        pairs=NETWORKS,
        operations_at_once=at_once,
    )
    ours = DANCE.build(make_problem(digits, bank), settings)
    plain = PlainLoop(digits, ours.synthetic.images, bank, several=at_once == "several")
    before = plain.images.clone()
    for i in range(3):
        ours.step(i)
        plain.step(i)
    torch.testing.assert_close(ours.synthetic.images.detach(), plain.images, atol=2e-5, rtol=1e-5)
    assert (plain.images - before).abs().mean() > 0.01


def test_any_distance_is_matched_and_mosaics_count_as_their_cells(digits, bank):
    settings = DANCESettings(network=NETWORK, real_batch=REAL, pairs=NETWORKS)
    for distance in ("lqm", "energy"):
        method = DANCE.build(make_problem(digits, bank, distance), settings)
        assert list(method.synthetic.counts) == [4 * PER_CLASS] * 10
        assert set(method.step(0)) == {"loss", "calibration"}


@pytest.mark.parametrize("weight", [1.0, 0.25])
def test_calibration_is_the_cross_entropy_of_each_class(digits, bank, weight):
    network = make_encoder(read_weights(bank, 0, EPOCHS))
    encoder = make_problem(digits, bank).encoder_factory(NETWORK, Logits).of(network)
    images = torch.cat([digits.normalised(digits.by_class[label][:3]) for label in (4, 7)])
    found = CrossEntropy(weight).loss(encoder, None, Batch(images, [4, 7], [3, 3]))
    logits = network(images)
    expected = [
        weight * F.cross_entropy(part, torch.full((3,), label))
        for part, label in zip(logits.split(3), (4, 7), strict=True)
    ]
    torch.testing.assert_close(found, torch.stack(expected))


def test_a_calibration_without_weight_leaves_the_match_alone(digits, bank):
    """Its updates still let momentum run on, so they are compared without any."""
    settings = DANCESettings(network=NETWORK, real_batch=REAL, pairs=1, class_weight=0, momentum=0, mosaic=1)
    both, alone = (DANCE.build(make_problem(digits, bank), settings) for _ in range(2))
    alone.passes = alone.passes[:1]
    both.step(0)
    alone.step(0)
    assert both.result().images.equal(alone.result().images)


def test_without_a_bank_experts_are_trained_in_the_folder_of_the_run_or_nowhere(digits, tmp_path):
    options = {
        "method": "dance",
        "per_class": 1,
        "settings": {
            "steps": 2,
            "network": NETWORK,
            "real_batch": REAL,
            "pairs": 2,
            "expert_epochs": 1,
        },
        "show_progress": False,
    }
    kept = lqm.condense(digits, out=tmp_path / "run", **options)
    bank = Experts(tmp_path / "run" / "experts")
    assert (bank.networks, bank.epochs) == (2, 1)
    assert lqm.condense(digits, **options).images.equal(kept.images)


def test_labels_by_experts_are_the_mean_of_what_they_answer_to_each_cell(digits, bank):
    problem = make_problem(digits, bank)
    settings = DANCESettings(steps=1, network=NETWORK, real_batch=REAL, pairs=2, labels="experts")
    method = DANCE.build(problem, settings)
    method.step(0)
    made = method.result()
    cells = digits.normalised(expand(made.images, 2))
    answers = [make_encoder(read_weights(bank, number, EPOCHS))(cells).softmax(dim=1) for number in range(2)]
    torch.testing.assert_close(made.soft_labels, sum(answers) / 2)
    assert made.targets().shape == (10 * PER_CLASS * 4, 10)
    assert made.learning_rate is None


@pytest.mark.parametrize(("method", "own"), [("m3d", "kept"), ("idc", "outer"), ("ncfm", "pairs")])
def test_earlier_runs_go_on_with_several_operations_at_once(method, own):
    known = {each.name for each in fields(METHODS[method].settings)}
    before = dict.fromkeys(known - {"operations_at_once", "steps"}, 1)
    assert own in before
    run = {"config": {"method": method, "settings": before}, "steps": 7}
    assert begun_with(run, method, known)["operations_at_once"] == "several"


def test_idm_has_no_such_setting():
    before = {"method": "idm", "settings": {"mosaic": 2, "queue_limit": 100}}
    assert "operations_at_once" not in current_config(before)["settings"]


def test_a_run_that_an_earlier_version_began_goes_on_with_hard_labels():
    before = {"method": "dance", "settings": {"pairs": 5, "class_weight": 1.0}}
    assert current_config(before)["settings"] == {
        **before["settings"],
        "labels": "hard",
        "expert_cutmix": 0.5,
        "operations_at_once": "several",
    }

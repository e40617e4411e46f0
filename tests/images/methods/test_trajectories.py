"""MTT, FTD, TESLA and DATM: their steps against a plain loop, and what each adds to it."""

import pytest
import torch

import lqm
from benchmarks.ratios.plain_trajectories import PlainTrajectories
from lqm.images.methods.trajectories import DATMSettings, FTDSettings, MTTSettings, TESLASettings, build
from lqm.images.networks import make_network
from lqm.images.problem import ImageProblem
from lqm.images.training import logits_of
from lqm.utils.errors import ConfigError, LqmError

CPU = torch.device("cpu")
NETWORK = "convnet:width=4:depth=2"
SEED, PER_CLASS, STEPS, EPOCHS, NETWORKS = 3, 2, 3, 3, 2


@pytest.fixture(scope="module")
def bank(digits, tmp_path_factory):
    return lqm.experts(
        digits,
        out=tmp_path_factory.mktemp("bank"),
        networks=NETWORKS,
        epochs=EPOCHS,
        network=NETWORK,
        settings={"momentum": 0.0, "weight_decay": 0.0, "learning_rate": 0.1, "augmentation": "dsa"},
        show_progress=False,
    )


def make_settings(kind=MTTSettings, **more):
    small = {
        "student_steps": STEPS,
        "student_batch": 12,
        "expert_epochs": 2,
        "max_start": 2,
        "network": NETWORK,
    }
    small |= {
        "first_max_start": None,
        "experts": NETWORKS,
        "rate": 0.2,
        "rate_learning_rate": 1e-3,
        "zca": False,
    }
    return kind(**small | {"learning_rate": 10.0} | more)


def make(digits, bank, kind=MTTSettings, **more):
    problem = ImageProblem(
        class_names=digits.class_names,
        counts=(PER_CLASS,) * 10,
        seed=SEED,
        device=CPU,
        source=digits,
        experts=lambda: bank,
    )
    return build(problem, make_settings(kind, **more))


def expert(bank, number, epoch):
    return bank.snapshot(number, epoch).below("weights")


def plain_of(digits, bank, ours, settings):
    return PlainTrajectories(digits, PER_CLASS, SEED, settings, bank, ours.state().get("logits"))


@pytest.mark.parametrize("gradient", ["exact", "two-pass"])
@pytest.mark.parametrize("labels", ["hard", "learned"])
def test_three_steps_are_those_of_the_plain_loop(digits, bank, gradient, labels):
    changed = {"gradient": gradient, "labels": labels}
    ours = make(digits, bank, **changed)
    plain = plain_of(digits, bank, ours, make_settings(**changed))
    first = {name: tensor.detach().clone() for name, tensor in ours.state().items()}
    for i in range(3):
        found = ours.step(i)
        assert found["loss"] == pytest.approx(plain.step(i), rel=1e-4)
        assert found["rate"] == pytest.approx(plain.rate.item(), rel=1e-5)
    learned = ours.state()
    torch.testing.assert_close(learned["images"], plain.images.detach(), atol=1e-4, rtol=1e-3)
    assert (learned["images"] - first["images"]).abs().amax() > 0.01
    assert ours.result().learning_rate == pytest.approx(plain.rate.item(), rel=1e-5)
    if labels == "learned":
        torch.testing.assert_close(learned["logits"], plain.logits.detach(), atol=1e-4, rtol=1e-3)
        assert not learned["logits"].equal(first["logits"])


def test_two_passes_have_the_same_loss_and_another_gradient(digits, bank):
    exact, two_pass = make(digits, bank), make(digits, bank, TESLASettings)
    assert exact.step(0)["loss"] == pytest.approx(two_pass.step(0)["loss"], rel=1e-5)
    assert not exact.result().images.equal(two_pass.result().images)


def test_the_result_of_ftd_is_the_average_of_its_images(digits, bank):
    ours = make(digits, bank, FTDSettings, ema=0.9)
    average = ours.synthetic.images.detach().clone()
    for i in range(3):
        ours.step(i)
        average = 0.9 * average + 0.1 * ours.synthetic.images.detach()
    expected = average.flatten(0, 1) * digits.std.view(-1, 1, 1) + digits.mean.view(-1, 1, 1)
    torch.testing.assert_close(ours.result().images, expected.clamp(0, 1))
    assert not torch.allclose(average, ours.synthetic.images.detach(), atol=1e-4)


def test_datm_begins_with_images_and_logits_of_experts_that_are_right(digits, bank):
    ours = make(digits, bank, DATMSettings)
    networks = []
    for number in range(NETWORKS):
        network = make_network(NETWORK, digits.shape, 10)
        network.load_state_dict(expert(bank, number, EPOCHS))
        networks.append(network.eval())
    first, labels = ours.result(), torch.arange(10).repeat_interleave(PER_CLASS)
    each = torch.stack([logits_of(network, first.images, digits).detach() for network in networks])
    right = each.argmax(dim=2) == labels
    able = [
        any((logits_of(n, own, digits).argmax(dim=1) == label).sum() >= PER_CLASS for n in networks)
        for label, own in enumerate(digits.by_class)
    ]
    assert right.any(dim=0).view(10, PER_CLASS)[able].all()
    for image, label in zip(first.images, labels, strict=True):
        assert (digits.by_class[int(label)][:] - image).abs().flatten(1).amax(dim=1).min() < 1e-5
    for place in range(len(labels)):
        chosen = each[right[:, place], place] if right[:, place].any() else each[:, place]
        torch.testing.assert_close(
            first.soft_labels[place], chosen.mean(dim=0).softmax(dim=0), atol=1e-4, rtol=1e-3
        )
    ours.step(0)
    assert not ours.result().soft_labels.equal(first.soft_labels)
    assert ours.result().labels.equal(labels)


def test_a_loss_above_the_threshold_changes_nothing(digits, bank):
    still, moved = (make(digits, bank, threshold=threshold) for threshold in (1e-6, None))
    before = still.result().images
    assert still.step(0)["loss"] == moved.step(0)["loss"] > 1e-6
    assert still.result().images.equal(before)
    assert not moved.result().images.equal(before)


def test_the_range_of_starts_grows_and_never_leaves_the_bank(digits, bank):
    settings = DATMSettings()
    assert settings.starts(0) == (0, 10)
    assert settings.starts(settings.growth) == settings.starts(10**6) == (0, settings.max_start)
    assert MTTSettings().starts(0) == (0, 20)
    assert DATMSettings(min_start=5).starts(0) == (5, 10)
    with pytest.raises(ConfigError, match="min_start"):
        DATMSettings(min_start=10)


def test_a_bank_that_is_too_short_is_refused_before_any_step(digits, bank, tmp_path):
    asked = {"max_start": 3, "network": NETWORK, "experts": NETWORKS, "steps": 1, "zca": False}
    with pytest.raises(LqmError, match=r"3 epochs, and 'mtt' looks at 4"):
        lqm.condense(
            digits, method="mtt", per_class=1, experts=bank.path, settings=asked, out=tmp_path / "run"
        )
    with pytest.raises(LqmError, match="give experts = 2"):
        lqm.condense(
            digits,
            method="mtt",
            per_class=1,
            experts=bank.path,
            settings=asked | {"experts": 5},
            out=tmp_path / "run",
        )


def test_a_rate_stays_above_nothing(digits, bank):
    ours = make(digits, bank, rate_learning_rate=1e6)
    ours.step(0)
    assert ours.result().learning_rate > 0


def test_a_set_is_evaluated_at_its_own_rate_or_not_at_all(digits, bank):
    settings = {
        "steps": 1,
        "student_steps": 2,
        "max_start": 2,
        "network": NETWORK,
        "experts": 2,
        "zca": False,
    }
    made = lqm.condense(
        digits,
        method="datm",
        per_class=1,
        experts=bank.path,
        show_progress=False,
        settings=settings | {"first_max_start": 1},
    )
    with pytest.raises(LqmError, match=r"rate of its own.*quick-200.*learned-200"):
        lqm.evaluate(made, source=digits, protocol="quick-200", show_progress=False, baselines=())
    found = lqm.evaluate(
        made, source=digits, protocol="learned-200", repeats=1, show_progress=False, baselines=()
    )
    assert "the set's own rate" in str(found.protocol)
    assert 0 < found.score.accuracy <= 1

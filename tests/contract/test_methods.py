"""What every method promises, of images, graphs and tables, and with every distance if it matches one."""

from dataclasses import fields, replace
from itertools import combinations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

import lqm
from lqm.engine import run
from lqm.graphs.graph import Graph
from lqm.images.sources import Images, ImageSource
from lqm.methods.rules import RULES
from lqm.tabular.sources import Rows
from lqm.utils.errors import ConfigError, DivergedError
from tests.contract.making import (
    CHOOSING,
    EVERY,
    LEARNING,
    MATCHING,
    PAIRS,
    SPECS,
    assert_same,
    copied,
    of_usual_distances,
    small_settings,
    steps,
    without_kin,
)

IMAGES = [method for domain, method in EVERY if domain == "images"]
WITH_NETWORKS = [method for method in IMAGES if "network" in small_settings(SPECS["images", method].settings)]
WITH_EXPERTS = [method for method in IMAGES if SPECS["images", method].experts]


def condense(methods, domain, method, per_class=2, source=None, **options):
    """A short run by the public function."""
    settings = small_settings(SPECS[domain, method].settings)
    if "network" in options:
        settings.pop("network")
    return lqm.condense(
        source or methods[domain].source,
        method=method,
        settings=settings,
        show_progress=False,
        **methods[domain].budget(per_class),
        **options,
    )


@pytest.mark.parametrize(("domain", "method", "distance"), PAIRS)
def test_steps_move_the_set_and_the_result_is_legal(methods, domain, method, distance):
    learner = methods.build(domain, method, distance)
    before = learner.result()
    run(learner, 3, show_progress=False)
    after, kind = learner.result(), methods[domain]
    kind.require_legal(after)
    assert not after.data.equal(before.data)
    assert after.data.shape == before.data.shape
    assert after.labels.tolist() == [c for c, count in enumerate(kind.counts) for _ in range(count)]
    assert after.class_names == kind.source.class_names


@pytest.mark.parametrize(("domain", "method", "distance"), of_usual_distances(PAIRS))
def test_a_state_taken_up_again_goes_on_bit_for_bit(methods, domain, method, distance):
    straight, first, second = (methods.build(domain, method, distance) for _ in range(3))
    steps(straight, 0, 4)
    steps(first, 0, 2)
    state = copied(first.state())
    for _ in range(2):
        second.load_state(state)
        steps(second, 2, 4)
    assert second.result().data.equal(straight.result().data)
    assert_same(second.state(), straight.state())


@pytest.mark.parametrize(("domain", "method", "distance"), of_usual_distances(PAIRS))
def test_the_loss_falls(methods, domain, method, distance):
    """Measured on encoders and batches that no step has used, at ten times the paper's rate.

    It falls by a fifth, or most of the way to that of real records: as few of them as there are can't have
    the higher moments of maps that are mostly 0, which CAFE compares.
    """
    (rate,) = [f.default for f in fields(SPECS[domain, method].settings) if f.name == "learning_rate"]
    plain = {
        "steps": 60,
        "init": "noise",
        "class_weight": 0,
        "mosaic": 1,
        "outer": 1,
        "width": 64,
        "rate": 0.1,
        "student_steps": 8,
    }
    learner = methods.build(domain, method, distance, learning_rate=10 * rate, **plain)
    before = unseen_loss(learner)
    for first in range(0, 60, 10):
        steps(learner, first, first + 10)
        if unseen_loss(learner) < 0.8 * before:
            return
    found, real = (
        unseen_loss(each)
        for each in (learner, methods.build(domain, method, distance, **plain | {"init": "random"}))
    )
    if not found - real < 0.2 * (before - real) < before - real:
        pytest.fail(f"the loss fell from {before} to no less than {found}; of real records it is {real}")


def unseen_loss(learner):
    """The losses that some later steps meet, without keeping the steps."""
    state = copied(learner.state())
    total = 0.0
    for i in range(1000, 1003):
        total += learner.step(i)["loss"]
        learner.load_state(state)
    return total


@pytest.mark.parametrize(("domain", "method"), CHOOSING)
def test_what_chooses_gives_distinct_real_records_and_goes_on_bit_for_bit(methods, domain, method):
    straight, first, second = (methods.build(domain, method) for _ in range(3))
    steps(straight, 0, 4)
    steps(first, 0, 2)
    second.load_state(copied(first.state()))
    steps(second, 2, 4)
    condensed, kind = second.result(), methods[domain]
    assert condensed.data.equal(straight.result().data)
    for label, records in enumerate(kind.records):
        real = {tuple(record) for record in records[:].flatten(1).tolist()}
        chosen = {tuple(record) for record in condensed.data[condensed.labels == label].flatten(1).tolist()}
        assert len(chosen) == kind.counts[label]
        assert chosen <= real


@pytest.mark.parametrize(("domain", "method"), without_kin(EVERY))
def test_taking_up_a_first_state_forgets_all_that_came_after(methods, domain, method):
    learner = methods.build(domain, method)
    first = copied(learner.state())
    learner.step(0)
    once = learner.result().data
    learner.load_state(first)
    learner.step(0)
    assert learner.result().data.equal(once)


@pytest.mark.parametrize(("domain", "method"), EVERY)
def test_the_same_seed_gives_the_same_set_and_another_seed_another(methods, domain, method):
    def learn(seed):
        learner = methods.build(domain, method, seed=seed)
        run(learner, 2, show_progress=False)
        return learner.result().data

    assert learn(0).equal(learn(0))
    # Of nodes and rows, these rules look at the features themselves: nothing is random.
    if domain == "images" or method not in ("herding", "k-centre"):
        assert not learn(0).equal(learn(1))


@pytest.mark.parametrize(("domain", "method"), without_kin(EVERY))
@pytest.mark.parametrize("per_class", [1, 40])
def test_one_record_a_class_and_more_records_than_the_real_batch(methods, domain, method, per_class):
    learner = methods.build(domain, method, problem={"counts": (per_class,) * 10})
    run(learner, 2, show_progress=False)
    assert learner.result().labels.bincount().tolist() == [per_class] * 10


@pytest.mark.parametrize("method", IMAGES)
def test_unequal_classes_colours_and_odd_sizes(methods, method):
    draws = torch.Generator().manual_seed(0)
    labels = torch.tensor([0] * 3 + [1] * 9 + [2] * 40)
    images = Images(torch.rand(52, 3, 11, 11, generator=draws), labels)
    source = ImageSource("odd", images, images, ("few", "some", "many"))
    learner = methods.build("images", method, problem={"source": source})
    run(learner, 3, show_progress=False)
    found = learner.result().images
    assert found.shape == (9, 3, 11, 11)
    assert found.isfinite().all()


@pytest.mark.parametrize(("domain", "method"), LEARNING)
def test_divergence_names_the_class(methods, domain, method):
    learner = methods.build(domain, method, problem={"counts": (1,) * 10})
    with torch.no_grad():
        learner.synthetic.learnables[0].tensor[7] = torch.nan
    with pytest.raises(DivergedError, match=r"class '7'.* nan .*step 1 of 2"):
        run(learner, 2, show_progress=False)


@pytest.mark.parametrize(("domain", "method"), without_kin(EVERY))
def test_the_callers_random_state_is_left_alone(methods, domain, method):
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    run(methods.build(domain, method, "sliced-wasserstein"), 2, show_progress=False)
    assert torch.rand(1).equal(expected)


class Medians:
    """A distance of the user's own."""

    name = "medians"

    def target(self, real, k, generator=None):
        return (real.median(dim=-2).values,)

    def loss(self, target, synthetic):
        return (target[0] - synthetic.median(dim=-2).values).square().sum(dim=-1)


@pytest.mark.parametrize(("domain", "method"), without_kin(MATCHING))
def test_a_distance_of_the_users_own_is_accepted(methods, domain, method):
    condensed = condense(methods, domain, method, distance=Medians())
    assert condensed.manifest["distance"] == {"name": "medians"}


@pytest.mark.parametrize(("domain", "method"), [key for key in LEARNING if key not in MATCHING])
def test_a_method_that_matches_no_features_refuses_a_distance(methods, domain, method):
    with pytest.raises(ConfigError, match=f"{method}.*leave the distance out"):
        condense(methods, domain, method, distance="lqm")


@pytest.mark.parametrize(("domain", "method"), without_kin(LEARNING))
def test_any_method_starts_from_anything(methods, domain, method):
    inits = ("random", "noise", *RULES)
    found = {}
    for init in inits:
        learner = methods.build(domain, method, init=init)
        found[init] = learner.result().data
        assert found[init].equal(methods.build(domain, method, init=init).result().data)
        learner.step(0)
        assert not learner.result().data.equal(found[init])
        if domain == "graphs" and init != "noise":
            chosen = methods.build(domain, init, features="own").result().data
            torch.testing.assert_close(F.normalize(found[init]), F.normalize(chosen))
    for one, other in combinations(inits, 2):
        assert not found[one].equal(found[other])


def own_network(shape, classes):
    """With dropout, which draws by itself."""
    assert shape == (1, 8, 8)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3),
        torch.nn.ReLU(),
        torch.nn.Conv2d(4, 4, 3),
        torch.nn.ReLU(),
        torch.nn.Dropout(),
        torch.nn.Flatten(),
        torch.nn.Linear(64, classes),
    )


@pytest.mark.parametrize(
    ("domain", "method"), without_kin(("images", name) for name in WITH_NETWORKS if name not in WITH_EXPERTS)
)
def test_a_network_of_the_users_own_is_used(methods, domain, method):
    def learn():
        return condense(methods, domain, method, network=own_network)

    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    condensed = learn()
    assert torch.rand(1).equal(expected), "the caller's random state is left alone"
    assert condensed.images.equal(learn().images), "dropout follows from the seed too"
    assert not condensed.images.equal(condense(methods, domain, method).images)
    assert condensed.manifest["settings"]["network"].startswith("own:")


@pytest.mark.parametrize("method", WITH_EXPERTS)
def test_experts_have_networks_of_their_own(methods, method):
    with pytest.raises(ConfigError, match=r"experts.*leave the network of your own out"):
        condense(methods, "images", method, network=own_network)


@pytest.mark.parametrize(("domain", "method"), EVERY)
def test_it_runs_from_the_public_function_and_is_loaded_again(methods, domain, method, tmp_path):
    condensed = condense(methods, domain, method, out=tmp_path / "run")
    assert len(condensed.labels) == 20
    again = lqm.load(tmp_path / "run")
    assert type(again) is type(condensed)
    assert again.data.equal(condensed.data)
    assert again.labels.equal(condensed.labels)
    assert again.manifest["method"] == method


def with_another_test_set(domain, source):
    """The same source, but for all that a set is evaluated by."""
    if domain == "images":
        return replace(source, test=Images(1 - source.test.images, source.test.labels.flip(0)))
    if domain == "tables":
        return replace(source, test=Rows(1 - source.test.features, source.test.labels.flip(0)))
    labels = source.graph.labels.clone()
    others = torch.cat([source.validation, source.test])
    labels[others] = (labels[others] + 1) % 10
    return replace(source, graph=Graph(source.graph.features, source.graph.adjacency, labels))


@pytest.mark.parametrize(("domain", "method"), without_kin(EVERY))
def test_what_is_evaluated_by_has_no_part_in_the_set(methods, domain, method):
    source = methods[domain].source
    found = [
        condense(methods, domain, method, source=each)
        for each in (source, with_another_test_set(domain, source))
    ]
    assert found[0].data.equal(found[1].data)


@pytest.mark.parametrize("method", [method for domain, method in EVERY if domain == "graphs"])
def test_condensed_nodes_are_given_to_pyg(methods, method):
    condensed = condense(methods, "graphs", method)
    assert condensed.manifest["budget"] == sum(condensed.manifest["counts"]) == 20
    data = condensed.to_pyg()
    assert data.validate()
    assert data.x.equal(condensed.features)
    assert data.train_mask.all()

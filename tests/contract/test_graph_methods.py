"""What every method for graphs promises, and with every distance if it matches."""

import pytest
import torch

import lqm
from lqm.distances import DISTANCES
from lqm.engine import run
from lqm.graphs.methods import METHODS
from lqm.graphs.population import population

MATCHING = [name for name, kind in METHODS.items() if kind.matches]
CHOOSING = [name for name in METHODS if name not in MATCHING]
PAIRS = [(method, distance) for method in MATCHING for distance in DISTANCES]
CPU = torch.device("cpu")
COUNTS = [3, 1, 2, 2, 4, 2, 2, 1, 2, 2]
SMALL = {"cat": {}, "puma": {"updates": 2}}


@pytest.fixture(scope="module")
def source():
    return lqm.load_graph("digits-knn")


@pytest.fixture(scope="module")
def real(source):
    return population(source.graph, source.by_class, source.class_names, 1)


def build(real, method, distance="lqm", counts=COUNTS, seed=0, **settings):
    kind = METHODS[method]
    values = {"steps": 6, "width": 16, **SMALL[method], **settings} if kind.matches else {}
    return kind(real, DISTANCES[distance], counts, seed, kind.settings(**values), CPU)


@pytest.mark.parametrize(("method", "distance"), PAIRS)
def test_steps_move_the_nodes_and_the_result_is_a_legal_set(real, method, distance):
    learner = build(real, method, distance)
    before = learner.result()
    run(learner, 6, show_progress=False)
    after = learner.result()
    assert not after.features.equal(before.features)
    assert after.features.shape == (sum(COUNTS), 64)
    assert after.labels.tolist() == [c for c, count in enumerate(COUNTS) for _ in range(count)]
    assert after.class_names == real.class_names
    assert after.edges.shape == (2, 0)


@pytest.mark.parametrize(("method", "distance"), PAIRS)
def test_a_state_taken_up_again_goes_on_bit_for_bit(real, method, distance):
    straight, first, second = (build(real, method, distance) for _ in range(3))
    for i in range(4):
        straight.step(i)
    for i in range(2):
        first.step(i)
    state = {name: tensor.clone() for name, tensor in first.state().items()}
    for _ in range(2):
        second.load_state(state)
        for i in range(2, 4):
            second.step(i)
    assert second.result().features.equal(straight.result().features)
    assert second.state().keys() == straight.state().keys()
    assert all(tensor.equal(straight.state()[name]) for name, tensor in second.state().items())


@pytest.mark.parametrize(("method", "distance"), PAIRS)
def test_the_loss_falls(real, method, distance):
    """Judged on encoders that no step has used."""
    learner = build(real, method, distance, start="noise", learning_rate=0.02, width=64)
    before = [loss_of(learner, i) for i in range(1000, 1004)]
    for i in range(60):
        learner.step(i)
    after = [loss_of(learner, i) for i in range(1000, 1004)]
    assert sum(after) < 0.8 * sum(before)


def loss_of(learner, i):
    """The loss that step i meets, without keeping the step."""
    state = {name: tensor.clone() for name, tensor in learner.state().items()}
    loss = learner.step(i)["loss"]
    learner.load_state(state)
    return loss


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_set_and_another_seed_another(real, method):
    def learn(seed):
        learner = build(real, method, seed=seed)
        run(learner, 1 if method in CHOOSING else 3, show_progress=False)
        return learner.result().features

    assert learn(0).equal(learn(0))
    if method not in ("herding", "k-centre"):  # in which nothing is random
        assert not learn(0).equal(learn(1))


@pytest.mark.parametrize("method", CHOOSING)
def test_what_chooses_gives_distinct_real_nodes(real, method):
    condensed = build(real, method).result()
    for label, own in enumerate(real.own):
        rows = {tuple(row) for row in own.tolist()}
        chosen = {tuple(row) for row in condensed.features[condensed.labels == label].tolist()}
        assert len(chosen) == COUNTS[label]
        assert chosen <= rows


@pytest.mark.parametrize("method", MATCHING)
@pytest.mark.parametrize("start", ["noise", "herding", "k-centre", "k-means"])
def test_any_method_starts_from_anything(real, method, start):
    learner = build(real, method, start=start)
    before = learner.result()
    assert before.features.equal(build(real, method, start=start).result().features)
    assert not before.features.equal(build(real, method).result().features)
    if start != "noise":
        assert before.features.equal(build(real, start).result().features)
    run(learner, 1, show_progress=False)
    assert not learner.result().features.equal(before.features)


@pytest.mark.parametrize("method", METHODS)
def test_the_callers_random_state_is_left_alone(real, method):
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    run(build(real, method, "sliced-wasserstein"), 1, show_progress=False)
    assert torch.rand(1).equal(expected)


@pytest.mark.parametrize("method", METHODS)
def test_a_test_nodes_label_changes_nothing(source, method):
    """What is condensed depends on the labels of the training nodes alone."""
    from dataclasses import replace

    from lqm.graphs.graph import Graph

    labels = source.graph.labels.clone()
    others = torch.cat([source.validation, source.test])
    labels[others] = (labels[others] + 1) % 10
    changed = replace(source, graph=Graph(source.graph.features, source.graph.adjacency, labels))
    settings = {"steps": 3, "width": 16} if method in MATCHING else {}

    def learn(data):
        return lqm.condense(data, method=method, budget=30, settings=settings, show_progress=False)

    assert learn(changed).features.equal(learn(source).features)


@pytest.mark.parametrize("method", METHODS)
def test_it_runs_from_the_public_function_and_is_loaded_again(source, method, tmp_path):
    settings = {"steps": 3, "width": 16} if method in MATCHING else {}
    condensed = lqm.condense(
        "digits-knn", method=method, budget="2%", settings=settings, out=tmp_path / "run", show_progress=False
    )
    assert isinstance(condensed, lqm.CondensedNodes)
    assert len(condensed.labels) == 36
    again = lqm.load(tmp_path / "run")
    assert again.features.equal(condensed.features)
    assert again.manifest["budget"] == sum(again.manifest["counts"]) == 36
    data = again.to_pyg()
    assert data.validate()
    assert data.x.equal(condensed.features)
    assert data.train_mask.all()

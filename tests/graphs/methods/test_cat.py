"""CaT, against the loop as the field writes it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from benchmarks.ratios.plain_cat import PlainCaT
from lqm.distances import DISTANCES
from lqm.executors.executor import computing_with
from lqm.graphs.encoders import fresh_encoder
from lqm.graphs.graph import dense
from lqm.graphs.methods import METHODS
from lqm.graphs.methods.cat import CaTSettings, PUMASettings
from lqm.graphs.population import Population, choose_nodes, featureless, joined, population
from lqm.graphs.problem import GraphProblem
from lqm.methods import ahead
from lqm.methods.ahead import TargetsAhead
from lqm.utils.errors import DataError, DivergedError
from lqm.utils.limits import limited_to
from tests.graphs.test_propagation import random_graph

CPU = torch.device("cpu")
FULL = CaTSettings(width=64, learning_rate=1e-3, lengths="free")


def nodes(seed=0, count=90, classes=3, density=0.05, names=("a", "b", "c")):
    graph = random_graph(nodes=count, edges=3 * count, features=30, density=density, seed=seed)
    by_class = [torch.where(graph.labels == label)[0] for label in range(classes)]
    return population(graph, by_class, names, 1)


def build(real, distance, counts, settings, method="cat"):
    """A method on the nodes of a population, matched by a distance or one called so."""
    problem = GraphProblem(
        class_names=real.class_names,
        counts=tuple(counts),
        distance=DISTANCES[distance] if isinstance(distance, str) else distance,
        seed=0,
        device=CPU,
        real=real,
    )
    return METHODS[method].build(problem, settings)


def weights(i, features=30, width=64, seed=0):
    made = fresh_encoder(features, width=width, depth=1, activation="relu", seed=seed, step=i, device=CPU)
    return made.weights[0]


@pytest.mark.parametrize("density", [0.02, 0.9])
def test_steps_are_those_of_the_plain_loop(density):
    real, counts = nodes(density=density), [4, 1, 7]
    ours = build(real, "lqm", counts, FULL)
    propagated = torch.cat([dense(part) for part in real.propagated])
    labels = torch.arange(3).repeat_interleave(torch.tensor(real.sizes))
    plain = PlainCaT(propagated, labels, ours.synthetic.features.detach(), counts, width=64, weights=weights)
    for i in range(10):
        loss = ours.step(i)["loss"]
        assert 3 * loss == pytest.approx(plain.step(i), rel=1e-3)
    # Adam moves a feature whose gradient is all but 0 by a whole step, up or down with the last bits.
    apart = (ours.synthetic.features - plain.features).abs() > 2e-5
    assert apart.float().mean() < 0.05


def test_lengths_are_held_by_learning_directions():
    real, counts = nodes(), [4, 1, 7]
    settings = CaTSettings(width=64, learning_rate=0.01, lengths="real")
    ours = build(real, "lqm", counts, settings)
    lengths = torch.tensor([float(np.linalg.norm(dense(part), axis=1).mean()) for part in real.propagated])
    lengths = lengths.repeat_interleave(torch.tensor(counts))[:, None]
    directions = (ours.synthetic.features / lengths).detach().requires_grad_()
    adam = torch.optim.Adam([directions], lr=0.01)
    for i in range(10):
        weight, losses = weights(i), []
        for propagated, own in zip(real.propagated, directions.split(counts), strict=True):
            embedded = [F.normalize((x @ weight).relu(), dim=1) for x in (dense(propagated), own)]
            lqm = DISTANCES["lqm"]
            losses.append(lqm.loss(lqm.target(embedded[0], len(own)), embedded[1]))
        adam.zero_grad()
        sum(losses).backward()
        adam.step()
        assert 3 * ours.step(i)["loss"] == pytest.approx(sum(losses).item(), rel=1e-3)
    found = ours.result().features
    torch.testing.assert_close(found.norm(dim=1, keepdim=True), lengths)
    apart = (found - lengths * F.normalize(directions)).abs() > 1e-3
    assert apart.float().mean() < 0.01
    free = build(real, "lqm", counts, CaTSettings(width=64, learning_rate=0.5, lengths="free"))
    for i in range(10):
        free.step(i)
    assert (free.result().features.norm(dim=1, keepdim=True) > 2 * lengths).all(), "nothing holds them"


@pytest.mark.parametrize("init", ["random", "herding", "k-centre", "k-means"])
@pytest.mark.parametrize("lengths", ["real", "free"])
def test_no_synthetic_node_begins_or_ends_at_zero(init, lengths):
    whole = nodes()
    own, propagated = ([dense(part).clone() for part in parts] for parts in (whole.own, whole.propagated))
    own[0][1:] = 0  # one node with features
    own[1][:] = 0  # none but after propagation
    own[2][::2] = 0
    propagated[2][1::4] = 0
    real = Population(whole.class_names, own, propagated)
    learner = build(real, "lqm", [3, 4, 5], CaTSettings(width=64, init=init, lengths=lengths))
    for i in range(3):
        before = learner.result().features
        assert (before.norm(dim=1) > 0).all()
        learner.step(i)
        assert (learner.result().features != before).any(dim=1).all(), "each node learns"


def test_a_class_without_any_features_stays_as_it_is():
    whole = nodes()
    own, propagated = ([dense(part).clone() for part in parts] for parts in (whole.own, whole.propagated))
    own[1][:] = propagated[1][:] = 0
    real = Population(whole.class_names, own, propagated)
    for lengths in ("real", "free"):
        learner = build(real, "lqm", [2, 2, 2], CaTSettings(width=64, lengths=lengths))
        for i in range(3):
            learner.step(i)
        alive = (learner.result().features != 0).any(dim=1)
        assert alive.tolist() == [True, True, False, False, True, True]


def test_nodes_repeat_only_if_too_few_have_propagated_features():
    whole = nodes(density=0.9)
    own, propagated = ([dense(part).clone() for part in parts] for parts in (whole.own, whole.propagated))
    own[0][1:] = 0
    propagated[1][3:] = 0
    real = Population(whole.class_names, own, propagated)
    for rule in ("random", "herding", "k-centre"):
        assert len(choose_nodes(rule, real, 0, 5, 0).unique()) == 5
        assert sorted(choose_nodes(rule, real, 1, 5, 0).unique().tolist()) == [0, 1, 2]


@pytest.mark.parametrize("distance", ["mean", "lqm", "lqm-ad"])
@pytest.mark.parametrize("updates", [1, 3])
@pytest.mark.parametrize("init", ["random", "noise", "herding"])
def test_tasks_that_share_encoders_become_what_each_becomes_alone(distance, updates, init):
    one, two = nodes(seed=1, names="abc"), nodes(seed=2, count=60, names="def")
    settings = CaTSettings(width=64, updates=updates, init=init, lengths="free")
    both = build(joined([one, two]), distance, [2, 1, 3, 2, 2, 2], settings)
    alone = [build(task, distance, counts, settings) for task, counts in ((one, [2, 1, 3]), (two, [2, 2, 2]))]
    for i in range(8):
        for learner in (both, *alone):
            learner.step(i)
    expected = torch.cat([learner.synthetic.features for learner in alone])
    torch.testing.assert_close(both.synthetic.features, expected, rtol=0, atol=1e-5)


def test_embeddings_have_length_1_and_each_layer_is_applied():
    encoder = fresh_encoder(30, width=20, depth=3, activation="tanh", seed=0, step=0, device=CPU)
    sample = torch.rand(5, 30)
    hidden = sample
    for weight in encoder.weights:
        hidden = torch.tanh(hidden @ weight)
    found = encoder(sample)
    torch.testing.assert_close(found.norm(dim=1), torch.ones(5))
    torch.testing.assert_close(found, hidden / hidden.norm(dim=1, keepdim=True))
    assert [tuple(weight.shape) for weight in encoder.weights] == [(30, 20), (20, 20), (20, 20)]


def test_weights_are_glorots():
    (weight,) = fresh_encoder(300, width=200, depth=1, activation="relu", seed=0, step=0, device=CPU).weights
    bound = np.sqrt(6 / 500)
    assert weight.abs().max() <= bound
    assert weight.std().item() == pytest.approx(bound / np.sqrt(3), rel=0.01)
    assert abs(weight.mean().item()) < 0.01 * bound


@pytest.mark.parametrize("real_batch", [5, 1000])
def test_a_real_batch_takes_so_many_nodes_of_each_class(real_batch):
    real = nodes()
    seen = []

    class Watched:
        name = "watched"

        def target(self, sample, k, generator=None):
            seen.extend([sample.shape[1]] * len(sample))
            return DISTANCES["mean"].target(sample, k)

        def loss(self, target, synthetic):
            return DISTANCES["mean"].loss(target, synthetic)

    settings = CaTSettings(width=8, real_batch=real_batch)
    build(real, Watched(), [1, 1, 1], settings).step(0)
    assert sorted(seen) == sorted(min(size, real_batch) for size in real.sizes)


def test_a_batch_of_all_nodes_is_the_whole_population():
    real = nodes()
    whole = build(real, "lqm", [2, 2, 2], CaTSettings(width=16))
    batch = build(real, "lqm", [2, 2, 2], CaTSettings(width=16, real_batch=10**6))
    for i in range(3):
        assert whole.step(i) == batch.step(i)


def test_classes_are_embedded_in_chunks_without_a_difference(monkeypatch):
    real = nodes()
    whole = build(real, "lqm", [2, 1, 3], FULL)
    whole.step(0)
    monkeypatch.setattr("lqm.graphs.real._CHUNK", 40)
    parts = build(real, "lqm", [2, 1, 3], FULL)
    parts.step(0)
    torch.testing.assert_close(parts.synthetic.features, whole.synthetic.features)


def test_the_init_is_distinct_nodes_of_the_class_as_they_are():
    real = nodes(density=0.9)
    counts = [size - 1 for size in real.sizes]
    condensed = build(real, "lqm", counts, FULL).result()
    for label, own in enumerate(real.own):
        rows = dense(own).tolist()
        chosen = condensed.features[condensed.labels == label].tolist()
        assert all(row in rows for row in chosen)
        drawn = choose_nodes("random", real, label, counts[label], 0)
        assert len(drawn.unique()) == counts[label]


def test_a_class_with_too_few_nodes_gives_some_twice():
    real = Population(("a",), [torch.eye(2)], [torch.eye(2)])
    condensed = build(real, "mean", [5], FULL).result()
    assert sorted(condensed.features.argmax(dim=1).tolist()) in ([0, 0, 0, 1, 1], [0, 0, 1, 1, 1])


def test_what_diverges_is_named():
    real = Population(("a", "b"), [torch.eye(3), torch.eye(3)], [torch.eye(3), torch.full((3, 3), torch.nan)])
    with pytest.raises(DivergedError, match="the loss of class 'b' became nan"):
        build(real, "mean", [1, 1], FULL).step(0)


def test_puma_is_cat_with_wide_encoders_that_are_used_again():
    real = nodes()
    puma = build(
        real, "lqm", [2, 2, 2], PUMASettings(width=64, updates=4, learning_rate=1e-3, lengths="free"), "puma"
    )
    first = puma.synthetic.features.detach().clone()
    puma.step(0)
    by_hand = first.clone().requires_grad_()
    adam = torch.optim.Adam([by_hand], lr=1e-3)
    weight = weights(0)
    levels = DISTANCES["lqm"]
    targets = []
    for propagated in real.propagated:
        targets.append(
            levels.target(torch.nn.functional.normalize((dense(propagated) @ weight).relu(), dim=1), 2)
        )
    for _ in range(4):
        embedded = torch.nn.functional.normalize((by_hand @ weight).relu(), dim=1).split(2)
        loss = sum(levels.loss(target, part) for target, part in zip(targets, embedded, strict=True))
        adam.zero_grad()
        loss.backward()
        adam.step()
    torch.testing.assert_close(puma.synthetic.features, by_hand)


def test_nodes_without_features_are_named_and_a_graph_of_them_is_refused():
    whole = nodes(density=0.9)
    own, propagated = ([dense(part).clone() for part in parts] for parts in (whole.own, whole.propagated))
    assert featureless(Population(whole.class_names, own, propagated)) == []
    own[0][:2] = 0
    own[1][:] = propagated[1][:] = 0
    first, second = featureless(Population(whole.class_names, own, propagated))
    assert first.startswith(f"{2 + len(own[1])} training nodes")
    assert "'b'" in second
    zeros = [torch.zeros(3, 4), torch.zeros(2, 4)]
    with pytest.raises(DataError, match="features of all training nodes are 0"):
        featureless(Population(("a", "b"), zeros, zeros))


@pytest.mark.parametrize("method", ["cat", "puma"])
def test_on_several_cores_targets_are_made_ahead_with_the_same_bits(method, monkeypatch):
    real, counts = nodes(), [4, 1, 7]
    settings = {"width": 64, "real_batch": 20, "steps": 6}
    settings = CaTSettings(**settings) if method == "cat" else PUMASettings(**settings)

    def condensed(cores):
        monkeypatch.setattr(ahead, "_threads", lambda: cores)
        ours = build(real, "lqm", counts, settings, method)
        assert isinstance(ours.passes[0].targets, TargetsAhead) == (cores > 1)
        losses = [ours.step(i)["loss"] for i in range(6)]
        return losses, ours.result().features

    (losses, alone), (other_losses, together) = condensed(1), condensed(2)
    assert losses == other_losses
    assert torch.equal(alone, together)


@pytest.mark.parametrize("real_batch", [0, 20])
def test_threads_of_two_cores_each_give_the_bits_of_one_after_the_other(real_batch):
    real, settings = nodes(), CaTSettings(width=64, real_batch=real_batch, steps=6)
    with computing_with(2):
        ours, plain = (build(real, "lqm", [4, 1, 7], settings) for _ in range(2))
        part = plain.passes[0]
        plain.passes = [replace(part, targets=part.targets._targets)]
        for i in range(6):
            assert ours.step(i) == plain.step(i)
    assert torch.equal(ours.result().features, plain.result().features)


def test_nothing_is_made_ahead_where_memory_is_limited(monkeypatch):
    monkeypatch.setattr(ahead, "_threads", lambda: 2)
    with limited_to("4GB", work=True):
        ours = build(nodes(), "lqm", [4, 1, 7], FULL)
    assert not isinstance(ours.passes[0].targets, TargetsAhead)

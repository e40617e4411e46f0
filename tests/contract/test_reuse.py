"""What is promised of a state, when views of the real side are shared, read from a sketch, or compiled."""

import pytest
import torch

import lqm
from lqm.banks import Sketch
from lqm.distances import DISTANCES
from lqm.engine.compute import Compute
from lqm.engine.probes import compile_problem
from lqm.graphs.methods.cat import CaT, CaTSettings
from lqm.graphs.population import population
from lqm.images.methods import METHODS

CPU = torch.device("cpu")
NETWORK = "convnet:width=8:depth=2"
SMALL = {"network": NETWORK, "real_batch": 8}
QUEUE = {"student_batch": 16, "student_steps": 1, "queue_interval": 2, "queue_limit": 4}
WINDOW = {"reuse": 3, "window": 2}
# Stopped in the middle of a view's time, or on the verge of a new one.
STEPS, STOPS = 10, (4, 6, 8)


@pytest.fixture(scope="module")
def real():
    source = lqm.load_graph("digits-knn")
    return population(source.graph, source.by_class, source.class_names, 1)


@pytest.fixture(scope="module")
def build(digits, real):
    """Makes the learner of a method with some settings."""

    def make(method, distance="lqm", compute=None, own=None, **settings):
        if method == "cat":
            options = CaTSettings(width=16, **settings)
            return CaT(real, DISTANCES[distance], [2] * 10, 0, options, CPU)
        kind = METHODS[method]
        options = kind.settings(**SMALL | (QUEUE if method == "idm" else {}) | settings)
        return kind(digits, DISTANCES[distance], 2, 0, options, CPU, network=own, compute=compute)

    return make


@pytest.fixture(scope="module")
def sketches(tmp_path_factory):
    """A sketch for each method, with few encoders."""
    folder = tmp_path_factory.mktemp("sketches")
    options = {"encoders": 3, "max_per_class": 8, "show_progress": False}
    for method in ("dm", "idm"):
        own = {"settings": {"student_batch": 16}} if method == "idm" else {}
        lqm.sketch("digits", out=folder / method, method=method, network=NETWORK, **options, **own)
    lqm.sketch("digits-knn", out=folder / "cat", settings={"width": 16}, **options)
    return folder


def copied(state):
    return {name: tensor.clone() for name, tensor in state.items()}


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        assert tensor.equal(second[name]), name


def assert_any_state_goes_on_bit_for_bit(make):
    """A learner that is new, one that has gone on, and one that is asked again, all end alike."""
    straight = make()
    states = []
    for i in range(STEPS):
        states.append(copied(straight.state()))
        straight.step(i)
    for stop in STOPS:
        resumed = make()
        for learner in (resumed, straight, resumed):
            learner.load_state(states[stop])
            for i in range(stop, STEPS):
                assert_same(learner.state(), states[i])
                learner.step(i)
        assert_same(resumed.state(), straight.state())


DRAWING = "sliced-wasserstein"


@pytest.mark.parametrize(
    ("method", "distance"),
    [("dm", "lqm"), ("dm", DRAWING), ("datadam", "lqm"), ("idm", "lqm"), ("cat", "lqm"), ("cat", DRAWING)],
)
def test_a_window_of_shared_views_goes_on_bit_for_bit(build, method, distance):
    assert_any_state_goes_on_bit_for_bit(lambda: build(method, distance, **WINDOW))


def test_a_view_from_before_the_stop_is_made_again_after_it(build):
    """Else the test above would show nothing."""
    for stop in STOPS:
        resumed = build("dm", **WINDOW)
        made = []
        resumed.window._make = lambda number, make=resumed.make_view, made=made: (
            made.append(number) or make(number)
        )
        for i in range(stop, STEPS):
            resumed.step(i)
        if min(made) < stop // WINDOW["reuse"]:
            return
    pytest.fail("no step after a stop has drawn a view from before it")


def test_views_that_are_shared_are_others_than_views_of_their_own(build):
    for method in ("dm", "cat"):
        one, many = build(method), build(method, **WINDOW)
        losses = [[learner.step(i)["loss"] for i in range(4)] for learner in (one, many)]
        assert losses[0][0] == losses[1][0]
        assert losses[0][1] != losses[1][1]


def with_dropout(shape, classes):
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3),
        torch.nn.ReLU(),
        torch.nn.Conv2d(4, 4, 3),
        torch.nn.ReLU(),
        torch.nn.Dropout(),
        torch.nn.Flatten(),
        torch.nn.Linear(64, classes),
    )


@pytest.mark.parametrize("method", ["dm", "idm"])
def test_a_shared_view_of_a_network_that_draws_by_itself_goes_on_bit_for_bit(build, method):
    assert_any_state_goes_on_bit_for_bit(lambda: build(method, own=with_dropout, **WINDOW))


@pytest.mark.parametrize("method", ["dm", "datadam"])
def test_a_network_that_normalises_by_its_batch_sees_all_classes_in_one_turn(build, method, monkeypatch):
    monkeypatch.setattr(METHODS[method], "real_at_once", 16)
    assert [len(turn) for turn in build(method).turns] == [2] * 5
    assert [len(turn) for turn in build(method, network=f"{NETWORK}:norm=batch").turns] == [10]


@pytest.mark.parametrize("method", ["dm", "idm", "cat"])
def test_views_of_a_sketch_go_on_bit_for_bit(build, sketches, method):
    sketch = Sketch(sketches / method)

    def make():
        learner = build(method)
        learner.recall_from(sketch)
        return learner

    assert_any_state_goes_on_bit_for_bit(make)


def test_a_state_is_small_when_views_come_from_a_sketch(build, sketches):
    """The networks of IDM's queue are in the sketch."""
    learner = build("idm")
    learner.recall_from(Sketch(sketches / "idm"))
    learner.step(0)
    assert learner.state().keys() == {"images", "momentum"}


def test_compiled_networks_go_on_bit_for_bit_and_end_like_others(build):
    if problem := compile_problem():
        pytest.skip(f"torch can't compile here: {problem}")
    settings = WINDOW | {"network": "convnet:width=8:depth=1"}
    assert_any_state_goes_on_bit_for_bit(lambda: build("dm", compute=Compute(compile=True), **settings))
    ends = []
    for compute in (Compute(), Compute(compile=True)):
        learner = build("dm", "mean", compute, **settings)
        for i in range(STEPS):
            learner.step(i)
        ends.append(learner.result().images)
    torch.testing.assert_close(*ends, atol=1e-4, rtol=1e-3)
    assert not torch.allclose(ends[0], build("dm").result().images, atol=1e-2)

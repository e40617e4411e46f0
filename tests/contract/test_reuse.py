"""What is promised of a state when targets are shared, read from a sketch, or made by compiled networks."""

import pytest
import torch

import lqm
from lqm.banks import Sketch
from lqm.engine.compute import Compute
from lqm.engine.probes import compile_problem
from tests.contract.making import (
    LEARNING,
    SKETCHING,
    SPECS,
    assert_same,
    copied,
    names_of,
    small_settings,
    steps,
)

WINDOW = {"reuse": 3, "window": 2}
SHARING = [key for key in LEARNING if WINDOW.keys() <= names_of(SPECS[key].settings)]
# Stopped in the middle of a target's time, or on the verge of a new one.
STEPS, STOPS = 10, (4, 6, 8)


def assert_any_state_goes_on_bit_for_bit(make, count=STEPS, stops=STOPS):
    """A learner that is new, one that has gone on, and one that is asked again, all end alike."""
    straight = make()
    states = []
    for i in range(count):
        states.append(copied(straight.state()))
        straight.step(i)
    for stop in stops:
        resumed = make()
        for learner in (resumed, straight, resumed):
            learner.load_state(states[stop])
            for i in range(stop, count):
                assert_same(learner.state(), states[i])
                learner.step(i)
        assert_same(resumed.state(), straight.state())


@pytest.mark.parametrize("distance", ["lqm", "sliced-wasserstein"])
@pytest.mark.parametrize(("domain", "method"), SHARING)
def test_a_window_of_shared_targets_goes_on_bit_for_bit(methods, domain, method, distance):
    assert_any_state_goes_on_bit_for_bit(lambda: methods.build(domain, method, distance, **WINDOW))


@pytest.mark.parametrize(("domain", "method"), SHARING)
def test_targets_that_are_shared_are_others_than_targets_of_their_own(methods, domain, method):
    one, many = methods.build(domain, method), methods.build(domain, method, **WINDOW)
    losses = [[learner.step(i)["loss"] for i in range(4)] for learner in (one, many)]
    assert losses[0][0] == losses[1][0]
    assert losses[0][1] != losses[1][1]


@pytest.fixture(scope="module")
def sketch(methods, tmp_path_factory):
    """Makes a sketch with few encoders for a method, once."""
    folder, made = tmp_path_factory.mktemp("sketches"), {}

    def make(domain, method):
        if (domain, method) not in made:
            spec = SPECS[domain, method]
            small = small_settings(spec.settings)
            made[domain, method] = lqm.sketch(
                methods[domain].source,
                out=folder / f"{domain}-{method}",
                method=method,
                encoders=3,
                max_per_class=16,
                settings={name: small[name] for name in small if name in spec.sketch_settings},
                show_progress=False,
            )
        return Sketch(made[domain, method].path)

    return make


@pytest.mark.parametrize(("domain", "method"), SKETCHING)
def test_targets_of_a_sketch_go_on_bit_for_bit(methods, sketch, domain, method):
    problem = {"sketch": sketch(domain, method)}
    assert_any_state_goes_on_bit_for_bit(lambda: methods.build(domain, method, problem=problem))


@pytest.mark.parametrize(("domain", "method"), SKETCHING)
def test_a_state_is_small_when_targets_come_from_a_sketch(methods, sketch, domain, method):
    """The encoders, such as the networks of IDM's queue, are in the sketch."""
    learner = methods.build(domain, method, problem={"sketch": sketch(domain, method)})
    learner.step(0)
    assert learner.state().keys() == learner.synthetic.state().keys()


@pytest.mark.slow
def test_compiled_networks_go_on_bit_for_bit_and_end_like_others(methods):
    if problem := compile_problem():
        pytest.skip(f"torch can't compile here: {problem}")

    def build(compute, distance="lqm"):
        small = {"network": "convnet:width=8:depth=1", "real_batch": 8}
        return methods.build("images", "dm", distance, problem={"compute": compute}, **small)

    assert_any_state_goes_on_bit_for_bit(lambda: build(Compute(compile=True)))
    learners = [build(compute, "mean") for compute in (Compute(), Compute(compile=True))]
    first = learners[0].result().images
    for learner in learners:
        steps(learner, 0, STEPS)
    ends = [learner.result().images for learner in learners]
    torch.testing.assert_close(*ends, atol=1e-4, rtol=1e-3)
    assert not torch.allclose(ends[0], first, atol=1e-2)


@pytest.mark.slow
def test_gradients_of_compiled_networks_go_on_bit_for_bit_and_match_like_others(methods):
    """The real side and the training on S are compiled, what is differentiated twice is not."""
    if problem := compile_problem():
        pytest.skip(f"torch can't compile here: {problem}")

    def build(compute):
        small = {"network": "convnet:width=8:depth=1", "real_batch": 8}
        return methods.build("images", "dsa", "mean", problem={"compute": compute}, **small)

    assert_any_state_goes_on_bit_for_bit(lambda: build(Compute(compile=True)), 3, (1, 2))
    learners = [build(compute) for compute in (Compute(), Compute(compile=True))]
    first = learners[0].result().images
    for learner in learners:
        steps(learner, 0, 3)
    ends = [learner.result().images for learner in learners]
    torch.testing.assert_close(*ends, atol=1e-4, rtol=1e-3)
    assert not torch.allclose(ends[0], first, atol=1e-3)

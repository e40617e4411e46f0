"""The init of a set is found again from its manifest and the real images, to the last bit."""

from dataclasses import replace

import pytest
import torch

import lqm
from lqm.api.planning import plan_condensation
from lqm.api.requests import CondenseRequest
from lqm.images.inits import init_again
from tests.report.making import tiny_source

MOSAIC = {"network": "convnet:width=4:depth=2", "mosaic": 2}
CASES = {
    "random": ("dm", {}),
    "noise": ("dm", {"init": "noise"}),
    "noise by default": ("dc", {}),
    "cells of mosaics": ("idm", MOSAIC),
    "whole mosaics": ("idm", {**MOSAIC, "mosaic_init": "whole"}),
    "mosaics of idc": ("idc", MOSAIC),
}


def before_the_first_step(source, method, settings, per_class=3):
    request = CondenseRequest(source=source, method=method, per_class=per_class, seed=5, settings=settings)
    return plan_condensation(request, torch.device("cpu")).result()


@pytest.mark.parametrize("name", CASES)
def test_the_init_is_what_a_run_begins_with(name):
    method, settings = CASES[name]
    source = tiny_source(channels=3, each=9)
    begun = before_the_first_step(source, method, settings)
    assert init_again(begun, source).equal(begun.images)


def test_the_init_does_not_follow_from_what_was_learned(tmp_path):
    source = tiny_source()
    learned = lqm.condense(
        source, per_class=2, seed=3, settings={"steps": 2, "network": "convnet:width=4"}, out=tmp_path / "run"
    )
    init = init_again(lqm.load(tmp_path / "run"), source)
    assert not init.equal(learned.images)
    for label, image in zip(learned.labels, init, strict=True):
        real = source.train.images[source.train.labels == label] / 255
        assert (real - image).abs().amax(dim=(1, 2, 3)).min() < 1e-6, "each is a real image of its class"
    other = replace(learned, manifest=learned.manifest | {"seed": 4})
    assert not init_again(other, source).equal(init)


def test_settings_of_older_versions_are_understood():
    source = tiny_source()
    begun = before_the_first_step(source, "dm", {"init": "noise"})
    settings = {name: value for name, value in begun.manifest["settings"].items() if name != "init"}
    old = replace(begun, manifest=begun.manifest | {"settings": settings | {"start": "noise"}})
    assert init_again(old, source).equal(begun.images)


@pytest.mark.parametrize("changed", [{"init": "herding"}, {"classified": True}])
def test_an_init_that_takes_training_is_not_found_again(changed):
    source = tiny_source()
    begun = before_the_first_step(source, "dm", {})
    settings = begun.manifest["settings"] | changed
    assert init_again(replace(begun, manifest=begun.manifest | {"settings": settings}), source) is None


def test_real_images_that_were_chosen_have_no_init(tmp_path):
    source = tiny_source()
    chosen = lqm.condense(source, method="random", per_class=2, out=tmp_path / "run", show_progress=False)
    assert init_again(chosen, source) is None

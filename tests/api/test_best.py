"""What is taken where no method is asked for: the recipe called best, of a source that has one."""

from dataclasses import replace

import pytest
import torch

import lqm
from lqm.api import expert_source
from lqm.api.costs import cost_of_condensing
from lqm.api.requests import CondenseRequest
from lqm.images.networks import NETWORKS
from lqm.utils.errors import ArtifactError

SMALL = {"steps": 2, "real_batch": 8, "network": "convnet:width=4:depth=1"}
EXPERTS = {"expert_epochs": 1}


@pytest.fixture(scope="module")
def source(digits):
    """The digits, with the recipes of CIFAR-10."""
    return replace(digits, recipes="cifar10")


def condense(source, **options):
    return lqm.condense(source, per_class=1, show_progress=False, **options)


@pytest.fixture(scope="module")
def best(source, tmp_path_factory):
    out = tmp_path_factory.mktemp("best") / "run"
    return condense(source, out=out, settings=SMALL | EXPERTS)


def test_the_best_recipe_is_taken_with_its_protocol_and_soft_labels(best):
    assert best.manifest["method"] == "dance"
    assert best.manifest["recipe"] == "dance-1-best"
    assert best.manifest["distance"]["name"] == "lqm"
    assert best.manifest["evaluation"]["name"] == "idc-1000"
    assert best.manifest["experts"]["networks"] == 1
    assert best.manifest["experts"]["settings"]["cutmix"] == 0.0
    assert lqm.load(best.path).targets().shape == (10 * 4 * 4, 10)


def test_its_networks_learn_from_the_soft_labels_of_cells(best, source):
    options = {"source": source, "networks": ["mlp:width=8"], "repeats": 1, "protocol": "quick-200"}
    soft = lqm.evaluate(best, baselines=(), show_progress=False, **options)
    hard = replace(best, soft_labels=None, manifest={**best.manifest, "training": {"soft_labels": False}})
    other = lqm.evaluate(hard, baselines=(), show_progress=False, **options)
    assert soft.score.by_class != other.score.by_class


def test_a_best_run_goes_on_by_its_recipe(best, source):
    more = condense(source, out=best.path, settings=SMALL | EXPERTS | {"steps": 3})
    assert more.manifest["recipe"] == "dance-1-best"
    assert not torch.equal(more.images, best.images)


def test_a_run_that_was_begun_by_another_method_goes_on_by_it(source, tmp_path):
    begun = condense(source, method="dm", out=tmp_path / "run", settings=SMALL)
    more = condense(source, out=tmp_path / "run", settings=SMALL | {"steps": 3})
    assert (begun.manifest["method"], more.manifest["method"]) == ("dm", "dm")


def test_a_network_of_ones_own_needs_no_experts_and_so_is_condensed_by_dm(source):
    made = condense(
        source,
        network=lambda shape, classes: NETWORKS.make("mlp:width=8", shape, classes),
        settings={"steps": 1, "real_batch": 8},
    )
    assert made.manifest["method"] == "dm"


def test_what_it_would_take_is_measured_by_experts_of_one_epoch(source, tmp_path, monkeypatch):
    trained = []
    train = expert_source.train_experts
    monkeypatch.setattr(
        expert_source, "train_experts", lambda request: trained.append(request.epochs) or train(request)
    )
    settings = SMALL | {"expert_epochs": 500}
    plan, _, cost = cost_of_condensing(
        CondenseRequest(source=source, per_class=1, settings=settings, show_progress=False), tmp_path
    )
    assert plan.config["method"] == "dance"
    assert trained == [1]
    assert cost.seconds > 0


def test_a_set_that_names_no_protocol_is_refused_as_a_run_to_go_on_with(best, source, tmp_path):
    plain = {name: value for name, value in best.manifest.items() if name in ("preprocessing", "mosaic")}
    replace(best, soft_labels=None, manifest=plain).save(tmp_path / "set")
    with pytest.raises(ArtifactError, match="not a run's"):
        condense(source, method="dm", out=tmp_path / "set", settings=SMALL)

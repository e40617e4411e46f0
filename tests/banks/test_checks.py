"""What a sketch is refused for, and how steps go through its encoders."""

from dataclasses import replace

import pytest
import torch

import lqm
from lqm.banks import encoder_of_step, overuse
from lqm.distances import DISTANCES
from lqm.distances.grid import needs
from lqm.images.sources import Images
from lqm.utils.errors import ConfigError, DataError

NETWORK = "convnet:width=8:depth=2"


def condense(source, folder, **options):
    options = {"per_class": 2, "settings": {"steps": 2}, "show_progress": False, **options}
    return lqm.condense(source, sketch=folder, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, digits):
    path = tmp_path_factory.mktemp("sketches") / "digits"
    options = {"max_per_class": 3, "real_batch": 20, "network": NETWORK}
    lqm.sketch(digits, out=path, encoders=2, show_progress=False, **options)
    return path


@pytest.fixture(scope="module")
def idm_folder(tmp_path_factory, digits):
    path = tmp_path_factory.mktemp("sketches") / "idm"
    options = {"method": "idm", "max_per_class": 8, "real_batch": 20, "network": NETWORK}
    lqm.sketch(digits, out=path, encoders=1, show_progress=False, **options)
    return path


@pytest.mark.parametrize("name", DISTANCES)
def test_every_distance_that_looks_at_one_feature_at_a_time_can_be_used_and_no_other(digits, folder, name):
    if needs(DISTANCES[name]) != "records":
        assert condense(digits, folder, distance=name).images.isfinite().all()
        return
    message = f"distance '{name}' compares whole records.*choose one of mean, .*lqm.*wasserstein"
    with pytest.raises(ConfigError, match=message):
        condense(digits, folder, distance=name)


def test_a_distance_of_the_users_own_that_says_nothing_is_refused(digits, folder):
    class Own(type(DISTANCES["sliced-wasserstein"])):
        pass

    with pytest.raises(ConfigError, match="compares whole records"):
        condense(digits, folder, distance=Own("own"))


def test_more_records_than_the_sketch_was_made_for_are_refused(digits, folder, idm_folder):
    assert len(condense(digits, folder, per_class=3).labels) == 30
    with pytest.raises(ConfigError, match="fine enough for 3 synthetic records of a class, not for 4; make"):
        condense(digits, folder, per_class=4)
    mosaic = {"steps": 2, "mosaic": 2}
    assert len(condense(digits, idm_folder, per_class=2, settings=mosaic).labels) == 20
    with pytest.raises(ConfigError, match="fine enough for 8 synthetic records of a class, not for 12"):
        condense(digits, idm_folder, per_class=3, settings=mosaic)


def changed(digits):
    """The digits but for one pixel of one image."""
    images = digits.train.images.clone()
    images[0, 0, 0, 0] = 1 - images[0, 0, 0, 0]
    return replace(digits, train=Images(images, digits.train.labels))


def test_another_source_is_refused_and_the_same_under_another_name_is_not(digits, folder):
    with pytest.raises(DataError, match=r"'digits'.*'digits'.*`lqm sketch`"):
        condense(changed(digits), folder)
    renamed = replace(digits, name="mine")
    assert condense(renamed, folder).images.equal(condense(digits, folder).images)
    with pytest.raises(DataError, match=r"'digits'.*`lqm sketch`"):
        condense("digits", folder, augmentation=["crop"])


def test_another_method_and_other_settings_than_the_sketchs_are_refused(digits, folder, idm_folder):
    with pytest.raises(ConfigError, match="is for method 'dm'; make one for 'idm'"):
        condense(digits, folder, method="idm")
    with pytest.raises(ConfigError, match=f"was made with network = '{NETWORK}', not 'mlp'"):
        condense(digits, folder, settings={"network": "mlp"})
    with pytest.raises(ConfigError, match="was made with real_batch = 20, not 21"):
        condense(digits, folder, settings={"real_batch": 21})
    with pytest.raises(ConfigError, match=r"queue_limit.*leave it out"):
        condense(digits, idm_folder, settings={"queue_limit": 5})
    condensed = condense(digits, folder, settings={"steps": 2, "network": NETWORK, "learning_rate": 0.5})
    assert condensed.manifest["settings"]["network"] == NETWORK
    assert condensed.manifest["settings"]["real_batch"] == 20


def test_a_sketch_of_images_is_not_for_graphs_nor_the_other_way_round(tmp_path, digits, folder):
    with pytest.raises(DataError, match=r"'digits'.*'digits-knn'.*`lqm sketch`"):
        lqm.condense("digits-knn", budget=10, sketch=folder, show_progress=False)
    options = {"out": tmp_path / "graph", "encoders": 1, "settings": {"width": 8}, "show_progress": False}
    lqm.sketch("digits-knn", **options)
    with pytest.raises(DataError, match=r"'digits-knn'.*'digits'.*`lqm sketch`"):
        condense(digits, tmp_path / "graph")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": {"learning_rate": 1.0}}, "setting 'learning_rate' has no part in a sketch for 'dm'"),
        ({"settings": {"steps": 5}}, "setting 'steps' has no part in a sketch"),
        ({"method": "herding"}, "'herding'.*dm, datadam, idm"),
        ({"encoders": 0}, "encoders = 0 can't be used: it should be a whole number, at least 1"),
        ({"max_per_class": 1.5}, "max_per_class = 1.5 can't be used"),
        ({"real_batch": -1}, "real_batch = -1 can't be used"),
        ({"features": "degree"}, "features is for graphs, and 'digits' is images; leave it out"),
    ],
)
def test_what_can_not_be_sketched_is_refused_before_any_folder_is_made(tmp_path, options, message):
    with pytest.raises(ConfigError, match=message):
        lqm.sketch("digits", out=tmp_path / "sketch", show_progress=False, **options)
    assert not (tmp_path / "sketch").exists()


@pytest.mark.parametrize("encoders", [1, 3, 8])
def test_steps_go_through_all_encoders_in_a_random_order_and_then_in_another(encoders):
    rounds = [
        [encoder_of_step(5, turn * encoders + place, encoders) for place in range(encoders)]
        for turn in range(6)
    ]
    assert all(sorted(order) == list(range(encoders)) for order in rounds)
    if encoders == 8:
        assert len({tuple(order) for order in rounds}) > 1
        assert rounds[0] != [encoder_of_step(6, place, 8) for place in range(8)]


@pytest.mark.parametrize(
    ("encoders", "steps", "words"),
    [(5, 5, None), (5, 6, "fewer than 100"), (100, 3000, None), (100, 3001, "101 encoders would be better")],
)
def test_encoders_that_are_used_too_often_are_said(encoders, steps, words):
    found = overuse(encoders, steps)
    assert (found is None) if words is None else (words in found)


def test_seeds_and_budgets_share_a_sketch(digits, folder):
    sets = [condense(digits, folder, seed=seed) for seed in (0, 0, 1)]
    assert sets[0].images.equal(sets[1].images)
    assert not torch.equal(sets[0].images, sets[2].images)
    assert sets[0].manifest["sketch"]["encoders"] == 2

"""Runs by a sketch: what they refuse before any work, and what stays right when the sketch grows."""

import pytest
from torch import nn

import lqm
from lqm.banks import Sketch
from lqm.utils.errors import ArtifactError, ConfigError

OPTIONS = {"max_per_class": 3, "real_batch": 20, "network": "convnet:width=8:depth=2", "show_progress": False}


@pytest.fixture
def folder(tmp_path, digits):
    lqm.sketch(digits, out=tmp_path / "sketch", encoders=2, **OPTIONS)
    return tmp_path / "sketch"


def condense(source, folder, steps=2, **options):
    options = {"per_class": 2, "settings": {"steps": steps}, "show_progress": False, **options}
    return lqm.condense(source, sketch=folder, **options)


def test_a_network_of_ones_own_is_refused(digits, folder):
    def own(shape, classes):
        return nn.Sequential(nn.Flatten(), nn.Linear(64, classes))

    with pytest.raises(ConfigError, match=r"sketch.*leave the network of your own out"):
        condense(digits, folder, network=own)


def test_a_folder_holds_either_a_sketch_or_a_run(digits, folder, tmp_path):
    with pytest.raises(ArtifactError, match=r"holds a sketch.*choose another folder"):
        condense(digits, folder, out=folder)
    condense(digits, folder, out=tmp_path / "run")
    with pytest.raises(ArtifactError, match="holds a run, not a sketch; choose another folder"):
        lqm.sketch(digits, out=tmp_path / "run", encoders=2, **OPTIONS)


def test_a_run_keeps_to_the_encoders_that_it_began_with_when_the_sketch_grows(digits, folder, tmp_path):
    straight = condense(digits, folder, steps=8)
    condense(digits, folder, steps=4, out=tmp_path / "run")
    lqm.sketch(digits, out=folder, encoders=5, **OPTIONS)
    assert Sketch(folder).encoders == 5
    resumed = condense(digits, folder, steps=8, out=tmp_path / "run")
    assert resumed.images.equal(straight.images)
    assert resumed.manifest["sketch"]["encoders"] == 2
    assert not condense(digits, folder, steps=8).images.equal(straight.images)


def test_a_run_does_not_go_on_with_encoders_that_were_made_anew_otherwise(digits, folder, tmp_path):
    condense(digits, folder, steps=4, out=tmp_path / "run")
    for path in folder.glob("encoder-*"):
        path.unlink()
    (folder / "run.json").unlink()
    lqm.sketch(digits, out=folder, encoders=2, seed=1, **OPTIONS)
    with pytest.raises(ConfigError, match=r"holds a run with sketch\.sha256"):
        condense(digits, folder, steps=8, out=tmp_path / "run")


def test_a_file_that_was_cut_short_is_found_before_the_run_begins(digits, folder):
    path = next(folder.glob("encoder-000001.*"))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ArtifactError, match=r"encoder-000001.* can't be read"):
        condense(digits, folder, steps=1)


def test_all_images_at_once_are_refused_where_they_would_not_fit(digits, tmp_path, monkeypatch):
    for module in ("problem", "sketching"):
        monkeypatch.setattr(f"lqm.images.{module}.REAL_AT_ONCE", 300)
    options = OPTIONS | {"network": "convnet:width=8:depth=2:norm=batch", "real_batch": None}
    with pytest.raises(ConfigError, match=r"normalises by its batch.*give --real-batch 30 or less"):
        lqm.sketch(digits, out=tmp_path / "sketch", encoders=1, **options)
    lqm.sketch(digits, out=tmp_path / "sketch", encoders=1, **options | {"real_batch": 30})


@pytest.mark.parametrize("option", ["compile", "precision"])
def test_what_chooses_real_images_is_neither_compiled_nor_of_a_precision(digits, option):
    with pytest.raises(ConfigError, match=f"{option} has no part in method 'random'; leave it out"):
        lqm.condense(digits, method="random", **{option: "auto"}, show_progress=False)

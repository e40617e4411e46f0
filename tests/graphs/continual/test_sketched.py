"""Streams that are condensed by a sketch: what they become, and which sketches are refused."""

import pytest
import torch

import lqm
from lqm.banks import Sketch
from lqm.utils.errors import ArtifactError, ConfigError, DataError
from tests.graphs.continual.making import LEARNING, run, same, small_graph

SETTINGS = {**LEARNING, "steps": 4}
WIDTH = {"width": 16}


def make_sketch(out, source=None, **options):
    """Of 3 * 7 quantiles, which is every training node: a class of the graph has at most 19."""
    given = {"classes_per_task": 2, "max_per_class": 7, "encoders": 3, "settings": WIDTH}
    return lqm.sketch(source or small_graph(), out=out, show_progress=False, **{**given, **options})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_sketch(tmp_path_factory.mktemp("stream") / "sketch").path


@pytest.mark.parametrize("distance", ["mean", "lqm", "lqm-ad", "wasserstein"])
@pytest.mark.parametrize("stream", [{}, {"order": "shuffled", "order_seed": 1, "inter_task_edges": True}])
def test_a_sketch_that_keeps_every_node_gives_what_the_nodes_themselves_give(tmp_path, distance, stream):
    # Eight updates under one encoder: there is no order of encoders in which the two could differ.
    settings, options = {**LEARNING, "steps": 1, "updates": 8}, {"distance": distance, **stream}
    made = make_sketch(tmp_path / "sketch", encoders=1, **stream)
    plain = run(settings={**settings, **WIDTH}, **options)
    sketched = run(settings=settings, sketch=made.path, **options)
    init = run(settings={**settings, **WIDTH, "learning_rate": 1e-12}, **options)
    assert sketched.config["sketch"] == made.identity
    assert sketched.config["settings"] == plain.config["settings"]
    for before, after, first in zip(plain.memories[0], sketched.memories[0], init.memories[0], strict=True):
        assert before.labels.equal(after.labels)
        # Adam moves a feature whose gradient is all but 0 by a whole step, up or down with the last bits.
        apart = (before.features - after.features).abs() > 1e-5
        assert apart.float().mean() < 0.02
        assert (first.features - after.features).abs().median() > 2e-3, "they have moved far beyond that"


def test_a_sketch_of_few_quantiles_and_of_a_part_of_the_nodes_is_used_as_it_is(tmp_path):
    made = make_sketch(tmp_path / "sketch", max_per_class=3, real_batch=5)
    found = run(settings=SETTINGS, sketch=made.path)
    assert found.config["settings"]["real_batch"] == 5
    assert all(memory.features.isfinite().all() for memory in found.memories[0])
    with pytest.raises(ConfigError, match=rf"{made.path} .*\b3\b.*\b4\b.*--max-per-class 4"):
        run(settings=SETTINGS, sketch=made.path, budget=7, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_one_sketch_serves_all_repeats_and_a_run_keeps_to_its_encoders_when_the_sketch_grows(tmp_path):
    sketch, out = make_sketch(tmp_path / "sketch").path, tmp_path / "run"
    straight = run(settings=SETTINGS, sketch=sketch, repeats=2)
    assert not torch.equal(*(kept[0].features for kept in straight.memories))
    run(settings=SETTINGS, sketch=sketch, out=out)
    make_sketch(sketch, encoders=5)
    assert Sketch(sketch).encoders == 5
    same(run(settings=SETTINGS, sketch=sketch, out=out, repeats=2), straight)
    with pytest.raises(ConfigError, match="sketch"):
        run(settings={**SETTINGS, **WIDTH}, out=out)


def test_few_encoders_for_many_steps_are_warned_of_once(folder, capsys):
    run(settings=SETTINGS, sketch=folder, repeats=2, show_progress=True)
    assert capsys.readouterr().err.count("3 encoders for 4 steps") == 1


@pytest.mark.parametrize(
    ("options", "mentioned"),
    [
        ({"classes_per_task": 3}, "--classes-per-task 2.*--classes-per-task 3.*`lqm sketch`"),
        ({"order": "shuffled"}, "--order labels.*--order shuffled.*`lqm sketch`"),
        ({"split_seed": 1}, "--split-seed 0.*--split-seed 1.*`lqm sketch`"),
        ({"inter_task_edges": True}, "--inter-task-edges False.*--inter-task-edges True.*`lqm sketch`"),
        ({"method": "puma"}, "'cat'.*'puma'"),
        ({"method": "random", "settings": LEARNING}, "'random'.*leave the sketch out"),
        ({"method": "joint", "settings": LEARNING, "budget": None}, "'joint'.*leave the sketch out"),
        ({"settings": {**SETTINGS, "pseudo_labels": "validation"}}, "pseudo-labels.*sketch"),
        ({"settings": {**SETTINGS, "width": 8}}, r"width\b.*\b16\b.*\b8\b"),
        ({"settings": {**SETTINGS, "width": 512}}, r"width\b.*\b16\b.*\b512\b"),
        ({"settings": {**SETTINGS, "reuse": 2}}, "reuse.*leave it out"),
        ({"distance": "energy"}, "'energy'.*lqm"),
        ({"budget": 17}, r"\b7\b.*--max-per-class"),
    ],
)
def test_what_a_sketch_can_not_be_used_for_is_refused_before_any_work(tmp_path, folder, options, mentioned):
    out = tmp_path / "run"
    with pytest.raises(ConfigError, match=mentioned):
        run(sketch=folder, out=out, **{"settings": SETTINGS, **options})
    assert not out.exists()


def test_a_sketch_of_other_data_or_of_the_whole_graph_is_refused(tmp_path, folder):
    with pytest.raises(DataError, match=r"'small'.*'small'.*`lqm sketch`"):
        run(small_graph(seed=1), settings=SETTINGS, sketch=folder)
    whole = make_sketch(tmp_path / "whole", classes_per_task=None).path
    with pytest.raises(ConfigError, match=f"{whole} .*stream.*`lqm sketch`"):
        run(settings=SETTINGS, sketch=whole)
    with pytest.raises(ConfigError, match=f"{folder} .*stream.*`lqm sketch`"):
        lqm.condense(small_graph(), budget=12, sketch=folder, show_progress=False)
    with pytest.raises(ArtifactError, match=f"{tmp_path} .*`lqm sketch`"):
        run(settings=SETTINGS, sketch=tmp_path)


@pytest.mark.parametrize(
    ("source", "options", "mentioned"),
    [
        ("digits-knn", {"split": "random"}, "split.*leave the split out"),
        ("digits-knn", {"features": "spectral"}, "spectral.*degree"),
        ("digits-knn", {"classes_per_task": 0}, "classes_per_task = 0"),
        ("digits-knn", {"order": "random"}, "order.*'random'"),
        ("digits", {}, "classes_per_task.*graphs.*leave it out"),
    ],
)
def test_a_stream_that_can_not_be_sketched_is_refused_before_any_folder_is_made(
    tmp_path, source, options, mentioned
):
    options = {"settings": None, **options}
    with pytest.raises(ConfigError, match=mentioned):
        make_sketch(tmp_path / "sketch", source, **options)
    assert not (tmp_path / "sketch").exists()


def test_the_split_of_a_source_is_no_part_of_the_sketch_of_its_stream(tmp_path):
    source = lqm.load_graph("digits-knn", split="random")
    of_source, of_name = (
        make_sketch(tmp_path / name, source=each, encoders=1)
        for name, each in (("source", source), ("name", "digits-knn"))
    )
    assert of_source.config == of_name.config
    assert of_source.identity == of_name.identity

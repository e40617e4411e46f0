"""The engines of commands: the same bits whichever does the work."""

from pathlib import Path

import pytest
import torch

import lqm
from lqm.executors import InProcess, Processes
from tests.executors.making import TINY, digest


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    out = tmp_path_factory.mktemp("local") / "sketch"
    lqm.sketch("digits", out=out, threads=1, show_progress=False, **TINY)
    return digest(out)


def test_a_sketch_by_two_processes_has_the_bits_of_one_by_this_process(tmp_path, local):
    lqm.sketch("digits", out=tmp_path / "sketch", jobs=2, threads=1, show_progress=False, **TINY)
    assert digest(tmp_path / "sketch") == local


@pytest.mark.slow
def test_a_chain_of_encoders_goes_on_in_another_process_where_this_one_stopped(tmp_path):
    """The encoders of a sketch for IDM follow from each other: training goes on from the one before."""
    options = {"method": "idm", "max_per_class": 4, "settings": {"network": "convnet:width=4"}}
    options |= {"real_batch": 8, "threads": 1, "show_progress": False}
    lqm.sketch("digits", out=tmp_path / "straight", encoders=3, **options)
    lqm.sketch("digits", out=tmp_path / "parts", encoders=1, **options)
    lqm.sketch("digits", out=tmp_path / "parts", encoders=3, jobs=2, **options)
    assert digest(tmp_path / "parts") == digest(tmp_path / "straight")


@pytest.mark.slow
def test_experts_by_processes_have_the_bits_of_those_by_this_process(tmp_path):
    options = {"networks": 2, "epochs": 1, "network": "convnet:width=4", "threads": 1, "show_progress": False}
    lqm.experts("digits", out=tmp_path / "one", **options)
    lqm.experts("digits", out=tmp_path / "two", jobs=2, **options)
    assert digest(tmp_path / "two") == digest(tmp_path / "one")


def test_the_threads_are_part_of_what_a_bank_is(tmp_path):
    lqm.sketch("digits", out=tmp_path / "sketch", threads=1, show_progress=False, **TINY | {"encoders": 1})
    with pytest.raises(lqm.LqmError, match="begun with 1 threads"):
        lqm.sketch("digits", out=tmp_path / "sketch", threads=2, show_progress=False, **TINY)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        lqm.sketch("digits", out=tmp_path / "sketch", show_progress=False, **TINY)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_scores_by_processes_are_those_of_this_process(tmp_path, monkeypatch):
    condensed = lqm.condense(
        "digits",
        per_class=1,
        out=tmp_path / "set",
        settings={"steps": 2, **TINY["settings"]},
        show_progress=False,
    )
    found = []
    for number, jobs in enumerate((1, 2)):
        monkeypatch.setenv("LQM_CACHE", str(tmp_path / f"cache-{number}"))
        found.append(
            lqm.evaluate(
                condensed,
                networks="mlp:width=8",
                repeats=2,
                baselines="random",
                jobs=jobs,
                threads=1,
                show_progress=False,
            )
        )
    assert found[0].by_network == found[1].by_network
    assert len([*(tmp_path / "cache-1" / "scores").iterdir()]) == 4


@pytest.mark.slow
def test_a_stream_by_processes_is_that_of_this_process(tmp_path):
    options = {"budget": 2, "repeats": 2, "settings": {"steps": 2, "epochs": 2, "width": 8}}
    options |= {"threads": 1, "show_progress": False}
    one, two = (
        lqm.continual("synthetic:nodes=200,classes=4", out=tmp_path / f"{jobs}", jobs=jobs, **options)
        for jobs in (1, 2)
    )
    assert torch.equal(one.matrices.nan_to_num(), two.matrices.nan_to_num())
    without = lqm.continual("synthetic:nodes=200,classes=4", jobs=2, **options)
    assert torch.equal(one.matrices.nan_to_num(), without.matrices.nan_to_num())
    assert without.path is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"engine": "spark"}, "no engine 'spark'"),
        ({"address": "auto"}, "engine = ray"),
        ({"engine": "ray", "jobs": 2}, "leave jobs out"),
        ({"jobs": 0}, "jobs"),
        ({"threads": 0}, "threads"),
    ],
)
def test_options_of_an_engine_that_cant_be_used_are_refused_first(tmp_path, options, words):
    with pytest.raises(lqm.LqmError, match=words):
        lqm.sketch("digits", out=tmp_path / "sketch", **options)
    assert not [*Path(tmp_path).iterdir()]


def test_arrays_are_not_looked_for_by_other_processes(tmp_path):
    images, labels = torch.rand(20, 1, 8, 8), torch.arange(20) % 2
    with pytest.raises(lqm.LqmError, match="own process"):
        lqm.sketch(images, labels, out=tmp_path / "sketch", jobs=2, show_progress=False, **TINY)


def test_networks_of_ones_own_are_trained_in_this_process_alone(tmp_path):
    condensed = lqm.condense("digits", per_class=1, method="random", show_progress=False)
    with pytest.raises(lqm.LqmError, match="function of this program"):
        lqm.evaluate(condensed, networks={"mine": lambda shape, classes: None}, jobs=2, show_progress=False)


@pytest.mark.parametrize("encoders", [1, 20])
def test_an_encoder_that_is_divided_by_its_classes_is_the_same_shard(tmp_path, monkeypatch, encoders):
    """Few encoders for many workers are divided; so many images that classes go through it one by one."""
    monkeypatch.setattr("lqm.images.problem.REAL_AT_ONCE", 16)
    handed = []

    def watched(self, work, pieces):
        given = [*pieces]
        handed.extend(given)
        return InProcess().map(work, given)

    monkeypatch.setattr(Processes, "map", watched)
    options = {**TINY, "encoders": encoders, "threads": 1, "show_progress": False}
    lqm.sketch("digits", out=tmp_path / "whole", **options)
    lqm.sketch("digits", out=tmp_path / "parts", jobs=2, **options)
    assert len(handed) == (5 if encoders == 1 else encoders)
    assert digest(tmp_path / "parts") == digest(tmp_path / "whole")

"""How many networks an evaluation trains side by side where nobody has said it."""

from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest
import torch

import lqm
from lqm.api import evaluate as evaluating
from lqm.api.side_by_side import Places, side_by_side
from lqm.images.evaluation import IMAGES, PROTOCOLS
from lqm.images.sources import load_source
from tests.executors.test_engines import TINY

DIGITS = load_source("digits")
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def condensed(tmp_path_factory):
    out = tmp_path_factory.mktemp("side-by-side") / "set"
    settings = {"steps": 1, **TINY["settings"]}
    return lqm.condense("digits", per_class=10, out=out, settings=settings, show_progress=False)


@pytest.fixture
def machine(monkeypatch):
    def of(cores, free=2**40):
        monkeypatch.setattr(torch, "get_num_threads", lambda: cores)
        monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=free, total=2**40))

    return of


def places(condensed, networks=5, kinds=("convnet",), sets=("condensed",), device=CPU, protocol="field-1000"):
    rules = replace(PROTOCOLS[protocol], networks=networks)
    return side_by_side(
        IMAGES,
        condensed,
        DIGITS,
        rules,
        usual=PROTOCOLS[protocol].networks,
        networks=kinds,
        sets=sets,
        device=device,
    )


@pytest.mark.parametrize(
    ("cores", "networks", "expected"),
    [
        (1, 5, Places(1, 1)),
        (2, 1, Places(1, 2)),
        (2, 2, Places(2, 1)),
        (2, 5, Places(2, 1)),
        (4, 3, Places(3, 1)),
        (64, 5, Places(5, 12)),
        (64, 2, Places(2, 12)),
    ],
)
def test_networks_that_take_long_share_the_cores(condensed, machine, cores, networks, expected):
    machine(cores)
    assert places(condensed, networks) == expected


def test_baselines_and_kinds_count_as_networks(condensed, machine):
    machine(2)
    assert places(condensed, 1, sets=("condensed", "random")) == Places(2, 1)
    assert places(condensed, 1, kinds=("convnet", "convnet:width=64")) == Places(2, 1)


def test_networks_that_are_soon_done_stay_in_this_process(condensed, machine):
    machine(2)
    assert places(condensed, kinds=("mlp:width=8",)) == Places(1, 2)


def test_a_gpu_has_one_network_at_a_time(condensed, machine):
    machine(2)
    assert places(condensed, device=torch.device("cuda")) == Places(1, 2)


def test_memory_limits_how_many_and_not_their_threads(condensed, machine):
    machine(4)
    of_one = psutil.Process().memory_info().rss
    assert places(condensed) == Places(4, 1)
    machine(4, free=3 * of_one)
    assert places(condensed).jobs in (1, 2)
    assert places(condensed).threads == 1
    machine(4, free=1)
    assert places(condensed) == Places(1, 1)


def test_evaluate_trains_side_by_side_and_finds_the_scores_of_one_process(condensed, tmp_path, monkeypatch):
    options = {"networks": "mlp:width=8", "repeats": 2, "baselines": (), "show_progress": False}
    trained, train_missing = [], evaluating.train_missing

    def counted(sets, asked, executor, **more):
        trained.append((executor.slots, more["threads"]))
        train_missing(sets, asked, executor, **more)

    monkeypatch.setattr(evaluating, "side_by_side", lambda *given, **more: Places(2, 1))
    monkeypatch.setattr(evaluating, "train_missing", counted)
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "two"))
    together = lqm.evaluate(condensed, **options)
    assert trained == [(2, 1)]
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "one"))
    alone = lqm.evaluate(condensed, jobs=1, threads=1, **options)
    assert len(trained) == 1
    assert together.by_network == alone.by_network

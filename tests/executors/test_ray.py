"""Real Ray with two workers on this machine: the same bits, and what goes wrong is one sentence.

A few of the tests are fast ones; `make slow` runs all.
"""

import os
import signal
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
import torch

import lqm
from lqm.executors import Lost
from tests.executors.making import TINY, digest
from tests.executors.toy import pieces, squares, work

ray = pytest.importorskip("ray", reason="Ray is not installed")
OnRay = __import__("lqm.executors.on_ray", fromlist=["OnRay"]).OnRay

EXPECTED = {(f"piece {n}", part): float((n + part) ** 2) for n in range(4) for part in range(3)}
STREAM = {"budget": 2, "repeats": 2, "settings": {"steps": 2, "epochs": 2, "width": 8}, "threads": 1}
STUDY = """
compare = "distance"
[[grid]]
source = "synthetic:nodes=200,classes=3"
method = "cat"
distance = ["mean", "lqm"]
budget = 6
protocol = "graph-quick"
settings = { steps = 2, width = 8 }
"""


@pytest.fixture(scope="module", autouse=True)
def _cluster(tmp_path_factory):
    """One Ray for all tests, on the loopback, whose workers import what the tests do."""
    place = Path(__file__).parents[2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{place / 'src'}{os.pathsep}{place}")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        ray.init(
            address="local",
            num_cpus=2,
            _node_ip_address="127.0.0.1",
            include_dashboard=False,
            log_to_driver=False,
            logging_level=40,
            object_store_memory=100 * 2**20,
        )
        yield
        ray.shutdown()
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), handlers, strict=True):
            signal.signal(number, handler)


def test_results_are_those_of_one_process_and_come_from_two(tmp_path):
    executor = OnRay()
    assert squares(executor.map(work(tmp_path), pieces(4))) == EXPECTED
    assert executor.slots == 2
    assert 1 <= executor.workers <= 2


def test_a_worker_that_dies_costs_nothing_but_time(tmp_path):
    found = squares(OnRay().map(work(tmp_path), pieces(4, piece1={"dies": 2})))
    assert found == EXPECTED
    assert len([*tmp_path.glob("1-*")]) == 2


@pytest.mark.slow
def test_a_piece_that_fails_three_times_is_reported_and_the_others_go_on(tmp_path):
    special = {"piece0": {"dies": 3}, "piece1": {"breaks": True}, "piece2": {"fails": True}}
    found = squares(OnRay().map(work(tmp_path), pieces(4, **special)))
    assert "died 3 times" in found.pop(("piece 0",))
    assert found.pop(("piece 1",)) == "ZeroDivisionError: no such number (tried 3 times)"
    assert found.pop(("piece 2",)) == "number 13 can't be squared; leave it out"
    assert found == {name: value for name, value in EXPECTED.items() if name[0] == "piece 3"}


def test_a_worker_with_another_torch_is_one_sentence(tmp_path):
    asked = work(tmp_path)
    object.__setattr__(asked, "environment", {**asked.environment, "torch": "2.12.0"})
    _, lost = next(OnRay().map(asked, pieces(1)))
    assert isinstance(lost, Lost)
    assert f"has torch {torch.__version__}, and this machine 2.12.0" in lost.sentence


def test_more_threads_than_any_machine_has_are_refused(tmp_path):
    with pytest.raises(lqm.LqmError, match="fewer --threads"):
        next(OnRay().map(work(tmp_path, threads=64), pieces(1)))


@pytest.mark.slow
def test_what_is_left_is_cancelled_when_nobody_waits_for_it_any_more(tmp_path):
    found = OnRay().map(work(tmp_path), pieces(4))
    next(found)
    found.close()
    assert squares(OnRay().map(work(tmp_path), pieces(4))) == EXPECTED


@pytest.mark.slow
def test_a_sketch_by_ray_has_the_bits_of_one_by_this_process_though_a_worker_is_killed(tmp_path):
    asked = TINY | {"encoders": 24, "threads": 1, "show_progress": False}
    lqm.sketch("digits", out=tmp_path / "local", **asked)
    with _a_worker_is_killed_once_there_is(tmp_path / "ray", "*.safetensors"):
        lqm.sketch("digits", out=tmp_path / "ray", engine="ray", **asked)
    assert digest(tmp_path / "ray") == digest(tmp_path / "local")


@contextmanager
def _a_worker_is_killed_once_there_is(folder, result):
    """SIGKILL, during the block, one worker that is at work once a first result is there."""
    killed = []

    def kill():
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not killed:
            time.sleep(0.02)
            if [*folder.glob(result)]:
                killed.extend(_kill_a_worker())

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    thread.join()
    assert killed


def _kill_a_worker():
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if " ".join(process.cmdline()).startswith("ray::_do_piece"):
                process.kill()
                return [process.pid]
    return []


def test_a_sketch_by_ray_has_the_bits_of_one_by_this_process(tmp_path):
    for engine in ("local", "ray"):
        out = tmp_path / engine
        lqm.sketch("digits", out=out, engine=engine, threads=1, show_progress=False, **TINY)
    assert digest(tmp_path / "ray") == digest(tmp_path / "local")


@pytest.mark.slow
def test_data_that_a_program_has_reach_the_workers_through_the_object_store(tmp_path):
    images, labels = torch.rand(40, 1, 8, 8), torch.arange(40) % 2
    for engine in ("local", "ray"):
        out = tmp_path / engine
        lqm.sketch(images, labels, out=out, engine=engine, threads=1, show_progress=False, **TINY)
    assert digest(tmp_path / "ray") == digest(tmp_path / "local")


@pytest.mark.slow
def test_scores_by_ray_are_those_of_this_process(tmp_path, monkeypatch):
    condensed = lqm.condense(
        "digits", per_class=1, method="random", out=tmp_path / "set", show_progress=False
    )
    found = []
    for engine in ("local", "ray"):
        monkeypatch.setenv("LQM_CACHE", str(tmp_path / engine))
        options = {"networks": "mlp:width=8", "repeats": 2, "baselines": (), "threads": 1}
        found.append(lqm.evaluate(condensed, engine=engine, show_progress=False, **options))
    assert found[0].by_network == found[1].by_network
    assert len([*(tmp_path / "ray" / "scores").iterdir()]) == 2


@pytest.mark.slow
def test_a_stream_by_ray_is_that_of_this_process_and_goes_on_locally(tmp_path):
    source = "synthetic:nodes=200,classes=4"
    local = lqm.continual(source, out=tmp_path / "local", show_progress=False, **STREAM)
    far = lqm.continual(source, out=tmp_path / "ray", engine="ray", show_progress=False, **STREAM)
    assert torch.equal(far.matrices.nan_to_num(), local.matrices.nan_to_num())
    more = lqm.continual(source, out=tmp_path / "ray", show_progress=False, **STREAM | {"repeats": 3})
    assert torch.equal(more.matrices[:2].nan_to_num(), local.matrices.nan_to_num())


@pytest.mark.slow
def test_a_study_by_ray_has_the_lines_of_one_by_this_process(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    near, far = (
        lqm.study(path, out=tmp_path / engine, engine=engine, threads=1, show_progress=False)
        for engine in ("local", "ray")
    )
    assert [line.scores for line in far.lines] == [line.scores for line in near.lines]
    assert not far.failed
    for line in near.lines:
        folders = (tmp_path / engine / "runs" for engine in ("local", "ray"))
        one, other = (lqm.load(next(folder.glob(f"{line.cell}-*"))) for folder in folders)
        assert torch.equal(one.data, other.data)
    again = lqm.study(path, out=tmp_path / "ray", threads=1, show_progress=False)
    assert again.lines == far.lines


@pytest.mark.slow
def test_a_study_by_ray_has_the_same_scores_though_a_worker_is_killed(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(STUDY.replace("budget = 6", "budget = 6\nseed = [0, 1, 2]"))
    near = lqm.study(path, out=tmp_path / "local", threads=1, show_progress=False)
    with _a_worker_is_killed_once_there_is(tmp_path / "ray", "cells.jsonl"):
        far = lqm.study(path, out=tmp_path / "ray", engine="ray", threads=1, show_progress=False)
    assert not far.failed
    assert [line.scores for line in far.lines] == [line.scores for line in near.lines]


@pytest.mark.slow
def test_a_worker_with_other_data_of_the_same_name_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    monkeypatch.setattr(
        "lqm.api.cell_pieces._identity", lambda cell, place, known: {"fingerprint": "another"}
    )
    found = lqm.study(path, out=tmp_path / "out", engine="ray", threads=1, show_progress=False)
    assert all("not the same data on this worker" in line.sentence for line in found.failed)
    assert len(found.failed) == 2

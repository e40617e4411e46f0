"""What long work will take, told early."""

import re
import time
from pathlib import Path

import pytest
import torch

from lqm.engine import forecast as module
from lqm.engine.forecast import Forecast, begin_peak, duration, peak_memory
from lqm.engine.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that only the test moves."""
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def lines_of(clock, seconds, total, **options):
    """What is told of pieces that take so many seconds each, and when."""
    forecast = Forecast(total, **options)
    told = []
    for done, took in enumerate(seconds, start=1):
        clock[0] += took
        if line := forecast.after(done):
            told.append((done, line))
    return told


def test_the_first_piece_counts_once(clock):
    ((done, line),) = lines_of(clock, [40.0, *[2.0] * 10], 1000, disk=lambda: 3 * 2**20)
    assert done == 1, "a piece of 40 s tells enough"
    assert "11 h" in line
    clock[0] = 0.0
    ((done, line),) = lines_of(clock, [20.0, *[2.0] * 10], 1000, disk=lambda: 3 * 2**20)
    assert done == 4
    assert "34 min" in line, "20 s and 999 pieces of 2 s"
    assert "3 MiB on the disk" in line


def test_short_and_small_work_needs_none(clock, monkeypatch):
    monkeypatch.setattr(module, "peak_memory", lambda: 10**8)
    assert lines_of(clock, [0.5] * 60, 60) == []
    monkeypatch.setattr(module, "peak_memory", lambda: 3 * 2**30)
    ((_, line),) = lines_of(clock, [0.5] * 60, 60)
    assert "3 GiB of memory" in line


def test_work_that_was_begun_before_is_forecast_from_there(clock):
    forecast = Forecast(1000, 900)
    told = []
    for done in range(901, 1001):
        clock[0] += 2.0
        told.append(forecast.after(done))
    (line,) = filter(None, told)
    assert re.search(r"\b3\.3 min", line)


def test_the_peak_is_what_was_taken():
    before = peak_memory()
    taken = bytearray(before)
    assert peak_memory() >= before + len(taken) // 2


def test_progress_tells_it_once(clock, capsys):
    with Progress("walk", 100) as bar:
        for done in range(1, 101):
            clock[0] += 3.0
            bar.update(done, {})
    assert capsys.readouterr().err.count("in all") == 1


@pytest.mark.parametrize("shown", [True, False])
def test_above_an_hour_there_is_one_warning_even_if_nothing_else_is_shown(clock, capsys, shown):
    forecast = Forecast(1000, shorter="fewer steps make it shorter")
    with Progress("walk", 1000, shown=shown, forecast=forecast) as bar:
        for done in range(1, 20):
            clock[0] += 4.0
            bar.update(done, {})
    error = capsys.readouterr().err
    assert error.count("lqm: warning: this takes about 67 min; fewer steps make it shorter") == 1
    assert ("in all" in error) == shown


def test_below_an_hour_there_is_no_warning(clock, capsys):
    with Progress("walk", 1000) as bar:
        for done in range(1, 20):
            clock[0] += 3.0
            bar.update(done, {})
    assert "warning" not in capsys.readouterr().err


def test_pieces_that_were_cached_count_for_no_rate_and_no_forecast(clock, capsys):
    with Progress("walk", 20, each="network") as bar:
        for done in range(1, 21):
            cached = done <= 10
            clock[0] += 0.001 if cached else 20.0
            bar.update(done, {}, cached=cached)
    error = capsys.readouterr().err
    assert "20/20  20 s/network  0:00:00 left" in error
    assert "about 3.3 min in all" in error


def test_where_all_is_cached_there_is_no_rate(clock, capsys):
    with Progress("walk", 3) as bar:
        for done in range(1, 4):
            clock[0] += 0.01
            bar.update(done, {"accuracy": 0.5}, cached=True)
    assert capsys.readouterr().err == "walk: 3/3  cached  0:00:00 left  accuracy 0.5\n"


@pytest.mark.parametrize(("seconds", "rate"), [(2.5, "2.5 s/node"), (40.0, "40 s/node"), (0.5, "2.0/s")])
def test_slow_pieces_are_told_by_their_seconds(clock, capsys, seconds, rate):
    with Progress("walk", 30, each="node") as bar:
        for done in range(1, 31):
            clock[0] += seconds
            bar.update(done, {})
    assert f"30/30  {rate}  0:00:00 left" in capsys.readouterr().err


def test_durations_are_told_in_two_digits():
    assert [duration(seconds) for seconds in (61.4, 3599, 7201, 180_000)] == [
        "61 s",
        "60 min",
        "2 h",
        "2.1 days",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "options"),
    [
        (
            "digits",
            {"per_class": 50, "settings": {"steps": 150, "network": "convnet:width=64"}},
        ),
        ("digits", {"method": "idm", "settings": {"steps": 60, "network": "convnet:width=32"}}),
        ("synthetic:nodes=20000,classes=10,features=200", {"settings": {"steps": 200, "width": 512}}),
    ],
    ids=["dm", "idm", "cat"],
)
def test_the_forecast_is_within_1_5_times_of_the_truth(tmp_path, monkeypatch, source, options):
    import lqm

    told = []

    class Kept(Forecast):
        def after(self, done):
            line = super().after(done)
            told.extend([line] if line else [])
            return line

    monkeypatch.setattr(module, "_LONG", 0.0)
    monkeypatch.setattr("lqm.engine.loop.Forecast", Kept)
    # Long work keeps two checkpoints.
    more = {"checkpoint_seconds": 0.5} | ({} if "nodes" in source else {"compile": "off"})
    began = time.monotonic()
    lqm.condense(source, out=tmp_path / "run", **options, **more)
    seconds, peak = time.monotonic() - began, peak_memory()
    disk = sum(path.stat().st_size for path in (tmp_path / "run").rglob("*") if path.is_file())
    (line,) = told
    number = r"([\d.]+) (s|min|KiB|MiB|GiB)"
    forecast = [float(n) * SIZES[unit] for n, unit in re.findall(number, line)]
    for found, truth in zip(forecast, (seconds, peak, disk), strict=True):
        assert truth / 1.5 < found < truth * 1.5, line


SIZES = {"s": 1, "min": 60, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux counts a peak anew")
def test_a_peak_counts_from_its_beginning():
    block = torch.ones(2**28)  # 1 GiB
    with_block = peak_memory()
    del block
    begin_peak()
    assert peak_memory() < with_block - 2**29
    torch.ones(2**28).sum()
    assert peak_memory() > with_block - 2**29

"""What is measured around the work: workers, ratios, and ratios against stored ones."""

import sys
import time
from dataclasses import replace

import psutil
import pytest

from benchmarks.ratios.baseline import Baseline, here, read, write
from benchmarks.ratios.timing import Comparison, Work, Worker, WorkerError

WORK = Work("work", "plainly", lambda: print, lambda: print, rounds=3, at_least=2)
SAME_OR_LESS = replace(WORK, at_least=None, at_most=1.1)


def worker(step, clock="time.perf_counter"):
    """A worker whose step is this expression."""
    serve = f"serve(lambda: lambda: {step}, {clock})"
    code = f"import os, sys, time; from benchmarks.ratios.worker import serve; {serve}"
    return Worker([sys.executable, "-c", code])


def test_a_worker_tells_the_seconds_of_each_step():
    with worker("time.sleep(0.05)") as one:
        found = [one.step() for _ in range(3)]
    assert min(found) >= 0.05
    assert min(found) < 0.5, "seconds, although the machine may be busy now and then"


def test_a_worker_may_count_what_the_processor_did_and_not_what_it_waited():
    with worker("time.sleep(0.2)", "time.process_time") as one:
        assert one.step() < 0.1


def test_workers_are_stepped_in_turn_and_idle_in_between(tmp_path):
    path = tmp_path / "steps"
    path.touch()

    def writes(word):
        return worker(f"open({str(path)!r}, 'a').write({word!r})")

    with writes("a") as first, writes("b") as second:
        for _ in range(3):
            first.step(), second.step()
        time.sleep(0.1)
    assert path.read_text() == "ababab"


def test_what_a_step_prints_is_not_taken_for_its_answer():
    with worker("(print('7'), os.system('echo 8'))") as one:
        assert one.step() < 5
        assert one.step() < 5


@pytest.mark.parametrize(("given", "expected"), [(None, ":\n10000$"), ("5", ":\n5$")])
def test_workers_wait_for_threads_as_the_command_line_does(monkeypatch, given, expected):
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    if given:
        monkeypatch.setenv("GOMP_SPINCOUNT", given)
    with worker("sys.exit(os.environ['GOMP_SPINCOUNT'])") as one, pytest.raises(WorkerError, match=expected):
        one.step()


def test_a_worker_that_dies_says_how_and_its_last_words():
    with worker("1 / 0") as one, pytest.raises(WorkerError, match=r"(?s)exit code 1.*ZeroDivisionError"):
        one.step()
    with worker("os.kill(os.getpid(), 9)") as one, pytest.raises(WorkerError, match="exit code -9"):
        one.step()


@pytest.fixture
def number(tmp_path):
    """A step that writes the number of its process, and that process."""
    path = tmp_path / "number"
    return f"open({str(path)!r}, 'w').write(str(os.getpid()))", lambda: psutil.Process(int(path.read_text()))


def test_a_worker_that_dies_between_two_steps_is_noticed_at_the_next(number):
    step, process = number
    with worker(step) as one:
        one.step()
        process().terminate()
        while process().status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
        with pytest.raises(WorkerError, match="exit code -15"):
            one.step()


def test_a_worker_that_can_not_be_made_ready_is_an_error_at_once():
    command = [sys.executable, "-c", "from benchmarks.ratios.worker import serve; serve(lambda: 1 / 0)"]
    with pytest.raises(WorkerError, match="ZeroDivisionError"), Worker(command):
        pass


def test_no_process_is_left_when_the_work_is_stopped(number):
    step, process = number

    def stopped():
        with worker(step) as one:
            one.step()
            assert process().is_running()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    with pytest.raises(psutil.NoSuchProcess):
        process()


def test_the_ratio_is_that_of_the_medians():
    one = Comparison(WORK, plain=[4.0, 9.0, 6.0], ours=[2.0, 3.0, 100.0])
    assert one.ratio == 2
    assert one.met
    assert one.row() == (
        "work",
        "plainly",
        "6000.00 ms",
        "3000.00 ms",
        "2.00 x faster",
        "1.03 to 2.50",
        ">= 2",
    )


def test_a_missed_limit_is_named():
    slow = Comparison(WORK, plain=[1.9], ours=[1.0])
    assert not slow.met
    assert slow.row()[-1] == ">= 2 MISSED"


@pytest.mark.parametrize(("ours", "met"), [(1.09, True), (1.11, False), (0.5, True)])
def test_a_limit_of_time_counts_time(ours, met):
    one = Comparison(SAME_OR_LESS, plain=[1.0, 1.0, 1.0], ours=[ours] * 3)
    assert one.met is met
    assert one.row()[4:6] == (f"{ours:.2f} x the time", f"{ours:.2f} to {ours:.2f}")
    assert one.row()[6].startswith("<= 1.1")


def test_a_fall_of_more_than_15_percent_is_a_loss():
    stored = Baseline({}, {"work": 2.0})
    assert stored.lost("work", 1.69)
    assert not stored.lost("work", 1.71)
    assert not stored.lost("work", 4.0)
    assert not stored.lost("another work", 0.1)


def test_a_baseline_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "baseline.json"
    assert read(path) == Baseline()
    stored = Baseline().renewed(here(), {"work": 2.34567})
    write(stored, path)
    assert read(path) == stored == Baseline(here(), {"work": 2.346})
    assert set(stored.place) == {"machine", "torch", "threads"}


def test_ratios_of_another_place_are_not_kept_beside_new_ones():
    stored = Baseline({"machine": "a"}, {"work": 2.0, "other": 3.0})
    assert stored.renewed({"machine": "a"}, {"work": 4.0}).ratios == {"work": 4.0, "other": 3.0}
    assert stored.renewed({"machine": "b"}, {"work": 4.0}).ratios == {"work": 4.0}

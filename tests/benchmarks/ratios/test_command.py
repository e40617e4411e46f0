"""`python -m benchmarks`: what it prints, what it stores, and its exit code."""

import json

import pytest
import torch

from benchmarks import __main__ as command
from benchmarks.ratios import baseline, image_steps
from benchmarks.ratios.timing import Comparison, WorkerError
from benchmarks.ratios.works import WORKS
from lqm.engine.probes import Trial


@pytest.fixture
def bench(monkeypatch, tmp_path, capsys):
    """Runs the command with these seconds of the plain way where ours takes one; gives exit code and text."""
    monkeypatch.setattr(baseline, "PATH", tmp_path / "baseline.json")
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setattr(image_steps, "try_bf16", lambda device: Trial())

    def run(plain, **options):
        def compare(name, work, *, processor):
            if plain is None:
                raise WorkerError("it ended")
            return Comparison(work, [plain] * 3, [1.0] * 3)

        monkeypatch.setattr(command, "compare", compare)
        with pytest.raises(SystemExit) as ended:
            command.main(**options)
        return ended.value.code, "".join(capsys.readouterr())

    return run


def stored():
    return json.loads(baseline.PATH.read_text())["ratios"]


def test_one_work_can_be_run_alone(bench):
    code, text = bench(3.0, only=("dm",))
    assert code == 0
    assert "DM + LQM step" in text
    assert "IDM" not in text


def test_a_name_that_is_not_known_is_said_with_the_known_ones(bench):
    code, _ = bench(3.0, only=("dn",))
    assert "'dn'" in code
    assert "did you mean 'dm'?" in code


def test_a_missed_limit_gives_exit_code_1(bench):
    code, text = bench(1.9, only=("dm",))
    assert code == 1
    assert "MISSED" in text


def test_a_loss_of_more_than_15_percent_gives_exit_code_1_until_it_is_stored(bench):
    assert bench(4.0, only=("dm",), store=True)[0] == 0
    assert bench(3.5, only=("dm",))[0] == 0
    code, text = bench(3.3, only=("dm",))
    assert code == 1
    assert "4.00 SLOWER NOW" in text
    assert bench(3.3, only=("dm",), store=True)[0] == 0
    assert bench(3.3, only=("dm",))[0] == 0


def test_storing_one_work_keeps_the_others_and_storing_all_keeps_nothing_else(bench):
    bench(4.0, store=True)
    assert set(stored()) == {work.title for work in WORKS.values()}
    bench(3.0, only=("dm",), store=True)
    assert set(stored().values()) == {3.0, 4.0}
    baseline.write(baseline.read(baseline.PATH).renewed(baseline.here(), {"gone": 1.0}), baseline.PATH)
    bench(4.0, store=True)
    assert "gone" not in stored()


def test_ratios_from_elsewhere_are_said_to_be(bench):
    place = baseline.here() | {"threads": 99}
    baseline.write(baseline.Baseline(place, {}), baseline.PATH)
    assert "from elsewhere" in bench(3.0, only=("dm",))[1]
    assert "99 threads" in bench(3.0, only=("dm",))[1]


def test_a_worker_that_dies_leaves_the_other_works_and_gives_exit_code_1(bench):
    code, text = bench(None, only=("dm", "idm"))
    assert code == 1
    assert "dm: it ended" in text
    assert "idm: it ended" in text


def test_a_work_that_is_not_for_this_machine_is_skipped_with_the_reason(bench, monkeypatch):
    assert "in bf16" in bench(4.0, only=("dm-bf16",))[1]
    monkeypatch.setattr(image_steps, "try_bf16", lambda device: Trial(slower="bf16 is slower here"))
    code, text = bench(1.0, only=("dm-bf16",))
    assert code == 0
    assert "dm-bf16 was skipped: bf16 is slower here" in text
    assert "in bf16" not in text


def test_no_two_works_have_one_title():
    assert len({work.title for work in WORKS.values()}) == len(WORKS)


def test_processor_seconds_are_those_of_one_thread_and_are_not_stored(bench, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    code, text = bench(3.0, only=("dm",), processor=True)
    assert code == 0
    assert "medians of processor seconds" in text
    assert "OMP_NUM_THREADS=1" in bench(3.0, only=("dm",), processor=True, store=True)[0]
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert "OMP_NUM_THREADS=1" in bench(3.0, only=("dm",), processor=True)[0]

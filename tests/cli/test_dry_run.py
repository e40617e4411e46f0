"""`--dry-run` of every command that works for long: what it would do, what it takes, and nothing is made."""

import re
import time

import pytest

import lqm
from lqm.api import costs, dry_run
from lqm.api.costs import Cost
from lqm.graphs.evaluation import PROTOCOLS as GRAPH_PROTOCOLS
from lqm.images.evaluation import PROTOCOLS
from lqm.tabular.evaluation import PROTOCOLS as TABLE_PROTOCOLS

MTT = ("network=convnet:width=4:depth=2", "steps=3", "student_steps=1", "zca=false", "real_batch=256")


def files_in(folder):
    """Every file with its size and when it was written."""
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


@pytest.fixture
def dry(type_in, tmp_path, monkeypatch):
    """Runs a command with --dry-run in an empty folder, which must stay as it is; gives what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(costs, "_ENOUGH", 0.0)

    def run(*words):
        before = files_in(tmp_path)
        code, printed, error = type_in(*words, "--dry-run")
        assert code == 0, error
        assert files_in(tmp_path) == before
        assert "; nothing was made" in printed
        return printed

    return run


def test_the_time_of_loading_the_program_counts_where_it_was_loaded(dry, monkeypatch):
    words = ("condense", "digits", "--method", "random", "--per-class", 1, "--out", "r")
    assert re.search(r"about [\d.]+ s,", dry(*words)), "it was loaded before this command"
    monkeypatch.setattr(dry_run, "LOADED_AT", time.monotonic() + 3600)
    assert re.search(r"about 6[01] min,", dry(*words))


def test_a_sketch(dry):
    printed = dry("sketch", "digits", "--encoders", 50, "--max-per-class", 1, "--real-batch", 8, "--out", "s")
    assert "1,442 images to learn from" in printed
    assert "50 encoders, in s" in printed
    assert "on the disk" in printed


def test_a_bank_of_experts(dry):
    words = ("--networks", 3, "--epochs", 2, "--network", "convnet:width=4:depth=2", "--out", "e")
    printed = dry("experts", "digits", *words)
    assert "3 networks with 3 snapshots each, in e" in printed
    assert "network=convnet:width=4:depth=2" in printed


def test_a_method_that_trains_its_own_experts(dry):
    words = [word for each in MTT for word in ("--set", each)]
    printed = dry("condense", "digits", "--method", "mtt", "--per-class", 1, *words, "--out", "m")
    assert "mtt: 10 records of 10 classes after 3 steps, in m" in printed


def test_experts_whose_rate_falls_along_their_epochs(dry):
    words = ("--set", "network=convnet:width=4:depth=2", "--set", "steps=2", "--set", "pairs=1", "--out", "m")
    printed = dry("condense", "digits", "--method", "dance", "--per-class", 1, *words)
    assert "dance + lqm: 10 records of 10 classes after 2 steps, in m" in printed


class Steps:
    """A method whose steps take the time of a clock: every tenth waits for another process."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(costs.time, "monotonic", lambda: self.now)

    def step(self, number):
        self.now += 5.0 if number == 0 else 0.4 if number % 10 == 9 else 0.01


def test_steps_that_wait_for_other_processes_count(monkeypatch):
    work = Steps(monkeypatch)
    for number in range(300):
        work.step(number)
    forecast = costs._seconds_of_steps(Steps(monkeypatch), 300)
    assert forecast == pytest.approx(work.now, rel=0.3)


def test_steps_are_measured_for_seconds_and_no_longer(monkeypatch):
    work = Steps(monkeypatch)
    costs._seconds_of_steps(work, 10**6)
    assert 2.0 < work.now < 8.0


def test_a_stream(dry):
    words = ("--budget", 4, "--repeats", 2, "--set", "steps=20", "--set", "epochs=20", "--out", "c")
    printed = dry("continual", "digits-knn", *words)
    assert "2 repeats of a stream of 5 tasks, in c" in printed
    assert "nodes" in printed.splitlines()[0]


def test_a_stream_says_what_the_run_says(dry, type_in):
    words = (
        "continual",
        "digits-knn",
        "--budget",
        4,
        "--repeats",
        1,
        "--set",
        "steps=2",
        "--set",
        "epochs=2",
    )
    printed = dry(*words, "--out", "c")
    assert "1 repeat of a stream" in printed
    _, _, log = type_in(*words, "--out", "c")
    told = [line.removeprefix("lqm: ") for line in log.splitlines() if line.startswith("lqm: ")]
    assert len(told) == 3
    assert "pseudo_threshold" not in told[-1]
    assert printed.splitlines()[1:4] == told


@pytest.mark.parametrize(
    ("source", "budget", "protocols", "sizes"),
    [
        ("digits", {"per_class": 1}, PROTOCOLS, "1,442 images to learn from and 355 to test, 1 x 8 x 8"),
        ("digits-knn", {"budget": 10}, GRAPH_PROTOCOLS, "1,797 nodes"),
        (
            "breast-cancer",
            {"per_class": 1},
            TABLE_PROTOCOLS,
            "456 rows to learn from and 113 to test, 30",
        ),
    ],
)
def test_an_evaluation(dry, tmp_path, source, budget, protocols, sizes):
    lqm.condense(source, method="random", out=tmp_path / "set", show_progress=False, **budget)
    name = next(iter(protocols))
    printed = dry("evaluate", "set", "--protocol", name, "--baselines", "none", "--repeats", 1)
    assert sizes in printed
    assert f"protocol {name}" in printed
    assert "scores in the manifest of set" in printed


@pytest.mark.parametrize("json", [False, True])
def test_above_an_hour_a_warning_says_what_makes_it_shorter(type_in, tmp_path, monkeypatch, json):
    monkeypatch.setattr(dry_run, "cost_of_bank", lambda request, scratch: Cost(7201.0, 2**20, 2**20))
    words = ("sketch", "digits", "--out", tmp_path / "s", "--dry-run", *["--json"] * json)
    code, printed, error = type_in(*words)
    assert code == 0
    warning = "warning: this takes about 2 h; fewer --encoders"
    assert error.startswith(f"lqm: {warning}")
    assert (warning in printed) == json


@pytest.mark.parametrize("seconds", [0.002, 0.02])
def test_a_training_is_reckoned_from_shorter_ones(monkeypatch, seconds):
    """The first epoch of all takes a second more; an hour of trainings must not follow from it."""
    now, trained = [0.0], [0]

    def train(epochs):
        now[0] += epochs * seconds + 0.01 + (6.0 if not trained[0] else 0.0)
        trained[0] += epochs

    monkeypatch.setattr(costs.time, "monotonic", lambda: now[0])
    assert costs._training_seconds(train, 1000) == pytest.approx(1000 * seconds + 0.01, rel=0.05)
    assert trained[0] <= 1000

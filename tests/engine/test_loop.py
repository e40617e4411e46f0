import fcntl
import json
import math
import os
import re
import signal
import threading
import time

import pytest
import torch

from lqm.engine import RunFolder, run, stopping
from lqm.engine import progress as progress_module
from lqm.engine.loop import PeriodicEvaluation
from lqm.engine.progress import Pace
from lqm.engine.run import in_use
from lqm.utils.errors import ArtifactError, ConfigError, DivergedError, StoppedError

ENVIRONMENT = {"torch": "x", "threads": 2}


class Counter:
    """A method that adds up numbers drawn from the step, and can be told to misbehave."""

    def __init__(self, at=None, action=None):
        self.total = torch.zeros(2)
        self.at, self.action, self.steps = at, action, []

    def step(self, i):
        self.steps.append(i)
        self.total += torch.rand(2, generator=torch.Generator().manual_seed(i))
        loss = float(i)
        if i == self.at:
            loss = self.action(self) or loss
        return {"loss": loss}

    def state(self):
        return {"total": self.total}

    def load_state(self, state):
        self.total = state["total"].clone()

    def result(self):
        raise NotImplementedError


def folder(path, **config):
    return RunFolder(path / "run", {"seed": 0, **config}, ENVIRONMENT)


def metrics(path):
    return [json.loads(line) for line in (path / "run" / "metrics.jsonl").read_text().splitlines()]


def run_quietly(method, steps, where, seconds=1000.0):
    return run(method, steps, where, checkpoint_seconds=seconds, show_progress=False)


def test_a_run_without_a_folder_needs_none():
    method = Counter()
    run_quietly(method, 5, None)
    assert method.steps == [0, 1, 2, 3, 4]


def test_metrics_are_one_json_object_a_line(tmp_path):
    with folder(tmp_path) as where:
        run_quietly(Counter(), 4, where)
    lines = metrics(tmp_path)
    assert [(line["step"], line["loss"]) for line in lines] == [(i, float(i)) for i in range(4)]
    assert all(line.keys() == {"step", "loss", "seconds", "checksum"} for line in lines)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_stops_and_the_next_run_goes_on_bit_for_bit(tmp_path, number):
    straight = Counter()
    run_quietly(straight, 10, None)
    with folder(tmp_path) as where, pytest.raises(StoppedError, match="step 4 of 10") as stopped:
        run_quietly(Counter(at=3, action=lambda _: os.kill(os.getpid(), number)), 10, where)
    assert stopped.value.signal_number == number
    resumed = Counter()
    with folder(tmp_path) as where:
        total = run_quietly(resumed, 10, where)
    assert resumed.steps == list(range(4, 10))
    assert total == pytest.approx(sum(line["seconds"] for line in metrics(tmp_path)), abs=1e-4)
    assert resumed.total.equal(straight.total)
    assert [line["step"] for line in metrics(tmp_path)] == list(range(10))


def test_handlers_are_as_before_after_a_run(tmp_path):
    before = signal.getsignal(signal.SIGINT)
    with folder(tmp_path) as where:
        run_quietly(Counter(), 2, where)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.fixture
def interruptible():
    """Ctrl-C as a terminal has it; what a shell runs in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_second_signal_acts_at_once(tmp_path, interruptible):
    def twice(_):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with folder(tmp_path) as where, pytest.raises(KeyboardInterrupt):
        run_quietly(Counter(at=3, action=twice), 10, where)


def test_a_longer_run_goes_on_from_a_finished_one(tmp_path):
    straight = Counter()
    run_quietly(straight, 9, None)
    for steps in (4, 9):
        method = Counter()
        with folder(tmp_path) as where:
            run_quietly(method, steps, where)
    assert method.steps == [4, 5, 6, 7, 8]
    assert method.total.equal(straight.total)


def test_a_shorter_run_than_the_one_made_is_refused(tmp_path):
    with folder(tmp_path) as where:
        run_quietly(Counter(), 5, where)
    with folder(tmp_path) as where, pytest.raises(ConfigError, match=r"5 steps.*3"):
        run_quietly(Counter(), 3, where)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_divergence_names_what_where_and_the_last_good_checkpoint(tmp_path, value):
    with folder(tmp_path) as where, pytest.raises(DivergedError) as diverged:
        run_quietly(Counter(at=3, action=lambda _: value), 10, where, seconds=0)
    message = str(diverged.value)
    assert re.search(rf"loss.*{value}.*step 4 of 10", message)
    assert "step-000000003." in message


def test_a_state_that_is_not_finite_is_never_saved(tmp_path):
    def spoil(method):
        method.total[0] = math.nan

    with folder(tmp_path) as where, pytest.raises(DivergedError, match=r"total.*finite.*step 4"):
        run_quietly(Counter(at=3, action=spoil), 10, where, seconds=0)
    with folder(tmp_path) as where:
        assert where.restore().step == 3


def test_divergence_before_the_first_checkpoint_says_so(tmp_path):
    with folder(tmp_path) as where, pytest.raises(DivergedError, match="no checkpoint"):
        run_quietly(Counter(at=0, action=lambda _: math.nan), 10, where)


def test_another_configuration_is_refused_by_the_name_of_the_field(tmp_path):
    with folder(tmp_path, settings={"learning_rate": 1.0}):
        pass
    other = folder(tmp_path, settings={"learning_rate": 2.0})
    with pytest.raises(ConfigError, match=r"settings\.learning_rate.*1\.0.*2\.0"), other:
        pass


def test_another_environment_is_said_and_accepted(tmp_path, capsys):
    with folder(tmp_path):
        pass
    for _ in range(2):
        capsys.readouterr()
        with RunFolder(tmp_path / "run", {"seed": 0}, ENVIRONMENT | {"threads": 1}):
            pass
    assert re.search(r"threads.*2.*1", capsys.readouterr().err)


def test_a_second_user_of_a_folder_is_refused(tmp_path):
    with folder(tmp_path), pytest.raises(ArtifactError, match="in use"), folder(tmp_path):
        pass


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("x")
    with pytest.raises(ArtifactError, match="choose an empty or new folder"), folder(tmp_path):
        pass
    (tmp_path / "file").write_text("x")
    with (
        pytest.raises(ArtifactError, match=r"file.*folder"),
        RunFolder(tmp_path / "file", {}, {}),
    ):
        pass


def test_a_damaged_record_is_refused(tmp_path):
    with folder(tmp_path):
        pass
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(ArtifactError, match=r"run\.json.*delete.*choose another folder"), folder(tmp_path):
        pass


def test_every_damage_to_the_newest_checkpoint_falls_back_to_the_one_before(tmp_path, capsys):
    with folder(tmp_path) as where:
        run_quietly(Counter(), 3, where, seconds=0)
    checkpoints = tmp_path / "run" / "checkpoints"
    newest = max(checkpoints.iterdir())
    content = newest.read_bytes()
    damages = [content[:length] for length in range(0, len(content), 7)]
    damages += [content[:i] + bytes([content[i] ^ 0x20]) + content[i + 1 :] for i in range(len(content))]
    for damaged in damages:
        newest.write_bytes(damaged)
        with folder(tmp_path) as where:
            assert where.restore().step == 2
    assert newest.name in capsys.readouterr().err


def test_new_checkpoints_are_kept_though_later_ones_are_damaged(tmp_path):
    with folder(tmp_path) as where:
        run_quietly(Counter(), 8, where, seconds=0)
    for damaged in (tmp_path / "run" / "checkpoints").iterdir():
        damaged.write_bytes(b"spoiled")
    stop = Counter(at=2, action=lambda _: os.kill(os.getpid(), signal.SIGTERM))
    with folder(tmp_path) as where, pytest.raises(StoppedError):
        run_quietly(stop, 8, where)
    with folder(tmp_path) as where:
        assert where.restore().step == 3


def test_a_stop_asked_for_at_the_last_step_is_not_forgotten(tmp_path):
    last = Counter(at=4, action=lambda _: os.kill(os.getpid(), signal.SIGINT))
    with folder(tmp_path) as where, pytest.raises(StoppedError, match="step 5 of 5"):
        run_quietly(last, 5, where)


def test_what_a_run_killed_at_once_has_left_is_no_hindrance(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".run.json.17.tmp").write_bytes(b"half")
    with folder(tmp_path) as where:
        run_quietly(Counter(), 2, where)
    assert not list((tmp_path / "run").glob(".*.tmp"))


@pytest.mark.parametrize("garbage", ['{"step": 3, "lo', "\xff\xfe\n", "7\n", '{"loss": 1}\n'])
def test_a_spoiled_line_of_metrics_is_forgotten(tmp_path, garbage):
    with folder(tmp_path) as where:
        run_quietly(Counter(), 3, where)
        with (tmp_path / "run" / "metrics.jsonl").open("ab") as file:
            file.write(garbage.encode("latin-1"))
        run_quietly(Counter(), 5, where)
    assert [line["step"] for line in metrics(tmp_path)] == [0, 1, 2, 3, 4]


def test_only_two_checkpoints_are_kept(tmp_path):
    with folder(tmp_path) as where:
        run_quietly(Counter(), 8, where, seconds=0)
    assert len(list((tmp_path / "run" / "checkpoints").iterdir())) == 2


def test_progress_is_plain_lines_when_not_a_terminal(capsys):
    run(Counter(), 3, None, name="count")
    error = capsys.readouterr().err
    assert "count: 3/3" in error
    assert "/s" in error
    assert "left" in error
    assert "loss 2" in error
    assert "\x1b" not in error


class Judging:
    """Judges a counter by its first number; does something else at the n-th time."""

    def __init__(self, method, every, at=None, action=None):
        self.method, self.every, self.at, self.action, self.count = method, every, at, action, 0

    def find(self):
        self.count += 1
        if self.count == self.at:
            self.action()
        return {"accuracy": self.method.total[0].item() / 100, "deviation": 0.01, "protocol": "tiny"}


def judged_run(path, steps=10, every=4, *, method=None, at=None, action=None, seconds=1000.0):
    method = method or Counter()
    judging = Judging(method, every, at, action)
    with folder(path) as where:
        total = run(
            method,
            steps,
            where,
            checkpoint_seconds=seconds,
            show_progress=False,
            evaluation=PeriodicEvaluation(judging.find, every),
        )
    return method, judging, total


def evaluations(path):
    file = path / "run" / "evaluations.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def straight(tmp_path_factory):
    path = tmp_path_factory.mktemp("straight")
    judged_run(path)
    return evaluations(path)


def test_a_run_is_judged_after_every_so_many_steps_and_the_last_one(straight, tmp_path):
    assert [line["step"] for line in straight] == [4, 8, 10]
    assert straight[0] == {
        "step": 4,
        "accuracy": straight[0]["accuracy"],
        "deviation": 0.01,
        "protocol": "tiny",
        "checksum": straight[0]["checksum"],
    }
    counter = Counter()
    run_quietly(counter, 4, None)
    assert straight[0]["accuracy"] == counter.total[0].item() / 100, "judged as it was after four steps"
    judged_run(tmp_path, every=5)
    assert [line["step"] for line in evaluations(tmp_path)] == [5, 10], "the last one is not judged twice"


def test_judging_counts_neither_in_the_seconds_of_a_run_nor_in_those_of_a_step(tmp_path):
    *_, total = judged_run(tmp_path, every=5, at=1, action=lambda: time.sleep(0.3))
    assert total < 0.2
    assert max(line["seconds"] for line in metrics(tmp_path)) < 0.2


class KilledError(Exception):
    """Stands for a kill: nothing is tidied up after it."""


def kill():
    raise KilledError


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_run_killed_while_it_is_judged_makes_up_for_it_first(tmp_path, straight, at):
    with pytest.raises(KilledError):
        judged_run(tmp_path, at=at, action=kill)
    assert evaluations(tmp_path) == straight[: at - 1]
    resumed, judging, _ = judged_run(tmp_path)
    assert evaluations(tmp_path) == straight, "every line once, as in a run that was not killed"
    assert judging.count == 4 - at
    assert resumed.steps == list(range(min(4 * at, 10), 10)), "the step was saved before it was judged"


def test_evaluations_beyond_the_checkpoint_and_torn_ones_are_forgotten(tmp_path, straight):
    with pytest.raises(KilledError):
        judged_run(tmp_path, at=3, action=kill)
    newest = max((tmp_path / "run" / "checkpoints").iterdir())
    newest.unlink()
    with (tmp_path / "run" / "evaluations.jsonl").open("a") as file:
        file.write(json.dumps({"step": 9, "accuracy": 1.0}) + '\n{"step": 10, "accu')
    judged_run(tmp_path)
    assert evaluations(tmp_path) == straight


def test_a_run_may_go_on_with_and_without_being_judged(tmp_path, straight):
    def stop(_):
        os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(StoppedError, match="step 6 of 10"):
        judged_run(tmp_path, method=Counter(at=5, action=stop))
    with folder(tmp_path) as where, pytest.raises(StoppedError, match="step 8 of 10"):
        run_quietly(Counter(at=7, action=stop), 10, where)
    assert evaluations(tmp_path) == straight[:1]
    judged_run(tmp_path)
    assert evaluations(tmp_path) == straight, "step 8 is where it goes on, so that is judged too"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("at", [1, 3])
def test_a_signal_stops_an_evaluation_at_once_and_it_is_made_up_for(tmp_path, straight, number, at):
    def stop():
        os.kill(os.getpid(), number)
        time.sleep(30)

    began = time.monotonic()
    with pytest.raises(StoppedError, match=f"step {4 if at == 1 else 10} of 10") as stopped:
        judged_run(tmp_path, at=at, action=stop)
    assert time.monotonic() - began < 10
    assert stopped.value.signal_number == number
    judged_run(tmp_path)
    assert evaluations(tmp_path) == straight


def test_a_stop_asked_for_in_a_step_does_not_wait_for_its_evaluation(tmp_path, straight):
    stopping = Counter(at=3, action=lambda _: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(StoppedError, match="step 4 of 10"):
        judged_run(tmp_path, method=stopping, at=1, action=lambda: pytest.fail("it was judged"))
    judged_run(tmp_path)
    assert evaluations(tmp_path) == straight


def test_without_a_folder_ctrl_c_in_an_evaluation_is_a_plain_one(interruptible):
    method = Counter()
    judging = Judging(method, 2, at=1, action=lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        run(method, 4, None, show_progress=False, evaluation=PeriodicEvaluation(judging.find, 2))


def test_an_evaluation_is_a_plain_line_when_not_a_terminal(capsys):
    method = Counter()
    run(method, 3, None, name="count", evaluation=PeriodicEvaluation(Judging(method, 2).find, 2))
    lines = capsys.readouterr().err.splitlines()
    assert re.match(r"count: .*tiny: \d\.\d % ± 1\.0 at step 2$", lines[0])
    assert re.match(r"count: .*tiny: \d\.\d % ± 1\.0 at step 3", lines[-1])
    assert "\x1b" not in "".join(lines)


def test_the_pace_of_steps_leaves_pauses_out_and_the_time_left_counts_those_to_come(monkeypatch):
    now = 0.0
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now)
    pace = Pace(100)
    for done, at in ((1, 5.0), (6, 6.0), (11, 7.0)):
        now = at
        pace.update(done)
    assert pace.rate == 5.0, "the first step may have compiled and does not count"
    assert pace.left.total_seconds() == round(89 / 5)
    pace.pause()
    now += 60
    pace.go_on(3)
    now += 1
    pace.update(16)
    assert pace.rate == 5.0
    assert pace.left.total_seconds() == round(84 / 5 + 3 * 60)
    assert pace.elapsed.total_seconds() == 68


def test_a_lock_is_waited_for_as_long_as_a_look_at_it_takes(tmp_path):
    with folder(tmp_path):
        pass
    looking = os.open(tmp_path / "run" / ".lock", os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    threading.Timer(0.1, os.close, (looking,)).start()
    with folder(tmp_path) as where:
        assert in_use(where.path)


def test_whether_a_folder_is_in_use_is_seen_without_touching_it(tmp_path):
    path = tmp_path / "run"
    path.mkdir()
    assert not in_use(path)
    assert not list(path.iterdir()), "no lock is made by looking"
    with folder(tmp_path):
        assert in_use(path)
        assert in_use(path)
    assert not in_use(path)
    with folder(tmp_path):
        pass


def test_the_steps_that_are_asked_for_are_noted_and_may_change(tmp_path):
    record = tmp_path / "run" / "run.json"
    for steps in (5, 9, None):
        with RunFolder(tmp_path / "run", {"seed": 0}, ENVIRONMENT | {"threads": steps or 1}, steps=steps):
            pass
        stored = json.loads(record.read_text())
        assert stored["steps"] == steps or steps is None
        assert stored["environment"]["threads"] == 5, "what the run began with stays"
    assert json.loads(record.read_text())["steps"] == 9


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_long_step_is_left_in_the_middle_and_made_again_bit_for_bit(tmp_path, monkeypatch, number):
    monkeypatch.setattr(stopping, "GRACE_SECONDS", 0.2)
    straight = Counter()
    run_quietly(straight, 10, None)

    def endless(_):
        os.kill(os.getpid(), number)
        while True:
            sum(range(1000))

    began = time.monotonic()
    with folder(tmp_path) as where, pytest.raises(StoppedError, match=r"step 4 .*of 10") as stopped:
        run_quietly(Counter(at=3, action=endless), 10, where, seconds=0.0)
    assert stopped.value.signal_number == number
    assert time.monotonic() - began < 5
    resumed = Counter()
    with folder(tmp_path) as where:
        run_quietly(resumed, 10, where)
    assert resumed.steps == list(range(3, 10))
    assert resumed.total.equal(straight.total)
    assert [line["step"] for line in metrics(tmp_path)] == list(range(10))

import json
import math
import os
import signal

import pytest
import torch

from lqm.engine import RunFolder, run
from lqm.errors import ArtifactError, ConfigError, DivergedError, StoppedError

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
    assert all(line.keys() == {"step", "loss", "seconds"} for line in lines)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_stops_and_the_next_run_goes_on_bit_for_bit(tmp_path, number):
    straight = Counter()
    run_quietly(straight, 10, None)
    with folder(tmp_path) as where, pytest.raises(StoppedError, match="after step 4 of 10") as stopped:
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
    with folder(tmp_path) as where, pytest.raises(ConfigError, match="has made 5 steps already, more than 3"):
        run_quietly(Counter(), 3, where)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_divergence_names_what_where_and_the_last_good_checkpoint(tmp_path, value):
    with folder(tmp_path) as where, pytest.raises(DivergedError) as diverged:
        run_quietly(Counter(at=3, action=lambda _: value), 10, where, seconds=0)
    message = str(diverged.value)
    assert f"loss became {value} at step 4 of 10" in message
    assert "the last good checkpoint is" in message
    assert "step-000000003." in message


def test_a_state_that_is_not_finite_is_never_saved(tmp_path):
    def spoil(method):
        method.total[0] = math.nan

    with folder(tmp_path) as where, pytest.raises(DivergedError, match="total is no longer finite at step 4"):
        run_quietly(Counter(at=3, action=spoil), 10, where, seconds=0)
    with folder(tmp_path) as where:
        assert where.restore().step == 3


def test_divergence_before_the_first_checkpoint_says_so(tmp_path):
    with folder(tmp_path) as where, pytest.raises(DivergedError, match="there is no checkpoint yet"):
        run_quietly(Counter(at=0, action=lambda _: math.nan), 10, where)


def test_another_configuration_is_refused_by_the_name_of_the_field(tmp_path):
    with folder(tmp_path, settings={"learning_rate": 1.0}):
        pass
    other = folder(tmp_path, settings={"learning_rate": 2.0})
    with pytest.raises(ConfigError, match=r"a run with settings\.learning_rate = 1\.0, not 2\.0"), other:
        pass


def test_another_environment_is_said_and_accepted(tmp_path, capsys):
    with folder(tmp_path):
        pass
    for _ in range(2):
        capsys.readouterr()
        with RunFolder(tmp_path / "run", {"seed": 0}, ENVIRONMENT | {"threads": 1}):
            pass
    assert "threads was 2 when this run began and is 1 now" in capsys.readouterr().err


def test_a_second_user_of_a_folder_is_refused(tmp_path):
    with folder(tmp_path), pytest.raises(ArtifactError, match="in use by another process"), folder(tmp_path):
        pass


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("x")
    with pytest.raises(ArtifactError, match="files that are not a run's"), folder(tmp_path):
        pass
    (tmp_path / "file").write_text("x")
    with (
        pytest.raises(ArtifactError, match="can't be used as a folder"),
        RunFolder(tmp_path / "file", {}, {}),
    ):
        pass


def test_a_damaged_record_is_refused(tmp_path):
    with folder(tmp_path):
        pass
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(ArtifactError, match=r"run\.json is damaged"), folder(tmp_path):
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
    assert "is damaged" in capsys.readouterr().err


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
    with folder(tmp_path) as where, pytest.raises(StoppedError, match="after step 5 of 5"):
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

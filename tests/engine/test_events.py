import os
import signal
import sys

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from lqm.engine import RunFolder, run
from lqm.engine.events import require_tensorboard
from lqm.engine.loop import PeriodicEvaluation
from lqm.utils.errors import ConfigError, StoppedError

STEPS, EVERY = 12, 5


class Fall:
    """A method whose loss falls; does something else at one step."""

    def __init__(self, at=None, action=None):
        self.at, self.action = at, action

    def step(self, i):
        if i == self.at:
            self.action()
        return {"loss": 1 / (i + 1)}

    def state(self):
        return {}

    def load_state(self, state):
        pass


class KilledError(Exception):
    pass


def kill():
    raise KilledError


def fall(path, *, judge_at=None, seconds=1000.0, tensorboard=True, **method):
    calls = []

    def find():
        calls.append(1)
        if len(calls) == judge_at:
            kill()
        return {"accuracy": 0.5, "deviation": 0.1, "accuracies": [0.4, 0.6], "protocol": "tiny"}

    with RunFolder(path, {}, {}) as folder:
        run(
            Fall(**method),
            STEPS,
            folder,
            show_progress=False,
            checkpoint_seconds=seconds,
            evaluation=PeriodicEvaluation(find, EVERY),
            tensorboard=tensorboard,
        )


def events(path, tag):
    read = EventAccumulator(str(path / "tensorboard")).Reload()
    return [(event.step, event.value) for event in read.Scalars(tag)]


def require_all(path):
    """Every step once, with the values of the JSON lines."""
    loss = events(path, "loss")
    assert [step for step, _ in loss] == list(range(STEPS))
    assert [value for _, value in loss] == pytest.approx([1 / (i + 1) for i in range(STEPS)])
    assert events(path, "evaluation/accuracy") == [(5, 0.5), (10, 0.5), (12, 0.5)]
    assert [step for step, _ in events(path, "seconds")] == list(range(STEPS))


def test_every_metric_and_every_evaluation_is_an_event(tmp_path):
    fall(tmp_path / "run")
    require_all(tmp_path / "run")


@pytest.mark.parametrize(
    "end",
    [
        {"at": 6, "action": lambda: os.kill(os.getpid(), signal.SIGTERM)},
        {"at": 9, "action": lambda: os.kill(os.getpid(), signal.SIGTERM)},
        {"at": 6, "action": kill},
        {"at": 7, "action": kill, "seconds": 0.0},
        {"judge_at": 1},
        {"judge_at": 2},
        {"judge_at": 3},
    ],
    ids=[
        "stopped",
        "stopped at an evaluation",
        "killed",
        "killed, all saved",
        *("judged 1", "judged 2", "end"),
    ],
)
def test_a_run_that_was_stopped_or_killed_has_every_step_once(tmp_path, end):
    with pytest.raises((StoppedError, KilledError)):
        fall(tmp_path / "run", **end)
    fall(tmp_path / "run")
    require_all(tmp_path / "run")


def test_an_evaluation_whose_line_was_not_written_any_more_is_one_event(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "log_evaluation", lambda *_: kill())
        with pytest.raises(KilledError):
            fall(tmp_path / "run")
    assert events(tmp_path / "run", "evaluation/accuracy") == [(5, 0.5)]
    fall(tmp_path / "run")
    require_all(tmp_path / "run")


def test_there_are_no_event_files_unless_asked_for(tmp_path):
    fall(tmp_path / "run", tensorboard=False)
    assert not (tmp_path / "run" / "tensorboard").exists()


def test_a_missing_package_is_one_sentence_that_says_how_to_get_it(monkeypatch):
    require_tensorboard()
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ConfigError, match=r"pip install 'lqm\[tensorboard\]'"):
        require_tensorboard()

import io
import math
import os
import pty
import re
import sys
import time

import pytest
from rich.console import Console

from lqm.engine.panel import Course, Panel, follow
from lqm.engine.progress import Progress
from lqm.utils.log import warn

BACK = "\x1b[?25h"  # what a terminal is sent to show its cursor again
FOUND = {"accuracy": 0.958, "deviation": 0.017, "protocol": "quick-200"}


def drawn(width, *, before=(), evaluate=True, colour="truecolor"):
    """What a run shows after 200 of 300 steps, in a terminal of that width."""
    console = Console(force_terminal=True, width=width, file=io.StringIO(), color_system=colour)
    with Panel("dm + lqm", 300, 0, console, before) as panel:
        for i in range(200):
            panel.update(i + 1, {"loss": math.exp(-i / 40) + 0.3, "accuracy": 0.25})
        if evaluate:
            panel.evaluating(200)
            panel.evaluated([*before, {"step": 200, **FOUND}], 1)
        with console.capture() as capture:
            console.print(panel.drawn())
    return capture.get()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_panel_says_all_there_is_to_say_of_a_run(width):
    text = drawn(width, colour=None)
    for part in (
        "dm + lqm",
        "200 of 300, 67 %",
        "/s",
        "left",
        "loss",
        "0.3069",
        "accuracy",
        "0.25",
        "95.8 % ± 1.7 at step 200",
    ):
        assert part in text
    assert re.search(r"memory +[\d.]+ [MG]B", text)
    assert {len(line) for line in text.splitlines()} == {min(width, 80)}, "no line is torn"
    (loss,) = (line for line in text.splitlines() if "loss" in line)
    assert "█▇" in loss or width == 40
    assert "█" in text
    assert "▁" in text


@pytest.mark.parametrize("width", [1, 5, 12, 20])
def test_a_terminal_that_is_far_too_narrow_is_no_error(width):
    assert max(len(line) for line in drawn(width, colour=None).splitlines()) <= width


def test_there_is_no_colour_where_none_is_wanted(monkeypatch):
    assert "\x1b[36m" in drawn(80)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[36m" not in drawn(80)


def test_what_was_evaluated_before_is_shown_and_nothing_where_nothing_was():
    assert "evaluated" not in drawn(80, evaluate=False)
    assert "95.8 % ± 1.7 at step 100" in drawn(80, evaluate=False, before=[{"step": 100, **FOUND}])


def test_the_best_so_far_is_told_apart_from_the_last():
    better = {**FOUND, "step": 100, "accuracy": 0.97}
    text = drawn(80, before=[better])
    assert "95.8 % ± 1.7 at step 200; best so far 97.0 % at step 100" in text
    assert "best so far" not in drawn(80)


def test_an_evaluation_that_goes_on_is_shown():
    console = Console(force_terminal=True, width=80, file=io.StringIO(), color_system=None)
    with Panel("dm", 10, 0, console, ()) as panel:
        panel.evaluating(5)
        with console.capture() as capture:
            console.print(panel.drawn())
    assert "evaluating  at step 5 ..." in capture.get()


def test_following_a_step_costs_next_to_nothing():
    console = Console(force_terminal=True, width=80, file=io.StringIO())
    costs = []
    with Panel("cat", 10_000, 0, console, ()) as panel:
        for i in range(2000):
            began = time.perf_counter()
            panel.update(i + 1, {"loss": 1.0 / (i + 1), "accuracy": 0.5})
            costs.append(time.perf_counter() - began)
    assert sorted(costs)[1000] < 0.01 * 0.015, "a hundredth of a step of 15 ms"


def test_a_course_is_drawn_over_all_of_its_time_however_long():
    course = Course()
    assert course.drawn(10) == ""
    for value in range(10_000):
        course.add(float(value))
    assert course.drawn(8) == "▁▂▃▄▅▆▇█"
    assert list(course.drawn(30)) == sorted(course.drawn(30))
    assert len(course.drawn(30)) == 30
    flat = Course()
    for _ in range(5):
        flat.add(1.0)
    assert flat.drawn(10) == ""


def test_there_is_no_panel_where_there_is_no_terminal_or_a_dumb_one(monkeypatch):
    assert isinstance(follow("dm", 3), Progress)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert isinstance(follow("dm", 3), Panel)
    assert isinstance(follow("dm", 3, shown=False), Progress)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(follow("dm", 3), Progress)


def test_at_a_terminal_a_warning_stands_above_the_panel_and_output_goes_where_it_was_sent(
    monkeypatch, capsys
):
    reader, writer = pty.openpty()
    for name, value in {"TERM": "xterm", "COLUMNS": "60", "LINES": "30"}.items():
        monkeypatch.setenv(name, value)
    with os.fdopen(writer, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with follow("walk", 8) as panel:
            panel.update(5, {"loss": 1.5})
            warn("the panel is drawn below this")
            warn("mind the step")
            print("for the pipe")
        terminal.flush()
        read = b""
        while BACK.encode() not in read:
            read += os.read(reader, 100_000)
    os.close(reader)
    assert capsys.readouterr().out == "for the pipe\n"
    before, warning, after = read.decode().partition("lqm: mind the step")
    assert warning
    assert before.endswith("\x1b[1A\x1b[2K"), "the panel is wiped first"
    assert after.startswith("\r\n╭"), "the line stands alone"
    assert "walk" in after
    assert "5 of 8" in after
    assert BACK in after

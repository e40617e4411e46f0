"""Targets made ahead, in a second thread: the same ones, once each, and no others."""

import ctypes
import threading

import pytest
import torch

from lqm.methods.ahead import TargetsAhead
from lqm.utils.limits import limited_to, max_memory
from tests.methods.test_targets import targets


class Recording:
    """Gives (step, round) as a target; remembers what was asked, and in which thread."""

    def __init__(self, wrong=None):
        self.asked, self.threads, self.forgotten, self._wrong = [], set(), 0, wrong

    def at(self, step, round_):
        self.asked.append(step)
        self.threads.add(threading.get_ident())
        if step == self._wrong:
            raise ValueError(f"no target {step}")
        return step, round_

    def forget(self):
        self.forgotten += 1


@pytest.mark.parametrize(("reuse", "window"), [(1, 1), (3, 1), (2, 4)])
def test_steps_have_the_targets_that_they_would_have_without_it(reuse, window):
    _, _, expected = targets(reuse, window)
    made, _, live = targets(reuse, window)
    ahead = TargetsAhead(live, steps=30)
    assert [ahead.at(i, 0).groups for i in range(30)] == [expected.at(i, 0).groups for i in range(30)]
    assert len(made) == len(set(made)), "none is made twice"


def test_the_next_target_is_made_while_a_step_has_its_own():
    begun, inner = threading.Event(), Recording()
    ahead = TargetsAhead(inner, steps=3)
    plain = inner.at
    inner.at = lambda step, round_: (plain(step, round_), step == 1 and begun.set())[0]
    ahead.at(0, 0)
    assert begun.wait(timeout=10), "nobody has asked for the target of step 1 yet"
    assert threading.get_ident() not in inner.threads


def test_updates_of_a_step_share_its_target_and_none_is_made_for_a_step_after_the_last():
    inner = Recording()
    ahead = TargetsAhead(inner, steps=3)
    assert [ahead.at(i, r) for i in range(3) for r in range(2)] == [(i, 0) for i in range(3) for _ in "ab"]
    assert inner.asked == [0, 1, 2]


def test_a_run_that_goes_on_at_another_step_makes_what_is_missing():
    inner = Recording()
    ahead = TargetsAhead(inner, steps=10)
    ahead.at(0, 0)
    ahead.forget()
    assert inner.forgotten == 1
    assert [ahead.at(i, 0) for i in (7, 8, 9)] == [(7, 0), (8, 0), (9, 0)]
    assert inner.asked[-3:] == [7, 8, 9]


def test_what_goes_wrong_is_told_at_the_step_that_needs_it():
    ahead = TargetsAhead(Recording(wrong=2), steps=4)
    ahead.at(0, 0), ahead.at(1, 0)
    with pytest.raises(ValueError, match="no target 2"):
        ahead.at(2, 0)


def test_steps_after_the_last_have_targets_too_but_none_ahead():
    inner = Recording()
    ahead = TargetsAhead(inner, steps=2)
    assert [ahead.at(i, 0)[0] for i in range(4)] == inner.asked == [0, 1, 2, 3]


def test_a_limit_of_memory_holds_in_the_other_thread():
    inner = Recording()
    inner.at = lambda step, round_: max_memory()
    with limited_to("3GB"):
        assert TargetsAhead(inner, steps=1).at(0, 0) == 3 * 2**30


def test_a_wait_is_left_by_an_exception_that_is_raised_in_it_and_what_is_queued_is_not_made():
    begun, going_on, inner = threading.Event(), threading.Event(), Recording()

    def slow(step, round_):
        inner.asked.append(step)
        begun.set()
        going_on.wait(timeout=30)

    inner.at = slow
    ahead, waiting = TargetsAhead(inner, steps=9), threading.get_ident()

    def interrupt():
        begun.wait(timeout=30)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(waiting), ctypes.py_object(KeyboardInterrupt)
        )

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            ahead.at(0, 0)
        assert not going_on.is_set()
    finally:
        going_on.set()
        thread.join()
    ahead.forget()
    assert inner.asked == [0]


def test_encoders_that_draw_nothing_leave_torchs_generator_to_the_other_thread():
    _, _, live = targets(1, 1)
    live._encoders.draws = False
    torch.manual_seed(3)
    expected = torch.rand(5)
    torch.manual_seed(3)
    live.at(0, 0)
    # What the objective drew (one number) was drawn in this thread, from the state as it was.
    assert torch.rand(4).equal(expected[1:])

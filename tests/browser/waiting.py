"""Waiting for the page: asked from outside, since its own policy forbids to evaluate text inside it."""

import time

_SECONDS = 20.0


def wait_until(page, script, arg=None):
    """Ask until the answer is true; an AssertionError after some seconds."""
    deadline = time.monotonic() + _SECONDS
    while not page.evaluate(script, arg):
        assert time.monotonic() < deadline, script
        page.wait_for_timeout(20)

"""Judged by glibc itself: `mallinfo2` counts the bytes that were borrowed from the kernel block by block."""

import ctypes
import platform
import subprocess
import sys

import pytest

from lqm.utils import allocator

glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")

# Whether a block just below the largest threshold that glibc ever takes is borrowed by itself.
BORROWED = """
import ctypes
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]
libc = ctypes.CDLL(None)
libc.mallinfo2.restype, libc.malloc.restype, libc.free.argtypes = Info, ctypes.c_void_p, [ctypes.c_void_p]
def borrowed(size=2**25 - 2**16):
    before = libc.mallinfo2().hblkhd
    block = libc.malloc(ctypes.c_size_t(size))
    more = libc.mallinfo2().hblkhd - before
    libc.free(ctypes.c_void_p(block))
    return more >= size
"""


def answer(code):
    child = subprocess.run(
        [sys.executable, "-c", BORROWED + code], capture_output=True, text=True, timeout=60
    )
    assert child.returncode == 0, child.stderr
    return child.stdout.split()


@glibc
@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="this glibc has no mallinfo2")
def test_freed_memory_is_kept_after_the_call_and_the_import_alone_changes_nothing():
    code = "import lqm; lqm.condense; print(borrowed()); print(lqm.tune_allocator()); print(borrowed())"
    assert answer(code) == ["True", "True", "False"]


@glibc
def test_it_works_where_the_c_library_is_glibc():
    assert answer("from lqm.utils.allocator import tune_allocator; print(tune_allocator())") == ["True"]


class Library:
    """A C library whose mallopt takes thresholds up to a limit, and remembers what it was told."""

    def __init__(self, limit):
        self.limit, self.told = limit, {}

    def mallopt(self, name, value):
        if name == -3 and value > self.limit:
            return 0
        self.told[name] = value
        return 1


@pytest.mark.parametrize(("limit", "threshold"), [(2**31, 2**30), (2**25, 2**25)])
def test_the_largest_threshold_that_the_library_takes_is_set(monkeypatch, limit, threshold):
    library = Library(limit)
    monkeypatch.setattr(allocator.sys, "platform", "linux")
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda name: library)
    assert allocator.tune_allocator() is True
    assert library.told[-3] == threshold
    assert library.told[-1] == 2**31 - 1, "freed memory at the top is not handed back"


def test_nothing_happens_where_there_is_no_mallopt(monkeypatch):
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda name: object())
    assert allocator.tune_allocator() is False


def test_nothing_happens_where_the_library_can_not_be_opened(monkeypatch):
    def closed(name):
        raise OSError("no such library")

    monkeypatch.setattr(allocator.ctypes, "CDLL", closed)
    assert allocator.tune_allocator() is False


def test_a_library_that_refuses_every_threshold_is_said(monkeypatch):
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda name: Library(0))
    assert allocator.tune_allocator() is False


def test_nothing_happens_on_other_systems(monkeypatch):
    monkeypatch.setattr(allocator.sys, "platform", "darwin")
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda name: Library(2**31))
    assert allocator.tune_allocator() is False

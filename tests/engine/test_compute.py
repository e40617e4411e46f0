import os
import re
import subprocess
import sys

import pytest
import torch

import lqm
from lqm.engine import compute, recorded
from lqm.engine.compute import Compute, decide
from lqm.engine.probes import Trial, compile_problem, try_bf16
from lqm.images.networks import encoder_factory
from lqm.utils.errors import ConfigError

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
LITTLE, MUCH = 1e9, 1e13


@pytest.fixture(autouse=True)
def able(monkeypatch):
    """A machine that can do everything, unless a test says otherwise."""
    monkeypatch.setattr(compute, "compile_problem", lambda: None)
    monkeypatch.setattr(compute, "try_bf16", lambda device: Trial())


@pytest.mark.parametrize(
    ("word", "activations", "expected"),
    [
        ("on", LITTLE, True),
        ("on", MUCH, True),
        ("off", LITTLE, False),
        ("off", MUCH, False),
        ("auto", LITTLE, False),
        ("auto", MUCH, True),
    ],
)
def test_auto_compiles_by_the_amount_of_work_and_the_other_words_do_as_they_say(word, activations, expected):
    found, words = decide(word, "fp32", CPU, activations=activations)
    assert found == Compute(expected, "fp32")
    assert any("compiled" in line for line in words) == expected


def test_auto_does_not_compile_on_a_gpu_nor_a_network_of_the_users_own():
    assert not decide("auto", "fp32", CUDA, activations=MUCH)[0].compile
    assert not decide("auto", "fp32", CPU, activations=MUCH, named=False)[0].compile


def test_a_network_of_the_users_own_is_not_compiled_on_demand():
    with pytest.raises(ConfigError, match=r"compile = 'on'.*leave it out"):
        decide("on", "fp32", CPU, activations=MUCH, named=False)


@pytest.mark.parametrize(
    ("word", "expected", "words"),
    [
        ("fp32", "fp32", ()),
        ("bf16", "bf16", ()),
        ("auto", "bf16", ("bf16",)),
    ],
)
def test_precision_is_as_asked_and_auto_is_what_works_and_says_so(word, expected, words):
    found, lines = decide("off", word, CPU, activations=LITTLE)
    assert found == Compute(False, expected)
    assert len(lines) == len(words)
    assert all(word in line for word, line in zip(words, lines, strict=True))


@pytest.mark.parametrize(
    ("compile_", "precision", "message"),
    [
        ("yes", "fp32", "compile = 'yes'.*auto, on, off"),
        ("off", "fp16", "precision = 'fp16'.*auto, fp32, bf16"),
    ],
)
def test_another_word_is_refused(compile_, precision, message):
    with pytest.raises(ConfigError, match=message):
        decide(compile_, precision, CPU, activations=LITTLE)


def test_auto_keeps_to_what_was_decided_when_the_run_began(monkeypatch):
    monkeypatch.setattr(compute, "try_bf16", lambda device: Trial(slower="bf16 is slower here"))
    for compiled in (True, False):
        for precision in ("fp32", "bf16"):
            before = {"compile": compiled, "precision": precision, "torch": "x"}
            for activations in (LITTLE, MUCH):
                found, _ = decide("auto", "auto", CPU, activations=activations, before=before)
                assert found == Compute(compiled, precision)
    before = {"compile": True, "precision": "bf16"}
    assert decide("off", "fp32", CPU, activations=MUCH, before=before)[0] == Compute(False, "fp32")


def test_a_missing_compiler_is_said_under_auto_and_refused_under_on(monkeypatch):
    monkeypatch.setattr(compute, "compile_problem", lambda: "there is no C++ compiler")
    found, (line,) = decide("auto", "fp32", CPU, activations=MUCH)
    assert found == Compute(False, "fp32")
    assert "there is no C++ compiler" in line
    assert decide("auto", "fp32", CPU, activations=LITTLE) == (Compute(False, "fp32"), ())
    with pytest.raises(ConfigError, match=r"compile = 'on'.*there is no C\+\+ compiler.*use off"):
        decide("on", "fp32", CPU, activations=LITTLE)


def test_bf16_that_does_not_work_is_said_under_auto_and_refused_on_demand(monkeypatch):
    monkeypatch.setattr(compute, "try_bf16", lambda device: Trial("bf16 crashes here (signal 4)"))
    found, (line,) = decide("off", "auto", CPU, activations=LITTLE)
    assert found.precision == "fp32"
    assert "signal 4" in line
    refusal = r"precision = 'bf16'.*signal 4.*use fp32"
    with pytest.raises(ConfigError, match=refusal):
        decide("off", "bf16", CPU, activations=LITTLE)
    with pytest.raises(ConfigError, match=refusal):
        decide("off", "auto", CPU, activations=LITTLE, before={"precision": "bf16"})


def test_bf16_that_is_slower_is_not_chosen_by_auto_and_said_on_demand(monkeypatch):
    monkeypatch.setattr(compute, "try_bf16", lambda device: Trial(slower="bf16 is slower here"))
    for word, expected in (("auto", "fp32"), ("bf16", "bf16")):
        found, (line,) = decide("off", word, CPU, activations=LITTLE)
        assert found == Compute(False, expected)
        assert expected in line
        assert "bf16 is slower here" in line


def test_the_first_line_of_what_torch_says_is_the_problem(monkeypatch):
    def broken(function, dynamic):
        raise RuntimeError("No working C++ compiler found\nin any of\n/usr/bin")

    monkeypatch.setattr(torch, "compile", broken)
    assert compile_problem.__wrapped__() == "No working C++ compiler found"
    monkeypatch.setattr(torch, "compile", lambda function, dynamic: function)
    assert compile_problem.__wrapped__() is None


@pytest.fixture
def trial(monkeypatch, tmp_path):
    """Has another program run in the place of Python, in which bf16 would be tried."""

    def replace(program):
        path = tmp_path / "python"
        path.write_text(f"#!/bin/sh\n{program}\n")
        path.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(path))

    return replace


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("kill -ILL $$", "signal 4"),
        ("echo 'it gives numbers' >&2; exit 1", "it gives numbers"),
        ("echo Traceback: >&2; echo 'RuntimeError: no kernel' >&2; exit 1", "RuntimeError: no kernel"),
        ("exit 3", "no message"),
    ],
)
def test_a_trial_that_dies_or_fails_says_why(trial, program, reason):
    trial(program)
    found = try_bf16.__wrapped__("cpu")
    assert f"({reason})" in found.problem
    assert found.slower is None


@pytest.mark.parametrize(
    ("seconds", "times"),
    [("0.010 0.025", ("25.0", "10.0")), ("0.010 0.010", ("10.0", "10.0")), ("0.010 0.005", None)],
)
def test_a_trial_that_is_slower_says_by_how_much(trial, seconds, times):
    trial(f"echo {seconds}")
    found = try_bf16.__wrapped__("cpu")
    assert found.problem is None
    assert (found.slower is None) == (times is None)
    assert not times or re.search(".*".join(times), found.slower)


def test_a_trial_that_never_ends_or_can_not_begin_is_a_problem(monkeypatch):
    def endless(command, *, timeout, **_):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "/nowhere/python" in try_bf16.__wrapped__("cpu").problem
    monkeypatch.setattr(subprocess, "run", endless)
    assert "timed out" in try_bf16.__wrapped__("cpu").problem


def test_the_trial_runs_in_a_child_process_and_only_once(trial, tmp_path):
    numbers = tmp_path / "numbers"
    trial(f"echo $$ $PPID >> {numbers}; echo 2 1")
    device = "a device of this test alone"
    assert try_bf16(device) == Trial()
    assert try_bf16(device) == Trial()
    child, parent = map(int, numbers.read_text().split())
    assert parent == os.getpid()
    assert child != os.getpid()


def test_a_decision_of_nothing_leaves_a_function_alone():
    def double(x):
        return (2 * x,)

    assert Compute().faster(double) is double


def test_products_are_rounded_to_bf16_and_come_back_as_fp32():
    def product(a, b):
        return (a @ b,)

    a, b = torch.randn(2, 32, 32)
    (found,) = Compute(precision="bf16").faster(product)(a, b)
    assert found.dtype == torch.float32
    assert found.equal((a.bfloat16() @ b.bfloat16()).float())
    assert not found.equal(a @ b)


def test_a_network_that_can_not_be_compiled_is_said_in_one_sentence(monkeypatch):
    def broken(*args):
        raise torch._dynamo.exc.TorchDynamoException("no such operation\nin line 3")

    monkeypatch.setattr(torch, "compile", lambda function, dynamic: broken)
    with pytest.raises(ConfigError, match=r"no such operation.*use --compile off"):
        Compute(compile=True).faster(lambda x: (x,))(torch.zeros(1))


@pytest.fixture
def pretended(monkeypatch):
    """A torch.compile that changes nothing and counts what it was given."""
    given = []
    monkeypatch.setattr(torch, "compile", lambda function, dynamic: given.append(function) or function)
    encoder_factory.cache_clear()
    yield given
    encoder_factory.cache_clear()


def test_a_run_taken_up_again_is_compiled_as_it_was(tmp_path, tiny, pretended):
    def condense(steps, **options):
        settings = tiny | {"steps": steps}
        options |= {"per_class": 1, "settings": settings, "out": tmp_path / "run", "show_progress": False}
        return lqm.condense("digits", **options).manifest["environment"]["compile"]

    assert recorded(tmp_path / "run")["environment"] == {}
    assert condense(2, compile="on") is True
    assert pretended
    assert recorded(tmp_path / "run")["environment"]["compile"] is True
    encoder_factory.cache_clear()
    pretended.clear()
    assert condense(4) is True, "auto would not have compiled so short a run"
    assert pretended
    pretended.clear()
    assert condense(6, compile="off") is False
    assert not pretended


@pytest.mark.parametrize("content", [None, "", "[]", "{}", "null", '{"environment"'])
def test_a_folder_without_a_run_that_can_be_read_has_no_record(tmp_path, content):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    assert recorded(tmp_path) == {"config": {}, "environment": {}}
    assert recorded(None) == {"config": {}, "environment": {}}

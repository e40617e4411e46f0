"""`lqm figures`, as it is typed."""

import subprocess
import sys

import pytest

from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol

IMAGES = ["images-dm-mean", "images-dm-lqm"]
TINY = ["--set", "steps=3", "--set", "network=convnet:width=8", "--set", "real-batch=16"]


def test_runs_become_figures(type_in, tmp_path, monkeypatch):
    name = "quick-200"
    monkeypatch.setitem(
        PROTOCOLS, name, EvaluationProtocol(name, epochs=2, networks=2, network="convnet:width=8")
    )
    runs = [tmp_path / "mean", tmp_path / "lqm"]
    for run in runs:
        assert (
            type_in("condense", "digits", "--distance", run.name, "--per-class", 2, "--out", run, *TINY)[0]
            == 0
        )
        assert type_in("evaluate", run, "--baselines", "random")[0] == 0
    code, printed, error = type_in("figures", *runs, "--to", tmp_path / "figures")
    assert code == 0
    stems = ["ecdf", "ecdf-typical", "cvm", "extremes", "extremes-by-class", *IMAGES]
    assert printed.splitlines() == [
        f"wrote {tmp_path / 'figures' / stem}.{kind}" for stem in stems for kind in ("png", "svg")
    ]
    assert error.splitlines() == [
        "lqm: no accuracy against step: none of these runs was condensed with --evaluate-every",
        "lqm: no accuracy against budget: no two of these runs of the same data have different budgets and "
        "were evaluated in the same way; condense with another --per-class or --budget, "
        "then run `lqm evaluate`",
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "there is nothing to draw; name one or more runs, or folders of `lqm continual`"),
        (("nowhere",), "there is no folder nowhere"),
        (("nowhere", "--to", __file__), "test_figures_cli.py is a file; choose a folder for the figures"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_sentence(type_in, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    code, printed, error = type_in("figures", *words)
    assert code == 1
    assert printed == ""
    assert len(error.splitlines()) == 1
    assert sentence in error
    assert not [*tmp_path.iterdir()]


def test_help_waits_neither_for_torch_nor_for_matplotlib():
    script = "import sys, lqm.cli.figures; sys.exit(bool({'torch', 'matplotlib'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
